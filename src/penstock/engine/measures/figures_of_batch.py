"""The figures of a batch's inputs, operators and state, for its report."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.duration import MICROS
from penstock.engine.reports.parts import InputReport, ModuleReport, OperatorReport
from penstock.engine.routes.meter import added_up
from penstock.engine.state.manifest import Manifest, StreamState
from penstock.engine.wire.facts import Fact, OperatorFlow, Shed, of_kind
from penstock.plan.plan import Plan


def inputs_of(
    plan: Plan, before: Manifest, now: Manifest, facts: Iterable[Fact], clock: float
) -> dict[str, InputReport]:
    """The inputs of a batch between two manifests; `clock` has the seconds since the one before."""
    shed: dict[str, int] = {}
    for fact in of_kind(facts, Shed):
        shed[fact.alias] = shed.get(fact.alias, 0) + fact.rows
    made = {}
    for item in plan.query.inputs:
        old = before.streams.get(item.source.name, StreamState())
        new = now.streams.get(item.source.name, StreamState())
        tuples = (new.rows - new.late) - (old.rows - old.late)
        moved = advance(old, new)
        made[item.alias] = InputReport(
            tuples=tuples,
            shed=shed.get(item.alias, 0),
            keep=plan.drops.fraction(item.alias),
            rate=tuples / moved if moved and not item.is_table else None,
            arrival_rate=tuples / clock if clock > 0.0 and not item.is_table else None,
        )
    return made


def operators_of(facts: Iterable[Fact]) -> tuple[OperatorReport, ...]:
    """The operators of all routes, added up over tasks; those that nothing came to are left out."""
    flows = added_up(of_kind(facts, OperatorFlow))
    return tuple(
        OperatorReport(
            driver=flow.driver,
            route=flow.route,
            operator=flow.operator,
            kind="probe" if flow.is_probe else "filter",
            went_in=flow.went_in,
            came_out=flow.came_out,
            met=flow.met,
            seconds=flow.seconds,
        )
        for flow in flows
    )


def modules_of(manifest: Manifest) -> dict[str, ModuleReport]:
    """The state by module."""
    return {str(module): ModuleReport(*sizes) for module, sizes in manifest.sizes.items()}


def advance(old: StreamState, new: StreamState) -> float | None:
    """Seconds of event time by which a stream's newest tuple has moved on."""
    since = new.lowest if old.highest is None else old.highest
    if new.highest is None or since is None:
        return None
    return (new.highest - since) / MICROS
