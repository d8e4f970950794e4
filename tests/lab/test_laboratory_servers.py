"""A server for each join of a tree: by hand, and against a simulation event by event."""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from penstock.engine.rows.layout import Layout
from penstock.errors import PlanError
from penstock.lab.clock import ClockCosts, JoinCosts, OwnCosts, Servers, SimulatedClock, Work
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager, Lazy
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.plan.tree import Branch, Node, TreeJoin, branches, leaves
from penstock.query import (
    Call,
    Column,
    Condition,
    DataType,
    Equality,
    Field,
    Input,
    Literal,
    Output,
    Query,
    RowsWindow,
    Source,
    TimeWindow,
)
from penstock.query.expression import Expression, Value
from penstock.query.keys import KeyClass
from reference import Place as Where
from reference import Row, alive, columns, equal, filtered, place
from support.lab.laboratory import HASH, SECOND, common_case, plan_of, rows_of, tables_of
from support.lab.laboratory_trees import hand_made, random_tree, tree_of
from support.streams.cases import Case, arrival, canonical
from support.streams.expressions import value_of


def each(**costs: float) -> SimulatedClock:
    return SimulatedClock(ClockCosts(**costs), servers="each")


@pytest.mark.parametrize("method", ["hash", "nested"])
def test_two_servers_by_hand(method: Method) -> None:
    case = hand_made()
    plan = tree_of(case.query, (("A", "B"), "C"), method)
    outcome = run(plan, tables_of(case), Eager(), clock=each(inserts=1.0, compares=0.5))
    # Below: A0 is done at 1, A1 at 2, B2 at 4 (it looks at both), B4 at 5.5 (A0 is dead).
    # Above: C3 at 4; A0B2 and A1B2, ready at 4, at 5.5 and 7; A1B4, ready at 5.5, at 8.5.
    assert rows_of(outcome) == [(0, 2, 3), (1, 2, 3), (1, 4, 3)]
    assert (outcome.produced_at / SECOND).tolist() == [5.5, 7.0, 8.5]
    assert (outcome.busy, outcome.elapsed, outcome.utilization) == (11.0, 8.5, 5.5 / 4)
    probes = 8 if method == "hash" else 0
    assert outcome.work == Work(5, 8, 2, 0, probes, compares=6, results=3)


def test_every_cost_is_charged_where_it_arises() -> None:
    case = hand_made()
    plan = tree_of(case.query, (("A", "B"), "C"), "hash")

    def produced(**costs: float) -> list[float]:
        outcome = run(plan, tables_of(case), Eager(), clock=each(**costs))
        seconds: list[float] = (outcome.produced_at / SECOND).tolist()
        return seconds

    assert produced() == [3.0, 3.0, 4.0]
    assert produced(tuples=0.5) == [3.5, 3.5, 4.5]
    assert produced(probes=0.25) == [3.25, 3.25, 4.5]
    # A0 holds up what comes after it for two seconds below, and A0B2 above.
    assert produced(expired=2.0) == [4.0, 4.0, 4.0]
    # C3 comes after both inner rows and completes two results, B4's inner row one.
    assert produced(results=0.5) == [4.0, 4.0, 4.5]


def test_an_equality_takes_time_at_its_join() -> None:
    """B.k = C.k is decided above: by A0B2, A1B2, C3 and A1B4, a second each."""
    case = hand_made()
    plan = tree_of(case.query, (("A", "B"), "C"), "hash")
    own = OwnCosts(equalities={frozenset("BC"): 1.0})
    by_each = SimulatedClock(ClockCosts(), "each", own)
    outcome = run(plan, tables_of(case), Eager(), clock=by_each)
    assert (outcome.produced_at / SECOND).tolist() == [5.0, 5.0, 6.0]
    assert (outcome.busy, outcome.own) == (4.0, 4.0)
    one = run(plan, tables_of(case), Eager(), clock=replace(by_each, servers="shared"))
    # B2 brings two inner rows, done at 4; C3 then takes until 5, B4's inner row until 6.
    assert (one.produced_at / SECOND).tolist() == [5.0, 5.0, 6.0]
    assert (one.busy, one.own) == (4.0, 4.0)


