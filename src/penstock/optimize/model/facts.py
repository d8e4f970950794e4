"""The figures that a decision rests on, and which of them were guessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from penstock.figure import Figure
from penstock.optimize.model.distinct import distinct_values
from penstock.optimize.model.problem import Problem
from penstock.plan.aggregation_sets import set_columns
from penstock.plan.decision import Fact, InputEstimate
from penstock.query import Input, RowsWindow, TimeWindow
from penstock.query.expression import render
from penstock.query.keys import KeyClass, key_classes
from penstock.query.window import MICROS
from penstock.stats.costs import GUESSED_FOLD, GUESSED_TALLY, Costs
from penstock.stats.known import Known


def facts_of(known: Known) -> tuple[Fact, ...]:
    """The figures with their origins, in the order of the query."""
    return tuple(_facts(known))


def guesses(known: Known) -> tuple[str, ...]:
    """What was guessed of that which decides whether a plan keeps up."""
    return tuple(
        fact.what for fact in _facts(known) if fact.origin == "guessed" and not fact.is_minor
    )


def inputs_of(problem: Problem) -> dict[str, InputEstimate]:
    """The inputs as they arrive; the lower end of a window with a slide moves in steps, so that at
    the most it is a slide longer than it says."""
    found = {}
    for item, flow in zip(problem.query.inputs, problem.inputs, strict=True):
        figure = problem.known.rates.get(item.alias)
        most = flow.window
        match item.window:
            case TimeWindow(extent=int() as extent, slide=slide) if slide > 1 and flow.extent:
                most *= (extent + slide) / MICROS / flow.extent
        rate, origin = (None, None) if figure is None else (figure.value, figure.origin)
        is_guess = _is_size_guessed(problem.known, item)
        found[item.alias] = InputEstimate(rate, origin, most, is_guess)
    return found


def _is_size_guessed(known: Known, item: Input) -> bool:
    """Whether the size of a window after its filters rests on a guess."""
    filters = known.query.filters_of(item.alias)
    if any(known.conditions[str(c)].selectivity.origin == "guessed" for c in filters):
        return True
    match item.window:
        case None:
            return known.cardinalities[item.alias].origin == "guessed"
        case RowsWindow(partition_by=columns):
            return bool(columns)
        case TimeWindow(extent=None) if known.horizon is None:
            return True
    return known.rates[item.alias].origin == "guessed"


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
        # Only cheap conditions have guessed costs, which decide nothing.
        cost = _fact(f"cost of {text}", figures.cost, "s")
        yield replace(cost, is_minor=figures.cost.origin == "guessed")
    yield from _value_facts(known)
    yield from _cost_facts(known)
    if known.capacity.origin != "guessed":
        yield _fact("capacity", known.capacity, "s/s")


def _value_facts(known: Known) -> Iterator[Fact]:
    """What decides how far inputs fold, if aggregating them early is a question."""
    if known.query.view is None or len(known.query.inputs) == 1:
        return
    for alias in known.query.aliases:
        parts = set_columns(known.query, alias)
        cells = known.cells.get(alias)
        for part in parts:
            fact = _fact(f"different {render(part)}", distinct_values(known, part), "values")
            yield replace(fact, is_minor=cells is not None)
        if cells is not None and len(parts) > 1:
            yield _fact(f"different {', '.join(map(render, parts))}", cells, "rows")


def _cost_facts(known: Known) -> Iterator[Fact]:
    costs = known.costs
    unused = {"fold", "tally"} if known.query.view is None else set()
    names = [f.name for f in fields(costs) if f.name not in unused]
    for name in ["join"] if costs.join is not None else names:
        seconds = getattr(costs, name)
        if isinstance(seconds, float) and seconds:
            yield Fact(f"cost of {name}", seconds, "s", costs.origin)
    if known.query.view is not None and costs.join is None:
        yield from _guessed_costs(costs)


def _guessed_costs(costs: Costs) -> Iterator[Fact]:
    """Costs of aggregation that are not given; they are too small to doubt the others by."""
    guessed = {"fold": GUESSED_FOLD, "tally": GUESSED_TALLY}
    for name, seconds in guessed.items():
        if getattr(costs, name) is None:
            yield Fact(f"cost of {name}", seconds, "s", "guessed", is_minor=True)


def _fact(what: str, figure: Figure, unit: str) -> Fact:
    note = figure.rule or ("" if figure.error is None else f"± {figure.error:.2g}")
    return Fact(what, figure.value, unit, figure.origin, note)


def _equality(key: KeyClass, members: frozenset[str]) -> str:
    columns = zip(*(parts for alias, parts in key.members if alias in members), strict=True)
    return " AND ".join(" = ".join(render(e) for e in column) for column in columns)
