"""Planning problems with given figures, for tests."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

from penstock.duration import MICROS
from penstock.experiments.setting.problems import problem_of as problem_of
from penstock.experiments.setting.problems import query_of as query_of
from penstock.figure import Figure
from penstock.optimize.model.problem import Problem
from penstock.query import Aggregate, Column, DataType, Output, RowsWindow, View
from penstock.query.keys import key_classes
from penstock.stats.costs import Costs, WindowCosts
from penstock.stats.statistics import Group, extra_equalities


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
    """The same problem with equalities that take something by themselves, most pairs', and with
    windows that cost something else than others."""
    rng = Random(seed)
    handling = {
        Group(k, tuple(range(len(key.types))), frozenset(pair)): Figure(
            10 ** rng.uniform(-6, -3), "declared"
        )
        for k, key in enumerate(key_classes(problem.query))
        for pair in combinations(key.streams, 2)
        if rng.random() < 0.6
    }
    windows = {
        alias: WindowCosts(*(Figure(10 ** rng.uniform(-7, -4), "declared") for _ in range(3)))
        for alias in problem.query.aliases
        if rng.random() < 0.6
    }
    return Problem(problem.query, replace(problem.known, handling=handling, windows=windows))


def random_costs(rng: Random) -> Costs:
    """One cost for all, or one for each kind of work."""
    if rng.random() < 0.3:
        return Costs("declared", join=10 ** rng.uniform(-6, -4))
    kinds = ("insert", "probe", "expire", "move", "hash", "compare")
    return Costs("declared", **{kind: 10 ** rng.uniform(-7, -5) for kind in kinds})


def random_rows_problem(seed: int, size: int) -> Problem:
    """A view over a random join, of which at least one window counts rows."""
    rng = Random(f"rows {seed}")
    known = random_problem(seed, size).known
    first, *others = known.query.inputs
    rows = replace(first, window=RowsWindow(rng.choice((5, 40, 400))))
    groups = rng.sample([Column(a, c, DataType.INT) for a in known.query.aliases for c in "kv"], 2)
    named = {f"#g{n}": column for n, column in enumerate(groups)}
    view = View(
        tuple(Column("", name, column.type) for name, column in named.items()),
        (Aggregate("#n", "count", None),),
        (Output("n", Column("", "#n", DataType.BIGINT)),),
        every=rng.choice((1, 30)) * MICROS,
    )
    outputs = tuple(Output(name, column) for name, column in named.items())
    query = replace(known.query, inputs=(rows, *others), outputs=outputs, view=view)
    values = {c: Figure(10 ** rng.uniform(0, 4), "declared") for c in "klv"}
    distinct = dict.fromkeys(query.aliases, values)
    return Problem(query, replace(known, query=query, distinct=distinct))