def test_a_multi_way_join_pays_for_each_visit() -> None:
    """A0, A1, B2, C3, B4 visit two windows each as long as they find something."""
    case = hand_made()
    own = OwnCosts(equalities={frozenset("AB"): 1.0})
    plan = multiway_of(case.query)
    outcome = run(plan, tables_of(case), Eager(), clock=SimulatedClock(ClockCosts(), own=own))
    # A0 and A1 ask B, B2 and B4 ask A; C3 asks B first, and for what it finds A.
    assert outcome.busy == outcome.own == 5.0


@pytest.mark.parametrize("servers", ["shared", "each"])
def test_one_join_may_have_costs_of_its_own(servers: Servers) -> None:
    case = hand_made()
    plan = tree_of(case.query, (("A", "B"), "C"), "hash")
    lower = {frozenset("AB"): JoinCosts(inserts=2.0, compares=0.25)}
    clock = SimulatedClock(ClockCosts(inserts=1.0, compares=0.5), servers, joins=lower)
    outcome = run(plan, tables_of(case), Eager(), clock=clock)
    # Of 8 rows four come to the lower join, and three of six looks are there.
    assert outcome.busy == pytest.approx(4 * 2.0 + 4 * 1.0 + 3 * 0.25 + 3 * 0.5)
    strange = replace(clock, joins={frozenset("AC"): JoinCosts(inserts=2.0)})
    with pytest.raises(PlanError, match="A C"):
        run(plan, tables_of(case), Eager(), clock=strange)


@pytest.mark.parametrize("servers", ["shared", "each"])
def test_filters_take_their_time(servers: Servers) -> None:
    """Every tuple of A goes through the first filter, those that pass it through the second."""
    case = hand_made()
    first, second = (
        Condition(Call("ge", (column("A", "id"), Literal(n, DataType.BIGINT)), DataType.BOOLEAN))
        for n in (1, 0)
    )
    query = replace(case.query, filters=(first, second))
    own = OwnCosts(conditions={str(first): 0.5, str(second): 2.0})
    plan = tree_of(query, (("A", "B"), "C"), "hash")
    outcome = run(plan, tables_of(case), Eager(), clock=SimulatedClock(ClockCosts(), servers, own))
    assert rows_of(outcome) == [(1, 2, 3), (1, 4, 3)]
    assert (outcome.busy, outcome.own) == (3.0, 3.0)
    # A1 is through at 1.5 and 3.5 on servers of their own, and on one for all.
    assert (outcome.produced_at / SECOND).tolist() == [3.5, 4.0]


def column(alias: str, name: str) -> Column:
    return Column(alias, name, DataType.BIGINT)


def multiway_of(query: Query) -> MultiwayJoin:
    orders = (
        ProbeOrder(a, tuple(Probe(t, "hash") for t in others))
        for a, *others in map(tuple, ("ABC", "BAC", "CBA"))
    )
    return MultiwayJoin(query, tuple(orders))


def test_rows_wait_for_the_re_execution() -> None:
    case = hand_made()
    plan = tree_of(case.query, (("A", "B"), "C"), "hash")
    outcome = run(plan, tables_of(case), Lazy(2 * SECOND), clock=each())
    assert (outcome.produced_at / SECOND).tolist() == [4.0, 4.0, 6.0]


def test_a_multi_way_join_has_one_server() -> None:
    case = common_case()
    with pytest.raises(PlanError, match="one operator") as refused:
        run(plan_of(case.query, HASH), tables_of(case), Eager(), clock=each())
    assert refused.value.hint is not None


def test_no_input_at_all_is_no_result() -> None:
    case = hand_made()
    empty = Case(case.query, {alias: [[]] for alias in case.query.aliases})
    outcome = run(
        tree_of(case.query, (("A", "B"), "C"), "hash"), tables_of(empty), Eager(), clock=each()
    )
    assert (len(outcome.results), outcome.elapsed, outcome.busy) == (0, 0.0, 0.0)


