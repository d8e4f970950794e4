"""Planning problems with given figures, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, pairwise
from math import prod
from random import Random

from penstock.cql import parse
from penstock.figure import Figure
from penstock.optimize.model.problem import Problem
from penstock.query import Query
from penstock.query.keys import key_classes
from penstock.stats.costs import Costs
from penstock.stats.known import ConditionFigures, Known
from penstock.stats.statistics import Group, extra_equalities


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

    def group(members: tuple[str, ...]) -> Figure:
        pairs = pairwise(members)
        return _declared(prod(selectivity.get(f"{a} {b}", 1.0) for a, b in pairs))

    groups = tuple(
        {
            frozenset(members): group(members)
            for size in range(2, len(key.streams) + 1)
            for members in combinations(key.streams, size)
        }
        for key in key_classes(query)
    )
    given = conditions or {}
    figures = {
        str(c): ConditionFigures(*(_declared(v) for v in given.get(str(c), (1.0, 0.0))))
        for c in (*query.filters, *query.thetas)
    } | {
        text: ConditionFigures(*(_declared(v) for v in given.get(text, (1.0, 0.0))))
        for text in extra_equalities(query)
    }
    known = Known(
        query=query,
        rates={alias: _declared(rate) for alias, rate in rates.items()},
        cardinalities={},
        groups=groups,
        conditions=figures,
        costs=costs,
        capacity=_declared(capacity),
        rows_warmup=rows_warmup,
        horizon=horizon,
    )
    return Problem(query, known)


def example_1(join: float, window: str = "ROWS 10") -> Problem:
    """A&N Example 1: rates 10, 70, 20, windows of ten, f(AB) = 0.5, f(BC) = 0.2."""
    query = query_of(
        f"SELECT A.a FROM A [{window}], B [{window}], C [{window}] WHERE A.a = B.a AND B.b = C.b",
        {"A": "a", "B": "a b", "C": "b"},
    )
    return problem_of(
        query,
        {"A": 10.0, "B": 70.0, "C": 20.0},
        {"A B": 0.5, "B C": 0.2},
        Costs("declared", join=join),
    )


def _declared(value: float) -> Figure:
    return Figure(value, "declared")


def random_problem(seed: int, size: int, costs: Costs | None = None) -> Problem:
    """Streams joined in a random tree of equalities, some on one attribute, some with a theta."""
    rng = Random(seed)
    names = [chr(ord("A") + i) for i in range(size)]
    links = [(names[rng.randrange(i)], names[i]) for i in range(1, size)]
    column = {link: rng.choice("kl") for link in links}
    where = [f"{a}.{column[a, b]} = {b}.{rng.choice('kl')}" for a, b in links]
    if rng.random() < 0.4:
        where.append(f"{names[0]}.v < {names[-1]}.v")
    windows = [rng.choice(["RANGE 5 SECONDS", "ROWS 40", "RANGE 30 SECONDS"]) for _ in names]
    froms = ", ".join(f"{n} [{w}]" for n, w in zip(names, windows, strict=True))
    query = query_of(
        f"SELECT A.k FROM {froms} WHERE {' AND '.join(where)}", dict.fromkeys(names, "k l v")
    )
    pairs = {f"{a} {b}": 10 ** rng.uniform(-3, -0.5) for a in names for b in names}
    thetas = {str(theta): (rng.uniform(0.1, 0.9), 1e-6) for theta in query.thetas}
    thetas |= dict.fromkeys(extra_equalities(query), (0.1, 0.0))
    return problem_of(
        query,
        {name: 10 ** rng.uniform(0, 2) for name in names},
        pairs,
        costs or random_costs(rng),
        thetas,
    )


def priced(problem: Problem, seed: int) -> Problem:
    """The same problem with equalities that take something by themselves, most pairs'."""
    rng = Random(seed)
    handling = {
        Group(k, tuple(range(len(key.types))), frozenset(pair)): _declared(
            10 ** rng.uniform(-6, -3)
        )
        for k, key in enumerate(key_classes(problem.query))
        for pair in combinations(key.streams, 2)
        if rng.random() < 0.6
    }
    return Problem(problem.query, replace(problem.known, handling=handling))


def random_costs(rng: Random) -> Costs:
    """One cost for all, or one for each kind of work."""
    if rng.random() < 0.3:
        return Costs("declared", join=10 ** rng.uniform(-6, -4))
    kinds = ("insert", "probe", "expire", "move", "hash", "compare")
    return Costs("declared", **{kind: 10 ** rng.uniform(-7, -5) for kind in kinds})
