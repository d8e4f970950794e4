"""Flows: what of each input reaches the joins, and how many tuples its window holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, prod

from penstock.duration import MICROS
from penstock.figure import Figure
from penstock.query import RowsWindow, TimeWindow
from penstock.query.query import Input
from penstock.stats.known import Known
from penstock.stats.unique import unique_windows, with_partners

# An UNBOUNDED window has no size in the long run. Plans are compared at the size it has after this
# many seconds unless the statistics give a horizon; one hour is long against other windows.
DEFAULT_HORIZON = 3600.0

# How many groups a PARTITION BY window has is rarely declared; a hundred keeps it above ROWS N.
DEFAULT_GROUPS = 100.0


@dataclass(frozen=True)
class Flow:
    """One input as it reaches the joins, after its filters: tuples/s, and tuples in its window.

    `raw_rate` is before the filters, `filter_cost` the seconds that receiving one raw tuple and the
    filters take.
    `extent` is the window's length in seconds, None for ROWS windows and tables, which do not
    shrink when the stream is shed. `cardinality` is how many raw tuples there will ever be.
    Of an input that is aggregated early, `cells` is how many rows its tuples can differ in, and
    `occupied` how many of these its window has at one time, each however often.
    """

    alias: str
    rate: float
    window: float
    extent: float | None
    raw_rate: float
    filter_cost: float
    is_table: bool = False
    cardinality: float | None = None
    cells: float = inf
    occupied: float | None = None

    @property
    def shrinks(self) -> bool:
        """Whether shedding the stream makes its window smaller."""
        return self.extent is not None


def flow_of(known: Known, item: Input) -> Flow:
    """An input as the statistics say."""
    figures = [known.conditions[str(c)] for c in known.query.filters_of(item.alias)]
    passing = prod(f.selectivity.value for f in figures)
    reaching, cost = 1.0, known.costs.arrive if known.costs.join is None else 0.0
    for figure in figures:
        cost += reaching * figure.cost.value
        reaching *= figure.selectivity.value
    cardinality = known.cardinalities.get(item.alias)
    raw_rate = 0.0 if item.is_table else known.rates[item.alias].value
    return Flow(
        alias=item.alias,
        rate=raw_rate * passing,
        window=_window_size(known, item) * passing,
        extent=_extent(known, item),
        raw_rate=raw_rate,
        filter_cost=cost,
        is_table=item.is_table,
        cardinality=None if cardinality is None else cardinality.value,
    )


def equal_figures(known: Known, number: int) -> Mapping[frozenset[str], Figure]:
    """By members of a key class: the fraction of combinations in full windows that are equal."""
    windows = unique_sizes(known, number)
    return with_partners(known.groups[number], windows)


def unique_sizes(known: Known, number: int) -> dict[str, float]:
    """Of the inputs whose tuples a key class tells apart: tuples in the window, before filters."""
    sizes = {item.alias: _window_size(known, item) for item in known.query.inputs}
    return unique_windows(known, number, sizes)


def _window_size(known: Known, item: Input) -> float:
    """Tuples in the window before filters, once it is full."""
    cardinality = known.cardinalities.get(item.alias)
    most = float("inf") if cardinality is None else cardinality.value
    match item.window:
        case None:
            return most
        case RowsWindow(count=count, partition_by=()):
            return min(float(count), most)
        case RowsWindow(partition_by=key) if item.is_relation:
            return min(_rows(known, item.alias, key), most)
        case RowsWindow(count=count):
            return min(count * DEFAULT_GROUPS, most)
    extent = _extent(known, item)
    assert extent is not None
    return min(known.rates[item.alias].value * extent, most)


def _rows(known: Known, alias: str, key: tuple[str, ...]) -> float:
    """The rows of a view: one for each combination of its groups, as far as these are known."""
    values = [known.distinct.get(alias, {}).get(column) for column in key]
    return prod(DEFAULT_GROUPS if each is None else each.value for each in values)


def _extent(known: Known, item: Input) -> float | None:
    """The mean length of a time window in seconds; its lower end moves in steps of the slide."""
    match item.window:
        case TimeWindow(extent=None):
            return DEFAULT_HORIZON if known.horizon is None else known.horizon
        case TimeWindow(extent=int() as extent, slide=1):
            return extent / MICROS
        case TimeWindow(extent=int() as extent, slide=slide):
            return _mean_length(extent, extent + slide, _in_step(known, slide)) / MICROS
    return None


def _in_step(known: Known, slide: int) -> int:
    """How many inputs' windows move together with steps of the given length."""
    slides = [i.window.slide for i in known.query.inputs if isinstance(i.window, TimeWindow)]
    return sum(s > 1 and (s % slide == 0 or slide % s == 0) for s in slides)


def _mean_length(least: int, most: int, together: int) -> float:
    """The mean of a window's length, which grows from `least` to `most` and jumps back.

    Windows that move together are long at the same time. Of n such streams, results are as many as
    the mean of the product of n − 1 lengths says, so that the mean is the power mean of that order.
    """
    order = max(1, together - 1)
    powers = (float(least) ** (order - k) * float(most) ** k for k in range(order + 1))
    return float((sum(powers) / (order + 1)) ** (1 / order))
