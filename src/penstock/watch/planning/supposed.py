"""Figures that are supposed instead of those of now, and the query as it would be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from penstock.duration import MICROS
from penstock.errors import UsageError
from penstock.figure import Figure
from penstock.query import Query, RowsWindow, TimeWindow
from penstock.query.window import Window, is_tumble
from penstock.watch.planning.asked import Asked

_RATE, _WINDOW, _CORES = "rate.", "window.", "cores"


@dataclass(frozen=True)
class Supposed:
    """Figures other than those of now: tuples/s and lengths of windows by alias, and cores."""

    rates: Mapping[str, float] = field(default_factory=dict)
    windows: Mapping[str, float] = field(default_factory=dict)
    cores: float | None = None

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Supposed:
        """What `rate.a=100`, `window.a=60` and `cores=2` suppose; other names are passed over."""
        return cls(
            rates=_named(given, _RATE),
            windows=_named(given, _WINDOW),
            cores=_number(given[_CORES]) if _CORES in given else None,
        )


def assumed(asked: Asked, supposed: Supposed) -> Asked:
    """The query and its figures as they are supposed; a UsageError for what cannot be."""
    for alias in (*supposed.rates, *supposed.windows):
        if alias not in asked.query.aliases:
            names = ", ".join(asked.query.aliases)
            raise UsageError(f"there is no input {alias}", hint=f"its inputs are {names}")
    query = _with_windows(asked.query, supposed.windows)
    rates = {alias: Figure(_checked(rate), "declared") for alias, rate in supposed.rates.items()}
    known = replace(asked.known, query=query, rates={**asked.known.rates, **rates})
    if supposed.cores is not None:
        known = replace(known, capacity=Figure(_checked(supposed.cores), "declared"))
    return replace(asked, query=query, known=known)


def _with_windows(query: Query, windows: Mapping[str, float]) -> Query:
    made = (
        replace(item, window=_window(item.window, windows[item.alias]))
        if item.alias in windows
        else item
        for item in query.inputs
    )
    return replace(query, inputs=tuple(made)) if windows else query


def _window(window: Window | None, length: float) -> Window | None:
    size = _checked(length)
    match window:
        case RowsWindow():
            return replace(window, count=max(1, round(size)))
        case TimeWindow() if is_tumble(window):
            return replace(window, slide=max(2, round(size * MICROS)))
        case TimeWindow(extent=int()):
            return replace(window, extent=round(size * MICROS))
    raise UsageError("this input has no window whose length could be another", hint="leave it out")


def _named(given: Mapping[str, str], start: str) -> dict[str, float]:
    found = {name: text for name, text in given.items() if name.startswith(start)}
    return {name.removeprefix(start): _number(text) for name, text in found.items()}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{text!r} is no number", hint="give one above zero") from None


def _checked(value: float) -> float:
    if not (math.isfinite(value) and 0.0 < value <= 1e12):
        raise UsageError(f"{value:g} is not possible here", hint="give a number above zero")
    return value
