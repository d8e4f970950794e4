"""The map of the best plan over two rates: where each plan is the best, and where none keeps up."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import PenstockError, UsageError
from penstock.optimize.planner import decide
from penstock.plan.text.parse import render_plan
from penstock.watch.log_view import LogView
from penstock.watch.planning.asked import Asked, asked_of
from penstock.watch.planning.supposed import Supposed, assumed

FACTORS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Multiples of the rates of now."""


@dataclass(frozen=True)
class MapCell:
    """The best plan, by its place among the plans of the map, and CPU-seconds a second."""

    plan: int
    needed: float
    is_feasible: bool


@dataclass(frozen=True)
class PlanMap:
    """Rows of cells, one for each rate of `y`, from the lowest on; columns are by that of `x`."""

    x: str
    y: str
    x_rates: tuple[float, ...] = ()
    y_rates: tuple[float, ...] = ()
    plans: tuple[str, ...] = ()
    cells: tuple[tuple[MapCell, ...], ...] = ()
    missing: str | None = None


def plan_map(log: LogView, x: str, y: str, functions: str | None = None) -> PlanMap:
    """The map over the rates of two inputs, all other figures as they were measured."""
    try:
        asked = asked_of(log, functions)
    except PenstockError as error:
        return PlanMap(x, y, missing=error.message)
    rates = {alias: figure.value for alias, figure in asked.known.rates.items()}
    if x == y or not {x, y} <= rates.keys():
        raise UsageError("a map is over two streams", hint=f"two of {', '.join(rates)}")
    across, along = (tuple(rates[name] * by for by in FACTORS) for name in (x, y))
    plans: dict[str, int] = {}
    cells = tuple(
        tuple(_cell(asked, {x: one, y: other}, plans) for one in across) for other in along
    )
    return PlanMap(x, y, across, along, tuple(plans), cells)


def _cell(asked: Asked, rates: dict[str, float], plans: dict[str, int]) -> MapCell:
    decision = decide(assumed(asked, Supposed(rates)).known, asked.options)
    place = plans.setdefault(render_plan(decision.plan), len(plans))
    return MapCell(place, decision.chosen.estimate.needed, decision.is_feasible)
