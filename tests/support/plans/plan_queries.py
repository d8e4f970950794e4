"""Queries and decisions made by hand, for tests of plans and of what explain says about them."""

from __future__ import annotations

from dataclasses import replace

from penstock.duration import MICROS
from penstock.optimize.delay.expected import expected_delay
from penstock.optimize.estimate import TRIGGER, estimate, with_drops
from penstock.optimize.model.flow import DEFAULT_HORIZON
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.statistics_used import guesses, inputs_of, statistics_used
from penstock.plan.decision import Alternative, Decision
from penstock.plan.default_plan import default_plan
from penstock.plan.delay import ExpectedDelay
from penstock.plan.multiway import Probe, ProbeOrder
from penstock.plan.physical import Physical
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan, render_plan
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
    Window,
)
from penstock.query.goal import STEADY, Goal
from penstock.query.window import UNBOUNDED, tumble
from penstock.stats.costs import Costs
from penstock.stats.guess import complete
from penstock.stats.known import Known

MINUTE = TimeWindow(60 * MICROS)


def source(name: str, *columns: str, **options: object) -> Source:
    fields = tuple(Field(column, DataType.BIGINT) for column in ("ts", *columns))
    return Source(name, fields, "csv", path=f"{name}.csv", timestamp="ts", **options)  # type: ignore[arg-type]


def stream(alias: str, window: Window = MINUTE, **options: object) -> Input:
    return Input(alias, source(alias, "a", "b", **options), window)


def table(alias: str) -> Input:
    return Input(alias, source(alias, "a", "b", is_table=True), None)


def column(alias: str, name: str = "a") -> Column:
    return Column(alias, name, DataType.BIGINT)


def equal(left: tuple[str, str], right: tuple[str, str]) -> Equality:
    """An equality between two columns, each by alias and name."""
    return Equality(column(*left), column(*right))


def less(left: str, right: str) -> Condition:
    sides = (column(*left.split(".")), column(*right.split(".")))
    return Condition(Call("lt", sides, DataType.BOOLEAN))


def above(name: str, value: int) -> Condition:
    sides = (column(*name.split(".")), Literal(value, DataType.BIGINT))
    return Condition(Call("gt", sides, DataType.BOOLEAN))


def outputs(*inputs: Input) -> tuple[Output, ...]:
    return tuple(Output(f"{item.alias}_a", column(item.alias)) for item in inputs)


def star3() -> Query:
    """Three streams on one key."""
    inputs = (stream("A", rate=1000.0), stream("B", rate=50.0), stream("C", rate=2.5))
    equalities = (equal(("A", "a"), ("B", "a")), equal(("B", "a"), ("C", "a")))
    return Query(inputs, outputs(*inputs), equalities, text="SELECT * FROM A, B, C")


def chain3() -> Query:
    """A – B – C: A and C share no key."""
    inputs = (stream("A"), stream("B"), stream("C"))
    return Query(
        inputs, outputs(*inputs), (equal(("A", "a"), ("B", "a")), equal(("B", "b"), ("C", "b")))
    )


def auction() -> Query:
    """Two streams and a table, with a filter and a theta predicate."""
    inputs = (
        stream("bid", TimeWindow(3600 * MICROS), rate=1000.0, lateness=5 * MICROS),
        stream("auction", UNBOUNDED, rate=50.0),
        table("person"),
    )
    return Query(
        inputs,
        outputs(*inputs),
        (equal(("bid", "a"), ("auction", "a")), equal(("auction", "b"), ("person", "b"))),
        filters=(above("bid.b", 100),),
        thetas=(less("auction.a", "person.a"), less("bid.b", "person.a")),
        text="SELECT bid.a\nFROM bid [RANGE 1 HOUR], auction [UNBOUNDED], person\nWHERE a < b",
    )


def mixed() -> Query:
    """Every other kind of window, no key at all between some inputs."""
    inputs = (
        stream("A", RowsWindow(100), rate=0.5),
        stream("B", RowsWindow(10, ("a",)), idle=30 * MICROS),
        stream("C", tumble(10 * MICROS), rate=7.0),
        stream("D", TimeWindow(10 * MICROS, 5 * MICROS), rate=4.0),
    )
    equalities = (equal(("A", "a"), ("B", "a")), equal(("A", "b"), ("B", "a")))
    return Query(inputs, outputs(*inputs), equalities, thetas=(less("A.a", "D.a"),))


def hostile() -> Query:
    """Names that every format has to escape."""
    names = ('a "b" <i>', "c;d:/e\\", "f#&`[")
    inputs = tuple(stream(name, rate=1.0) for name in names)
    first, second, third = (column(name) for name in names)
    equalities = (Equality(first, second), Equality(second, third))
    text = "SELECT '</pre><script>alert(1)</script>'"
    return Query(inputs, outputs(*inputs), equalities, text=text)


def guessed(query: Query) -> Known:
    """What is known of a query without statistics, 100 ns for each tuple at each join."""
    return replace(complete(query), costs=Costs("guessed", join=1e-7))


def decision(
    known: Known,
    plan: str | Plan | None = None,
    others: tuple[str, ...] = (),
    *,
    goal: Goal = STEADY,
    sheds: bool = False,
    is_forced: bool = False,
) -> Decision:
    """A decision for a plan or its text (the default one without), whatever planners think of it.

    So what explain says changes with the estimates alone, and not with the searches.
    """
    problem = Problem(known.query, known)

    def weighed(given: str | Plan, by: str) -> Alternative:
        found = forced_plan(known.query, given) if isinstance(given, str) else given
        expected = estimate(problem, found, goal, sheds=sheds)
        return Alternative(found, expected, (by, "every tree"))

    chosen = weighed(plan or render_plan(default_plan(known.query)), "least work, left-deep")
    if sheds:
        chosen = replace(chosen, plan=with_drops(chosen.plan, chosen.estimate))
    return Decision(
        goal=goal,
        capacity=known.capacity.value,
        chosen=chosen,
        others=tuple(weighed(text, "FROM order") for text in others),
        reason="least work of all",
        statistics=statistics_used(known),
        inputs=inputs_of(problem),
        horizon=DEFAULT_HORIZON if known.horizon is None else known.horizon,
        physical=Physical({}, 0.0, 0.0),
        is_forced=is_forced,
        is_shed=sheds,
        rests_on_guesses=bool(guesses(known)),
        delay=None if sheds else _delay(problem, chosen),
    )


def _delay(problem: Problem, chosen: Alternative) -> ExpectedDelay | None:
    return expected_delay(problem, chosen.plan, chosen.estimate.utilization, TRIGGER)


def order(driver: str, *visits: str, position: int = 0) -> ProbeOrder:
    """An order from `B/nested`; a bare name is a sorted probe."""
    pairs = [(*visit.split("/"), "sorted")[:2] for visit in visits]
    return ProbeOrder(driver, tuple(Probe(t, m) for t, m in pairs), position)  # type: ignore[arg-type]