@pytest.mark.parametrize("method", ["hash", "nested"])
def test_free_work_takes_no_time_however_much_it_is(method: Method) -> None:
    case = common_case(tuples=400, seconds=60, window=10)
    plan = tree_of(case.query, (("A", "B"), ("C", "D")), method)
    free = run(plan, tables_of(case), Eager(), clock=each())
    real = run(plan, tables_of(case), Eager())
    assert len(real.results) > 4_000
    assert free.produced_at.tolist() == real.produced_at.tolist()
    assert canonical(rows_of(free)) == canonical(rows_of(real))


# ── event by event ────────────────────────────────────────────────────────────────────────────────

FIELDS = tuple(Field(name, DataType.BIGINT) for name in ("id", "k", "j"))


def small_case(rng: Random) -> Case:
    """Two to four streams in a chain of equalities, with a filter and a comparison at times."""
    aliases = "ABCD"[: rng.choice((2, 3, 3, 4))]
    inputs = []
    for alias in aliases:
        wide = TimeWindow(rng.choice((4, 9, 30)) * SECOND)
        window = rng.choice((wide, wide, RowsWindow(rng.choice((2, 5)))))
        inputs.append(Input(alias, Source(alias, FIELDS, "parquet"), window))

    def column(alias: str, name: str) -> Column:
        return Column(alias, name, DataType.BIGINT)

    def compare(operator: str, left: Expression, right: Expression) -> Condition:
        return Condition(Call(operator, (left, right), DataType.BOOLEAN))

    links = [(a, b, rng.choice("kj")) for a, b in pairwise(aliases)]
    two = Literal(2, DataType.BIGINT)
    query = Query(
        tuple(inputs),
        outputs=tuple(Output(alias, column(alias, "id")) for alias in aliases),
        equalities=tuple(Equality(column(a, name), column(b, name)) for a, b, name in links),
        filters=(compare("ne", column("A", "k"), two),) if rng.random() < 0.5 else (),
        thetas=(compare("le", column("A", "j"), column("B", "j")),) if rng.random() < 0.3 else (),
    )
    batches = {}
    for alias in aliases:
        times = sorted(rng.randrange(20) for _ in range(rng.randint(3, 12)))
        batches[alias] = [
            [
                Row(
                    s * SECOND,
                    arrival(0, n),
                    {"id": n, "k": rng.randrange(3), "j": rng.randrange(2)},
                )
                for n, s in enumerate(times)
            ]
        ]
    return Case(query, batches)


Members = dict[str, Row]


@dataclass(frozen=True)
class Coming:
    """Something on its way to a join: a tuple or an inner result."""

    members: Members
    join: Branch
    passes: bool


