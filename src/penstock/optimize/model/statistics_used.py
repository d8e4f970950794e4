"""The figures that a decision rests on, and which of them were guessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from penstock.duration import MICROS
from penstock.figure import Figure
from penstock.optimize.model.distinct import distinct_values
from penstock.optimize.model.flow import equal_figures
from penstock.optimize.model.problem import Problem
from penstock.plan.aggregation_sets import set_columns
from penstock.plan.decision import InputEstimate, Statistic
from penstock.query import Input, RowsWindow, TimeWindow
from penstock.query.expression import render
from penstock.query.keys import KeyClass, key_classes
from penstock.stats.costs import GUESSED_FOLD, GUESSED_TALLY, Costs
from penstock.stats.known import Known
from penstock.stats.statistics import group_text


def statistics_used(known: Known) -> tuple[Statistic, ...]:
    """The figures with their origins, in the order of the query."""
    return tuple(_statistics(known))


def guesses(known: Known) -> tuple[str, ...]:
    """The names of guessed figures that decide whether a plan keeps up."""
    return tuple(each.what for each in _statistics(known) if each.is_guess)


def inputs_of(problem: Problem) -> dict[str, InputEstimate]:
    """The inputs as they arrive; the lower end of a window with a slide moves in steps, so that at
    the most it is a slide longer than it says."""
    found = {}
    for item, flow in zip(problem.query.inputs, problem.inputs, strict=True):
        most = flow.window
        match item.window:
            case TimeWindow(extent=int() as extent, slide=slide) if slide > 1 and flow.extent:
                most *= (extent + slide) / MICROS / flow.extent
        rate, is_guess = problem.known.rates.get(item.alias), _is_size_guessed(problem.known, item)
        found[item.alias] = InputEstimate(rate, most, is_guess)
    return found


def _is_size_guessed(known: Known, item: Input) -> bool:
    """Whether the size of a window after its filters rests on a guess."""
    filters = known.query.filters_of(item.alias)
    if any(known.conditions[str(c)].selectivity.is_guess for c in filters):
        return True
    match item.window:
        case None:
            return known.cardinalities[item.alias].is_guess
        case RowsWindow(partition_by=columns):
            return bool(columns)
        case TimeWindow(extent=None) if known.horizon is None:
            return True
    return known.rates[item.alias].is_guess


def _statistics(known: Known) -> Iterator[Statistic]:
    for alias, figure in known.rates.items():
        yield Statistic(f"rate of {alias}", figure, "tuples/s")
    for alias, figure in known.variations.items():
        yield Statistic(f"variation of {alias}", figure, "of the rate")
    for alias, figure in known.cardinalities.items():
        yield Statistic(f"tuples of {alias}", figure, "tuples")
    for alias, unique in known.unique.items():
        for columns, origin in unique.items():
            what = f"same {', '.join(f'{alias}.{name}' for name in columns)}"
            yield Statistic(what, Figure(1.0, origin), "tuple at most")
    for number, key in enumerate(key_classes(known.query)):
        for members, figure in equal_figures(known, number).items():
            if len(members) in (2, len(key.streams)):
                yield Statistic(_equality(key, members), figure, "of combinations")
    classes = key_classes(known.query)
    for group, figure in known.handling.items():
        yield Statistic(f"cost of {group_text(classes, group)}", figure, "s")
    for text, figures in known.conditions.items():
        yield Statistic(text, figures.selectivity, "passes")
        # Only cheap conditions have guessed costs, which decide nothing.
        yield Statistic(f"cost of {text}", figures.cost, "s", is_minor=figures.cost.is_guess)
    yield from _of_values(known)
    yield from _of_costs(known)
    if not known.capacity.is_guess:
        yield Statistic("capacity", known.capacity, "s/s")


def _of_values(known: Known) -> Iterator[Statistic]:
    """Counts that decide how far inputs fold, if aggregating them early is a question."""
    if known.query.view is None or len(known.query.inputs) == 1:
        return
    for alias in known.query.aliases:
        parts = set_columns(known.query, alias)
        cells = known.cells.get(alias)
        for part in parts:
            values, is_minor = distinct_values(known, part), cells is not None
            yield Statistic(f"different {render(part)}", values, "values", is_minor)
        if cells is not None and len(parts) > 1:
            yield Statistic(f"different {', '.join(map(render, parts))}", cells, "rows")


def _of_costs(known: Known) -> Iterator[Statistic]:
    costs = known.costs
    unused = {"fold", "tally"} if known.query.view is None else set()
    names = [f.name for f in fields(costs) if f.name not in unused]
    for name in ["join"] if costs.join is not None else names:
        seconds = getattr(costs, name)
        if isinstance(seconds, float) and seconds:
            yield Statistic(f"cost of {name}", Figure(seconds, costs.origin), "s")
    if costs.join is None:
        for alias, window in known.windows.items():
            for name, figure in window.given:
                yield Statistic(f"cost of {name} of {alias}", figure, "s")
    if known.query.view is not None and costs.join is None:
        yield from _guessed_costs(costs)


def _guessed_costs(costs: Costs) -> Iterator[Statistic]:
    """Costs of aggregation that are not given; they are too small to doubt the others by."""
    guessed = {"fold": GUESSED_FOLD, "tally": GUESSED_TALLY}
    for name, seconds in guessed.items():
        if getattr(costs, name) is None:
            yield Statistic(f"cost of {name}", Figure(seconds, "guessed"), "s", is_minor=True)


def _equality(key: KeyClass, members: frozenset[str]) -> str:
    columns = zip(*(parts for alias, parts in key.members if alias in members), strict=True)
    return " AND ".join(" = ".join(render(e) for e in column) for column in columns)
