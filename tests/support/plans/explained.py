"""A decision for every kind of plan, for tests of what explain says; each is made when asked for.

Plans are forced by text wherever a text can hold them, so that what explain says changes with the
estimates alone, and not with the searches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.decision import Decision
from penstock.plan.default_plan import default_plan
from penstock.plan.mesh import (
    DriverMesh,
    Goes,
    MeshJoin,
    MeshRoute,
    Operator,
    Prospect,
    Screen,
    Split,
)
from penstock.plan.multiway import Probe
from penstock.query import Query
from penstock.query.goal import By, First
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from penstock.stats.known import Known
from support.plans.plan_queries import (
    auction,
    chain3,
    decision,
    guessed,
    hostile,
    mixed,
    outputs,
    star3,
    stream,
)
from support.plans.planning import example_1, query_of

OTHERS = ("A: B C; B: C A; C: B A", "((A B) C)")
COSTS = {"insert": 2e-7, "probe": 3e-7, "compare": 1e-8, "fold": 1e-7, "tally": 1e-7}
"""Seconds a tuple; with rates and distinct counts nothing that matters is left to guess."""


def cheap() -> Known:
    """A&N Example 1 at 0.5 ms a tuple: every plan keeps up."""
    return example_1(0.0005).known


def dear(window: str = "ROWS 10") -> Known:
    """A&N Example 1 at 4.5 ms a tuple: no plan keeps up."""
    return example_1(0.0045, window).known


# Views


def view(window: str = "RANGE 10 SECONDS", having: str = "") -> Query:
    """COUNT, SUM and MAX by group over three streams with one key."""
    inputs = ", ".join(f"{name} [{window}]" for name in "ABC")
    return query_of(
        f"SELECT A.g, COUNT(*) AS n, SUM(B.v) AS s, MAX(C.v) AS most FROM {inputs} "
        f"WHERE A.k = B.k AND B.k = C.k GROUP BY A.g {having} EVERY 1 SECOND",
        dict.fromkeys("ABC", "k g v"),
    )


def measured(query: Query, rate: float = 2000.0, **more: object) -> Known:
    """Declared rates, distinct counts and costs."""
    streams = {alias: {"rate": rate, "distinct": {"k": 1000, "g": 100}} for alias in query.aliases}
    return complete(query, from_data({"streams": streams, "costs": COSTS, **more}, query))


ORDERS = "A: B C; B: A C; C: B A"


def view_chosen() -> Decision:
    """What the planner makes of a view over two streams, with all that it weighed."""
    query = query_of(
        "SELECT A.g, COUNT(*) AS n, SUM(B.v) AS s FROM A [RANGE 10 SECONDS], B [RANGE 10 SECONDS] "
        "WHERE A.k = B.k GROUP BY A.g EVERY 1 SECOND",
        dict.fromkeys("AB", "k g v"),
    )
    return decide(measured(query), PlanOptions(alternatives=True))


# Meshes and eddies


def filtered() -> Query:
    """A stream with two filters that meets two others on keys of their own."""
    return query_of(
        "SELECT S.a FROM N [RANGE 10 SECONDS], R [RANGE 10 SECONDS], S [NOW] "
        "WHERE S.a = N.a AND S.b = R.b AND S.c > 1 AND S.d > 2",
        {"N": "a", "R": "b", "S": "a b c d"},
    )


def mesh() -> MeshJoin:
    """Three routes for S, by a test of a number and one of a text; in the last one a lottery."""
    query = filtered()
    first, second = (Screen(condition) for condition in query.filters)
    n, r = Probe("N", "sorted"), Probe("R", "sorted")

    def route(*stages: tuple[Operator, ...]) -> MeshRoute:
        return MeshRoute(stages)

    own = DriverMesh(
        "S",
        Split("c", 4.5, frozenset(), Goes(0), Split("d", 7.0, frozenset(), Goes(1), Goes(2))),
        (
            route((first,), (second,), (n,), (r,)),
            route((second,), (first,), (r,), (n,)),
            route((first,), (second,), (n, r)),
        ),
        (0.5, 0.25, 0.25),
        Prospect((3e-6, 4e-6, 5e-6), 4e-6, 8e-6),
    )
    alone = (
        DriverMesh("N", Goes(0), (route((Probe("S", "sorted"),), (r,)),), (1.0,)),
        DriverMesh("R", Goes(0), (route((Probe("S", "sorted"),), (n,)),), (1.0,)),
    )
    return MeshJoin(query, (*alone, own), single=default_plan(query))


def mesh_chosen() -> Decision:
    return decision(guessed(filtered()), mesh(), ("N: S R; R: S N; S: N R",))


# All of them

MULTIWAY: Mapping[str, Callable[[], Decision]] = {
    "star3": lambda: decision(guessed(star3())),
    "auction": lambda: decision(guessed(auction())),
    "mixed": lambda: decision(guessed(mixed())),
    "general_lazy": lambda: decision(guessed(chain3()), "A: B A C; C: B/hash A/nested"),
    "hostile": lambda: decision(guessed(hostile())),
    "rows": lambda: decision(cheap(), "A: B C; B: A C; C: B A"),
    "single": lambda: decision(guessed(Query((stream("A"),), outputs(stream("A"))))),
}
TREES: Mapping[str, Callable[[], Decision]] = {
    "left_deep": lambda: decision(cheap(), "((B C) A)", OTHERS),
    "bushy": lambda: decision(guessed(mixed()), "((A B) (C D))"),
    "tree_methods": lambda: decision(guessed(chain3()), "((A B)/hash C)/nested"),
    "tree_table": lambda: decision(guessed(auction()), "((auction person) bid)"),
    "tree_hostile": lambda: decision(guessed(hostile()), '(("c;d:/e\\" f#&`[) "a ""b"" <i>")'),
    "forced": lambda: decision(cheap(), "((A B) C)", ("((B C) A)",), is_forced=True),
}
FIRST = "QUALIFY ROW_NUMBER() OVER (PARTITION BY A.g ORDER BY n DESC, SUM(B.v)) <= 3"
VIEWS: Mapping[str, Callable[[], Decision]] = {
    "view_late": lambda: decision(measured(view(having="HAVING COUNT(*) > 5")), ORDERS),
    "view_early": lambda: decision(measured(view()), f"{ORDERS} | early A C", (ORDERS,)),
    "view_early_tree": lambda: decision(measured(view()), "((A B) C) | early B"),
    # The old word is read too, so that these cases hold whatever word explain prints.
    "view_recomputed": lambda: decision(
        measured(view()), f"{ORDERS} | early A B C | anew C", (ORDERS,)
    ),
    "view_first": lambda: decision(measured(view(having=FIRST)), f"{ORDERS} | early A"),
    "view_rows": lambda: decision(measured(view("ROWS 100")), ORDERS),
    "view_single": lambda: decision(
        measured(query_of("SELECT COUNT(*) AS n FROM A [TUMBLE 1 MINUTE]", {"A": "k g v"}))
    ),
}
ROUTED: Mapping[str, Callable[[], Decision]] = {
    "mesh": mesh_chosen,
    "eddy": lambda: decision(guessed(filtered()), "eddy:100", is_forced=True),
}
# Solvers differ in the last digits, so that no golden file has these decisions as JSON.
SOLVED: Mapping[str, Callable[[], Decision]] = {
    "infeasible": lambda: decision(dear(), "((A C) B)", OTHERS),
    "shed": lambda: decision(dear("RANGE 1 SECOND"), "((A C) B)", OTHERS, sheds=True),
    "shed_multiway": lambda: decision(dear(), "A: B C; B: C A; C: B A", sheds=True),
    "shed_view": lambda: decision(measured(view(), capacity=0.01), ORDERS, sheds=True),
    "shed_view_early": lambda: decision(
        measured(view(), capacity=0.002), f"{ORDERS} | early A B C", sheds=True
    ),
    "first": lambda: decision(cheap(), "((B C) A)", OTHERS, goal=First(1000)),
    "by": lambda: decision(dear(), "((B C) A)", OTHERS, goal=By(5.0)),
    "view_chosen": view_chosen,
}
DECISIONS = {**MULTIWAY, **TREES, **VIEWS, **ROUTED, **SOLVED}
PICTURED = (
    *MULTIWAY,
    *VIEWS,
    *ROUTED,
    "left_deep",
    "bushy",
    "tree_table",
    "tree_hostile",
    "shed",
    "shed_view",
    "shed_view_early",
)


@cache
def decided(name: str) -> Decision:
    """The decision of that name."""
    return DECISIONS[name]()


@cache
def shed_rows() -> Decision:
    """A tree over ROWS windows that must shed."""
    return decision(dear(), "((A C) B)", OTHERS, sheds=True)
