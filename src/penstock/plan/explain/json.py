"""Explain as JSON, for programs: version 1, stable names and order."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite
from typing import Any, assert_never

from penstock.plan.decision import Alternative, Decision, Statistic
from penstock.plan.delay import ExpectedDelay
from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.joins import JoinFigures
from penstock.plan.explain.mesh import as_data, search_data
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.physical import Physical
from penstock.plan.plan import Plan, recomputed_by
from penstock.plan.representative import representative
from penstock.plan.text.parse import render_plan
from penstock.plan.text.shape import kind_of, shape_of
from penstock.plan.tree import TreeJoin

VERSION = 1
# Searches stop when they are near enough; digits beyond these differ between machines.
_DIGITS = 12


def as_json(figures: Figures) -> str:
    """The decision as a JSON object; null is what is not known. Rates are tuples/s, times seconds.

    Alternatives are from best to worst, the chosen one not among them.
    """
    document = {"version": VERSION, **document_of(figures)}
    return json.dumps(rounded(document), indent=2, ensure_ascii=False) + "\n"


def document_of(figures: Figures) -> dict[str, Any]:
    """The decision as JSON has it, without a version."""
    decision = figures.decision
    return {
        "goal": str(decision.goal),
        "feasible": decision.is_feasible,
        "chosen": _chosen(figures),
        "reason": decision.reason,
        "capacity": decision.capacity,
        "shed": decision.is_shed,
        "forced": decision.is_forced,
        "rests_on_guesses": decision.rests_on_guesses,
        "inputs": [_input(item) for item in figures.inputs],
        "view": None if figures.view is None else asdict(figures.view),
        "outputs": [name for name, _ in figures.outputs],
        "figures": [_statistic(each) for each in decision.statistics],
        "delay": _delay(decision.delay),
        "notes": list(figures.notes),
        "alternatives": _alternatives(decision) if figures.alternatives else [],
    }


def _chosen(figures: Figures) -> dict[str, Any]:
    chosen = figures.decision.chosen
    return {
        "kind": kind_of(chosen.plan),
        "shape": shape_of(chosen.plan),
        "plan": figures.plan,
        "probe_orders": _orders(chosen.plan),
        **_routing(chosen.plan),
        "methods": _methods(figures),
        "joins": [_join(join) for join in figures.joins],
        "early_aggregation": list(chosen.plan.early),
        **_sets(figures),
        **_estimate(chosen),
        "physical": _physical(figures.decision.physical),
    }


def _physical(physical: Physical) -> dict[str, Any]:
    """The physical choices; of memory and joins every so often only where there are such."""
    choices = asdict(physical)
    rare = ("memory", "lazy")
    return {name: choice for name, choice in choices.items() if name not in rare or choice}


def _orders(plan: Plan) -> dict[str, list[Any]]:
    """By driver, of those that drive; of a mesh, of the route that the most tuples take. A plan
    that finds several joins has several lists of each driver."""
    match plan:
        case MultiwayJoin(joins=joins) if len(joins) > 1:
            orders = dict[str, list[Any]]()
            for order in plan.driving:
                orders.setdefault(order.driver, []).append(list(order.targets))
            return orders
        case MultiwayJoin() | MeshJoin():
            return {order.driver: list(order.targets) for order in representative(plan).driving}
        case TreeJoin() | Eddy():
            return {}
        case _:
            assert_never(plan)


def _routing(plan: Plan) -> dict[str, Any]:
    match plan:
        case MeshJoin(meshes=meshes):
            return {
                "mesh": {mesh.driver: as_data(mesh) for mesh in meshes},
                "mesh_search": search_data(plan),
            }
        case Eddy(batch=batch):
            return {"batch": batch}
        case MultiwayJoin() | TreeJoin():
            return {}
        case _:
            assert_never(plan)


def _sets(figures: Figures) -> dict[str, Any]:
    """Of a view, what each input that is aggregated early is folded to, and who drives if it is
    recomputed."""
    if figures.view is None:
        return {}
    early = [item for item in figures.inputs if item.early_by is not None]
    return {
        "aggregation_sets": {
            item.alias: {"by": list(item.early_by or ()), "rows": item.state} for item in early
        },
        "computed_anew": figures.recompute,
    }


def _methods(figures: Figures) -> dict[str, Any]:
    """By driver and target, or by the shape of a join."""
    if figures.joins:
        return {join.shape: join.method for join in figures.joins}
    return {item.alias: dict(item.probes) for item in figures.inputs if not item.is_only_visited}


def _join(join: JoinFigures) -> dict[str, Any]:
    return {
        "shape": join.shape,
        "key": " AND ".join(join.keys) or None,
        "method": join.method,
        "product": join.is_product,
        "output_rate": join.rate,
        "state_tuples": join.state,
    }


def _estimate(alternative: Alternative) -> dict[str, Any]:
    """Rates are of join results; `changes_rate`, of a view alone, is what its sinks are told."""
    found = alternative.estimate
    changes = {} if found.changes is None else {"changes_rate": found.changes}
    traditional = found.by_cardinality
    cost = {} if traditional is None else {"cardinality_cost": traditional}
    return {
        "keep": dict(found.keep),
        "utilization": found.utilization,
        "needed": found.needed,
        "output_rate": found.output_rate,
        "full_rate": found.full_rate,
        "state_tuples": found.state,
        "measure": found.measure,
        **changes,
        **cost,
        "starting": found.starting,
        **({"asking": found.asking} if found.asking else {}),
    }


def _alternatives(decision: Decision) -> list[dict[str, Any]]:
    return [
        {
            "kind": kind_of(other.plan),
            "shape": shape_of(other.plan),
            "plan": render_plan(other.plan),
            **_aggregation(other.plan),
            **_estimate(other),
            "found_by": list(other.found_by),
        }
        for other in decision.others
    ]


def _aggregation(plan: Plan) -> dict[str, Any]:
    if plan.query.view is None:
        return {}
    return {"early_aggregation": list(plan.early), "computed_anew": recomputed_by(plan)}


def _input(item: InputFigures) -> dict[str, Any]:
    return {
        "alias": item.alias,
        "source": item.source,
        "kind": _kind(item),
        "window": None if item.is_table or item.is_relation else item.window,
        "rate": None if item.rate is None else item.rate.value,
        "rate_origin": None if item.rate is None else item.rate.origin,
        "lateness": item.lateness,
        "idle": item.idle,
        "filters": list(item.filters),
        "state_tuples": item.state,
    }


def _kind(item: InputFigures) -> str:
    if item.is_table or item.is_kept:
        return "table"
    return "view" if item.is_relation else "stream"


def _delay(found: ExpectedDelay | None) -> dict[str, Any] | None:
    """Seconds, and seconds a second; null where it grows for ever or is led by shedding."""
    return None if found is None else {"mean": found.mean, **asdict(found)}


def _statistic(each: Statistic) -> dict[str, Any]:
    return {
        "what": each.what,
        "value": each.figure.value,
        "unit": each.unit,
        "origin": each.figure.origin,
        "note": each.figure.note,
    }


def rounded(part: Any) -> Any:
    """The document with short numbers; JSON knows no infinity, so that is null."""
    match part:
        case dict():
            return {name: rounded(value) for name, value in part.items()}
        case list():
            return [rounded(value) for value in part]
        case float():
            return float(f"{part:.{_DIGITS}g}") if isfinite(part) else None
    return part
