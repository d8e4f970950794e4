"""Staleness: whether the classes of tuples behave otherwise than a mesh was trained for.

That all of a stream changes is no matter of its mesh: the figures tell it. A mesh is stale if an
operator lets more or less through on one route than on the others, other than it was trained for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import exp, hypot, log

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.training.expectation import Yields, log_error
from penstock.engine.reports.parts import OperatorReport

Key = tuple[int, str]
"""The number of a route, and an operator's name."""


@dataclass(frozen=True)
class Flow:
    """Rows that went into an operator on a route and came out, and how many were expected to."""

    route: int
    operator: str
    went_in: int
    came_out: int
    expected: float
    expected_error: float
    is_filter: bool

    @property
    def factor(self) -> float:
        """How many times as many came out as expected; half a row, where none did."""
        return max(self.came_out, 0.5) / max(self.expected, 0.5)

    @property
    def error(self) -> float:
        """The standard error of the factor's logarithm."""
        own = log_error(self.went_in, self.came_out, is_filter=self.is_filter)
        return hypot(own, self.expected_error)


def why_stale(
    expected: Mapping[str, Yields],
    operators: Iterable[OperatorReport],
    settings: Settings = DEFAULT_SETTINGS,
) -> str | None:
    """Why a mesh should be trained anew, if one of its streams does other than expected; else None.

    `expected` are the yields of each stream's operators, `operators` what the last batches tell.
    """
    told = tuple(operators)
    worst, reason = 0.0, None
    for driver, yields in expected.items():
        flows = tuple(_flows(yields, [each for each in told if each.driver == driver]))
        for flow, moved in _moved(flows, settings):
            if abs(moved) > worst:
                worst, reason = abs(moved), _sentence(driver, flow, moved)
    return reason


def _flows(expected: Yields, told: Iterable[OperatorReport]) -> Iterator[Flow]:
    """What went through each operator of each route, all batches together."""
    went_in: Counter[Key] = Counter()
    came_out: Counter[Key] = Counter()
    filters: set[Key] = set()
    for each in told:
        key = (each.route, each.operator)
        went_in[key] += each.went_in
        came_out[key] += each.came_out
        filters |= {key} if each.kind == "filter" else set()
    for key in went_in:
        if key in expected:
            rows, error = went_in[key] * expected[key].rows, expected[key].error
            yield Flow(*key, went_in[key], came_out[key], rows, error, key in filters)


def _moved(flows: tuple[Flow, ...], settings: Settings) -> Iterator[tuple[Flow, float]]:
    """The flows that differ from what their operator does on the other routes, and by how much
    (a logarithm)."""
    for flow in flows:
        others = [f for f in flows if f.operator == flow.operator and f.route != flow.route]
        if flow.went_in < settings.mesh_stale_rows or not others:
            continue
        rows = max(sum(f.came_out for f in others), 0.5)
        general = rows / max(sum(f.expected for f in others), 0.5)
        moved = log(flow.factor / general)
        error = hypot(flow.error, min(f.error for f in others))
        if abs(moved) > max(log(settings.mesh_stale_factor), settings.mesh_stale_errors * error):
            yield flow, moved


def _sentence(driver: str, flow: Flow, moved: float) -> str:
    found, expected = flow.came_out / flow.went_in, flow.expected / flow.went_in
    rows = "of the tuples" if flow.is_filter else "rows a tuple"
    return (
        f"{driver}: on route {flow.route + 1} {flow.operator} lets {found:.2g} {rows} through, and "
        f"was trained for {expected:.2g}: {exp(abs(moved)):.1f} times as "
        f"{'many' if moved > 0 else 'few'}, by what the other routes do"
    )
