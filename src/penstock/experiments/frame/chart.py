"""Charts as data: what is drawn, not how. Panels of one figure stand below each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Origin = Literal["measured", "model", "paper"]
"""Measured by us, foreseen by our model, or given by the paper: told apart by style."""


@dataclass(frozen=True)
class Axis:
    """An axis with its unit; `low` and `high` cut it where they are given."""

    label: str
    unit: str = ""
    is_log: bool = False
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Series:
    """Points of a line, or (`is_joined` false) of no line. Series of one name have one colour,
    whatever their origin."""

    name: str
    origin: Origin
    x: tuple[float, ...]
    y: tuple[float, ...]
    is_joined: bool = True


@dataclass(frozen=True)
class Mark:
    """A stretch of the horizontal axis that the paper or we point at; a line if it has no width."""

    text: str
    start: float
    end: float


@dataclass(frozen=True)
class LineChart:
    """Lines over a common axis."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Bars:
    """A value for each category, or None where there is none."""

    name: str
    origin: Origin
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class BarChart:
    """Groups of bars; what the paper gives is drawn as markers over them."""

    title: str
    categories: tuple[str, ...]
    y: Axis
    bars: tuple[Bars, ...]


@dataclass(frozen=True)
class HeatMap:
    """A value in each cell of a grid, `cells[row][column]`, rows from the bottom.

    With `kinds`, values are numbers of these, and each kind has a colour.
    """

    title: str
    x: Axis
    y: Axis
    columns: tuple[float, ...]
    rows: tuple[float, ...]
    cells: tuple[tuple[float, ...], ...]
    kinds: tuple[str, ...] = ()
    value: Axis = Axis("value")
    origin: Origin = "model"


Chart = LineChart | BarChart | HeatMap
