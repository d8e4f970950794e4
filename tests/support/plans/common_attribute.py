"""Windows joined on a common attribute: the settings of G&O Tables 5 to 7 and Figure 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import prod

from penstock.figure import Figure
from penstock.optimize.model.problem import Problem
from penstock.stats.costs import Costs
from support.plans.planning import problem_of, query_of

Rows = Sequence[tuple[float, float, float]]
"""Rate, seconds and distinct values of each stream."""

TABLE_5: Rows = [(10, 100, 500), (1, 100, 50), (1, 200, 40), (3, 100, 5)]
TABLE_6: Rows = [(100, 100, 200), (1, 100, 200), (1, 100, 20), (3, 100, 2)]
TABLE_7: Rows = [(11, 100, 200), (10, 100, 100), (1, 100, 65), (1, 100, 20)]
FIGURE_3B: Rows = [(1, 100, 50), (1, 100, 50), (1, 100, 50), (10, 100, 50)]
NAMES = ("S1", "S2", "S3", "S4")


def common_problem(rows: Rows, costs: Costs = Costs("declared", compare=1.0)) -> Problem:  # noqa: B008
    """Four streams joined on one attribute; by default work is counted in comparisons."""
    windows = ", ".join(f"{n} [RANGE {r[1]} SECONDS]" for n, r in zip(NAMES, rows, strict=True))
    query = query_of(
        f"SELECT S1.a FROM {windows} WHERE S1.a = S2.a AND S2.a = S3.a AND S3.a = S4.a",
        dict.fromkeys(NAMES, "a"),
    )
    rates = {name: row[0] for name, row in zip(NAMES, rows, strict=True)}
    distinct = distinct_of(rows)

    def contained(members: Sequence[str]) -> Figure:
        return Figure(1 / prod(sorted(distinct[m] for m in members)[1:]), "declared")

    groups = {
        frozenset(members): contained(members)
        for size in (2, 3, 4)
        for members in combinations(NAMES, size)
    }
    known = replace(problem_of(query, rates, {}, costs).known, groups=(groups,))
    return Problem(query, known)


def distinct_of(rows: Rows) -> dict[str, float]:
    return {name: row[2] for name, row in zip(NAMES, rows, strict=True)}
