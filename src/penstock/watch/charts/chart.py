"""A chart: curves over the same batches, and what their values are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["count", "rate", "percent", "seconds"]
"""How values are written: a number of things, so many a second, a part of one, a time."""


@dataclass(frozen=True)
class Curve:
    """A value for each batch; None where it is not known."""

    name: str
    values: tuple[float | None, ...]
    is_expected: bool = False
    """Whether it was expected, or is wanted, and not measured."""

    hue: int = 0
    """The number of its colour: a curve and what was expected of it have the same."""


@dataclass(frozen=True)
class Chart:
    """Curves over the same batches, under a name that is the chart's alone in its view."""

    name: str
    title: str
    batches: tuple[int, ...]
    curves: tuple[Curve, ...]
    marks: tuple[int, ...] = ()
    """The batches that changed the plan."""

    unit: Unit = "count"
    least: float = 0.0
    """The value that the axis reaches at least."""

    is_stacked: bool = False
    """Whether what was measured are parts of a whole, drawn on top of each other."""

    ats: tuple[float, ...] = ()
    """When each batch was final, seconds since the epoch."""