class Simulation:
    """Joins with a queue each, in plain loops: what is ready first is served first."""

    def __init__(self, case: Case, plan: TreeJoin, costs: ClockCosts):
        self.query, self.costs = case.query, costs
        self.windows = {alias: batches[0] for alias, batches in case.batches.items()}
        self.keys = Layout(case.query).keys
        self.above: dict[Node, Branch] = {}
        for join in branches(plan.root):
            self.above[join.left] = self.above[join.right] = join
        self.events: list[tuple[Any, Coming]] = []
        self.free: dict[Branch, float] = defaultdict(float)
        self.state: dict[Branch, list[Members]] = defaultdict(list)
        self.results: list[tuple[float, tuple[Value, ...]]] = []
        self.work: dict[str, int] = defaultdict(int)
        self.root = plan.root
        for node in self.above:
            if not isinstance(node, Branch):
                self.arrive(node, node.alias)

    def arrive(self, leaf: Node, alias: str) -> None:
        passing = [
            row for row, _ in filtered(self.query, self.query.input(alias), self.windows[alias])
        ]
        for row in self.windows[alias]:
            self.send(row.ts / SECOND, Coming({alias: row}, self.above[leaf], row in passing))

    def send(self, ready: float, coming: Coming) -> None:
        turn = [
            coming.members[a].arrival if a in coming.members else -1
            for a in reversed(self.query.aliases)
        ]
        key = (ready, self.birth(coming.members), turn, len(self.events))
        heapq.heappush(self.events, (key, coming))

    def run(self) -> None:
        while self.events:
            (ready, *_), coming = heapq.heappop(self.events)
            self.serve(ready, coming)

    def serve(self, ready: float, coming: Coming) -> None:
        join, costs = coming.join, self.costs
        self.work["tuples"] += len(coming.members) == 1
        spent = costs.tuples if len(coming.members) == 1 else 0.0
        matches: list[Members] = []
        if coming.passes:
            others = [m for m in self.state[join] if m.keys().isdisjoint(coming.members)]
            others = [m for m in others if self.is_candidate(join, coming.members, m)]
            matches = [{**m, **coming.members} for m in others]
            matches = [m for m in matches if self.is_match(m)]
            self.work["compares"] += len(others)
            self.work["inserts"] += 1
            spent += costs.inserts + costs.compares * len(others)
            spent += costs.probes if self.key_of(join) is not None else 0.0
            spent += costs.results * len(matches) if join == self.root else 0.0
            self.state[join].append(coming.members)
        self.free[join] = done = max(self.free[join], ready) + spent
        for match in matches:
            if join == self.root:
                self.results.append(
                    (done, tuple(match[a].values["id"] for a in self.query.aliases))
                )
            else:
                self.send(done, Coming(match, self.above[join], True))

    def birth(self, members: Members) -> Where:
        return max(place(self.query, alias, row) for alias, row in members.items())

    def all_alive(self, members: Members, last: Where) -> bool:
        return all(
            alive(self.query, self.query.input(alias), self.windows[alias], row, last)
            for alias, row in members.items()
        )

    def key_of(self, join: Branch) -> KeyClass | None:
        if join.method == "nested":
            return None
        sides = (leaves(join.left), leaves(join.right))
        shared = [k for k in self.keys if all(set(side) & set(k.streams) for side in sides)]
        return shared[0] if shared else None

    def is_candidate(self, join: Branch, mine: Members, other: Members) -> bool:
        key = self.key_of(join)
        same = key is None or self.key_value(key, mine) == self.key_value(key, other)
        return same and self.all_alive(other, self.birth(mine))

    def key_value(self, key: KeyClass, members: Members) -> list[Value]:
        alias = next(a for a in members if a in key.streams)
        known = columns(self.query.input(alias), members[alias])
        return [value_of(part, known) for part in key.parts(alias)]

    def is_match(self, members: Members) -> bool:
        known: dict[Column, Value] = {}
        for alias, row in members.items():
            known |= columns(self.query.input(alias), row)
        here = members.keys()
        return (
            self.all_alive(members, self.birth(members))
            and all(equal(e, known) for e in self.query.equalities if e.streams <= here)
            and all(value_of(c.expression, known) for c in self.query.thetas if c.streams <= here)
        )


@pytest.mark.parametrize("seed", range(60))
def test_the_times_are_those_of_a_simulation_event_by_event(seed: int) -> None:
    rng = Random(seed)
    case = small_case(rng)
    plan = random_tree(rng, case.query)
    # Eighths of a second are exact, so that ties are ties in both.
    eighths = {name: rng.choice((0, 1, 2, 5)) / 8 for name in ("tuples", "inserts", "probes")}
    eighths |= {name: rng.choice((0, 1, 2)) / 8 for name in ("compares", "results")}
    outcome = run(plan, tables_of(case), Eager(), clock=each(**eighths))
    simulation = Simulation(case, plan, ClockCosts(**eighths))
    simulation.run()
    measured = zip((outcome.produced_at / SECOND).tolist(), rows_of(outcome), strict=True)
    assert sorted(measured) == sorted(simulation.results)
    counted = {name: getattr(outcome.work, name) for name in ("tuples", "inserts", "compares")}
    assert counted == dict(simulation.work)


def test_the_simulations_have_backlogs_and_results() -> None:
    results = 0
    for seed in range(60):
        rng = Random(seed)
        case = small_case(rng)
        results += len(run(random_tree(rng, case.query), tables_of(case), Eager()).results)
    assert results > 600
