"""Planning problems with given figures, as the papers state them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise
from math import prod

from penstock.cql import parse
from penstock.figure import Figure
from penstock.optimize.model.problem import Problem
from penstock.query import Query
from penstock.query.keys import key_classes
from penstock.stats.costs import Costs
from penstock.stats.known import ConditionFigures, Known
from penstock.stats.statistics import extra_equalities


def query_of(select: str, columns: Mapping[str, str]) -> Query:
    """The query of a SELECT over synthetic streams with the given BIGINT columns."""
    streams = "\n".join(
        f"CREATE STREAM {name} ({', '.join(f'{c} BIGINT' for c in names.split())}, ts TIMESTAMP) "
        "WITH (format='synthetic', rate=1, timestamp='ts');"
        for name, names in columns.items()
    )
    return parse(f"{streams}\n{select}")


def problem_of(
    query: Query,
    rates: Mapping[str, float],
    selectivity: Mapping[str, float],
    costs: Costs,
    conditions: Mapping[str, tuple[float, float]] | None = None,
    capacity: float = 1.0,
    horizon: float | None = None,
    rows_warmup: float = float("inf"),
) -> Problem:
    """A problem whose pairs of aliases (`"A B"`) have the given selectivities.

    A set of more than two members of a key class has the product over neighbours in FROM order.
    """
    known = Known(
        query=query,
        rates={alias: _declared(rate) for alias, rate in rates.items()},
        cardinalities={},
        groups=_groups(query, selectivity),
        conditions=_conditions(query, conditions or {}),
        costs=costs,
        capacity=_declared(capacity),
        rows_warmup=rows_warmup,
        horizon=horizon,
    )
    return Problem(query, known)


def _groups(
    query: Query, selectivity: Mapping[str, float]
) -> tuple[dict[frozenset[str], Figure], ...]:
    """The selectivity of every set of inputs that are joined on one key."""

    def group(members: tuple[str, ...]) -> Figure:
        return _declared(prod(selectivity.get(f"{a} {b}", 1.0) for a, b in pairwise(members)))

    return tuple(
        {
            frozenset(members): group(members)
            for size in range(2, len(key.streams) + 1)
            for members in combinations(key.streams, size)
        }
        for key in key_classes(query)
    )


def _conditions(
    query: Query, given: Mapping[str, tuple[float, float]]
) -> dict[str, ConditionFigures]:
    """Selectivity and cost of every condition; what is not given lets all pass for nothing."""
    texts = [*map(str, (*query.filters, *query.thetas)), *extra_equalities(query)]
    return {
        text: ConditionFigures(*(_declared(v) for v in given.get(text, (1.0, 0.0))))
        for text in texts
    }


def _declared(value: float) -> Figure:
    return Figure(value, "declared")
