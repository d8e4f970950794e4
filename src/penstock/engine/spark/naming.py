"""Names of queries and their jobs, for Spark's own pages."""

from __future__ import annotations

from penstock.engine.run.job import Job
from penstock.query import Query


def query_name(query: Query, mark: str) -> str:
    """The name of a query: its sources, and a few letters of a mark, as no other active one has."""
    return f"{'⋈'.join(query.sources)} {mark[:6]}"


def job_text(name: str, job: Job) -> str:
    """The description of a job: its batch, and the stages that it takes that through."""
    rounds = job.batch.routing.rounds
    stages = ["rebuild" if job.packing is None else "pack"]
    stages += ["sequence"] * (job.sequencer is not None)
    stages.append("round 0" if rounds == 1 else f"rounds 0 to {rounds - 1}")
    stages += ["view"] * (job.view is not None)
    return f"{name} batch {job.batch.number}: {', '.join(stages)}"
