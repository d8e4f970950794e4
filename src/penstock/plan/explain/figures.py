"""What explain says of a plan, whatever the format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.plan.force import render_plan
from penstock.plan.multiway import Method, MultiwayJoin, ProbeOrder
from penstock.query import Condition, Equality, Input, Query, RowsWindow, TimeWindow
from penstock.query.expression import render
from penstock.query.keys import key_classes, unkeyed_equalities
from penstock.query.window import MICROS, UNBOUNDED, render_duration, render_window


@dataclass(frozen=True)
class Visit:
    """One step of a probe order; the driver's own step has no method."""

    alias: str
    method: Method | None


@dataclass(frozen=True)
class InputFigures:
    """One input with what is known of it: tuples/s, tuples, fraction kept, seconds."""

    alias: str
    source: str
    window: str
    is_table: bool
    visits: tuple[Visit, ...]
    rate: float | None
    state: float | None
    lateness: float
    idle: float | None
    filters: tuple[str, ...]
    keep: float = 1.0

    @property
    def probes(self) -> tuple[tuple[str, Method], ...]:
        """The inputs that this one's new tuples visit, and how."""
        return tuple((v.alias, v.method) for v in self.visits if v.method is not None)


@dataclass(frozen=True)
class Check:
    """A predicate over several inputs, and at which visit of each driver it is first checked."""

    kind: str
    predicate: str
    places: tuple[tuple[str, str], ...]

    @property
    def where(self) -> str:
        """`at C from A, B; at A from C`."""
        drivers: dict[str, list[str]] = {}
        for driver, visit in self.places:
            drivers.setdefault(visit, []).append(driver)
        return "; ".join(f"at {visit} from {', '.join(who)}" for visit, who in drivers.items())


@dataclass(frozen=True)
class Figures:
    """A multi-way plan, ready to be shown."""

    query: str
    plan: str
    keys: tuple[str, ...]
    inputs: tuple[InputFigures, ...]
    checks: tuple[Check, ...]
    outputs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    @property
    def state(self) -> float | None:
        """Tuples in all windows of streams, if every one is known."""
        known = [item.state for item in self.inputs if not item.is_table]
        return sum(s for s in known if s is not None) if None not in known else None

    @property
    def filters(self) -> tuple[str, ...]:
        return tuple(f for item in self.inputs for f in item.filters)


def figures_of(plan: MultiwayJoin, alternatives: bool = False) -> Figures:
    """All that the formats show of a plan."""
    query = plan.query
    keys = key_classes(query)
    return Figures(
        query=query.text,
        plan=render_plan(plan),
        keys=tuple(str(key) for key in keys),
        inputs=tuple(_input(plan, item) for item in query.inputs),
        checks=(
            *(_check(plan, "theta", theta) for theta in query.thetas),
            *(_check(plan, "verify", equal) for equal in unkeyed_equalities(query, keys)),
        ),
        outputs=tuple((output.name, render(output.expression)) for output in query.outputs),
        notes=tuple(_notes(query, alternatives)),
    )


def expected_state(item: Input) -> float | None:
    """The most tuples that the input's window holds at its declared rate, or None if unknown.

    The lower end of a window with a slide moves in steps, so that it holds up to one slide more.
    """
    match item.window:
        case RowsWindow(count=count, partition_by=()):
            return float(count)
        case TimeWindow(extent=int() as extent, slide=slide) if item.source.rate is not None:
            return item.source.rate * (extent + (slide if slide > 1 else 0)) / MICROS
    return None


def _input(plan: MultiwayJoin, item: Input) -> InputFigures:
    source = item.source
    return InputFigures(
        alias=item.alias,
        source=source.name,
        window=render_window(item.window),
        is_table=item.is_table,
        visits=() if item.is_table else _visits(plan.order(item.alias)),
        rate=source.rate,
        state=expected_state(item),
        lateness=source.lateness / MICROS,
        idle=None if source.idle is None else source.idle / MICROS,
        filters=tuple(str(f) for f in plan.query.filters_of(item.alias)),
    )


def _visits(order: ProbeOrder) -> tuple[Visit, ...]:
    probes = [Visit(probe.target, probe.method) for probe in order.probes]
    return (*probes[: order.position], Visit(order.driver, None), *probes[order.position :])


def _check(plan: MultiwayJoin, kind: str, predicate: Condition | Equality) -> Check:
    places = tuple((order.driver, _first_bound(order, predicate)) for order in plan.orders)
    return Check(kind, str(predicate), places)


def _first_bound(order: ProbeOrder, predicate: Condition | Equality) -> str:
    missing = set(predicate.streams)
    for visit in _visits(order):
        missing.discard(visit.alias)
        if not missing:
            return visit.alias
    raise AssertionError("a probe order visits every input")


def _notes(query: Query, alternatives: bool) -> Iterator[str]:
    if query.is_sequenced:
        yield "ROWS windows: tuples wait for the slowest stream"
    for item in query.inputs:
        yield from _input_notes(item)
    for condition in query.filters:
        if not condition.streams:
            yield f"{condition} holds for all results or for none"
    if alternatives:
        yield "no alternatives: the order is the one given by FROM or --plan"


def _input_notes(item: Input) -> Iterator[str]:
    if item.is_table:
        yield f"{item.alias} is a table: it is probed and never drives"
    if item.window == UNBOUNDED:
        yield f"{item.alias} keeps every tuple for ever: its state only grows"
    if item.source.lateness:
        yield f"{item.alias}: lateness {render_duration(item.source.lateness)}"
    if item.source.idle is not None:
        yield f"{item.alias}: passed when silent for {render_duration(item.source.idle)}"
