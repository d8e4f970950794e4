"""The figures that a decision rests on, and which of them were guessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from penstock.optimize.problem import Problem
from penstock.plan.decision import Fact, InputEstimate
from penstock.query import TimeWindow
from penstock.query.expression import render
from penstock.query.keys import KeyClass, key_classes
from penstock.query.window import MICROS
from penstock.stats.costs import Costs
from penstock.stats.figure import Figure
from penstock.stats.known import Known


def facts_of(known: Known) -> tuple[Fact, ...]:
    """The figures with their origins, in the order of the query."""
    return tuple(_facts(known))


def guesses(known: Known) -> tuple[str, ...]:
    """What was guessed of that which decides whether a plan keeps up."""
    return tuple(fact.what for fact in _facts(known) if fact.origin == "guessed" and fact.unit)


def inputs_of(problem: Problem) -> dict[str, InputEstimate]:
    """The inputs as they arrive; the lower end of a window with a slide moves in steps, so that at
    the most it holds half a slide more than in the mean."""
    found = {}
    for item, flow in zip(problem.query.inputs, problem.inputs, strict=True):
        figure = problem.known.rates.get(item.alias)
        most = flow.window
        match item.window:
            case TimeWindow(extent=int(), slide=slide) if slide > 1:
                most += flow.rate * slide / 2 / MICROS
        rate, origin = (None, None) if figure is None else (figure.value, figure.origin)
        found[item.alias] = InputEstimate(rate, origin, most)
    return found


def _facts(known: Known) -> Iterator[Fact]:
    for alias, figure in known.rates.items():
        yield _fact(f"rate of {alias}", figure, "tuples/s")
    for alias, figure in known.cardinalities.items():
        yield _fact(f"tuples of {alias}", figure, "tuples")
    for number, key in enumerate(key_classes(known.query)):
        for members, figure in known.groups[number].items():
            if len(members) in (2, len(key.streams)):
                yield _fact(_equality(key, members), figure, "of combinations")
    for text, figures in known.conditions.items():
        yield _fact(text, figures.selectivity, "passes")
        # A cheap condition's cost decides nothing, so that its guess is not counted as one.
        unit = "s" if figures.cost.origin != "guessed" else ""
        yield _fact(f"cost of {text}", figures.cost, unit)
    yield from _cost_facts(known.costs)
    if known.capacity.origin != "guessed":
        yield _fact("capacity", known.capacity, "s/s")


def _cost_facts(costs: Costs) -> Iterator[Fact]:
    names = ["join"] if costs.join is not None else [f.name for f in fields(costs)]
    for name in names:
        seconds = getattr(costs, name)
        if isinstance(seconds, float) and seconds:
            yield Fact(f"cost of {name}", seconds, "s", costs.origin)


def _fact(what: str, figure: Figure, unit: str) -> Fact:
    note = figure.rule or ("" if figure.error is None else f"± {figure.error:.2g}")
    return Fact(what, figure.value, unit, figure.origin, note)


def _equality(key: KeyClass, members: frozenset[str]) -> str:
    columns = zip(*(parts for alias, parts in key.members if alias in members), strict=True)
    return " AND ".join(" = ".join(render(e) for e in column) for column in columns)
