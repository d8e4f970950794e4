"""Views that may be recomputed, and what is known of their streams."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.decision import Decision
from penstock.query import Query
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from penstock.stats.known import Known
from support.plans.planning import query_of

COLUMNS = "k l g v"


def view(window: str = "RANGE 10 SECONDS", every: str = "EVERY 1 SECOND", m: int = 3) -> Query:
    """COUNT and SUM over streams A, B, … joined on k, by groups of A."""
    names = "ABCDEF"[:m]
    inputs = ", ".join(f"{name} [{window}]" for name in names)
    where = " AND ".join(f"A.k = {name}.k" for name in names[1:]) or "A.k > 0"
    select = f"SELECT A.g, COUNT(*) AS n, SUM({names[-1]}.v) AS s FROM {inputs}"
    return query_of(f"{select} WHERE {where} GROUP BY A.g {every}", dict.fromkeys(names, COLUMNS))


def known_of(
    query: Query, keys: float, groups: float = 100, rate: float = 2000, **more: Any
) -> Known:
    """All that decides about segments is declared."""
    distinct = {"k": keys, "l": keys, "g": groups}
    streams = {alias: {"rate": rate, "distinct": distinct} for alias in query.aliases}
    return complete(query, from_data({"streams": streams, **more}, query))


def problem_of(query: Query, keys: float, **more: Any) -> Problem:
    return Problem(query, known_of(query, keys, **more))


def with_table(query: Query) -> Query:
    """The query with its last input as a table."""
    *inputs, last = query.inputs
    return replace(query, inputs=(*inputs, replace(last, window=None)))


def chosen(query: Query, keys: float, rate: float, **options: Any) -> Decision:
    return decide(known_of(query, keys, rate=rate), PlanOptions(**options))
