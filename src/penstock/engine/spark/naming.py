"""Names of queries and their jobs, for Spark's own pages."""

from __future__ import annotations

from penstock.engine.run.job import Staged
from penstock.query import Query
from penstock.query.script import Script


def query_name(query: Query | Script, mark: str) -> str:
    """The name of a query: its sources, and a few letters of a mark, as no other active one has."""
    return f"{'⋈'.join(query.sources)} {mark[:6]}"


def job_text(name: str, job: Staged) -> str:
    """The description of a job: its batch, and the stages that it takes that through."""
    return f"{name} batch {job.number}: {', '.join(job.stage_names)}"
