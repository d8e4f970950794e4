"""Heat maps: a colour for the value, or the kind, in each cell of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from penstock.experiments.drawing.palette import Palette
from penstock.experiments.frame.chart import HeatMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


def draw_heat_map(axes: Axes, chart: HeatMap, palette: Palette) -> None:
    """Draw the grid, with a legend of kinds or a scale of values."""
    draw_cells = _draw_kinds if chart.kinds else _draw_values
    draw_cells(axes, chart, palette)
    for axis, set_label, set_scale in (
        (chart.x, axes.set_xlabel, axes.set_xscale),
        (chart.y, axes.set_ylabel, axes.set_yscale),
    ):
        set_label(axis.text)
        set_scale("log" if axis.is_log else "linear")


def _draw_kinds(axes: Axes, chart: HeatMap, palette: Palette) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    colours = [palette.series[n % len(palette.series)] for n in range(len(chart.kinds))]
    bounds = np.arange(len(colours) + 1) - 0.5
    axes.pcolormesh(
        *_grid(chart),
        np.array(chart.cells),
        cmap=ListedColormap(colours),
        norm=BoundaryNorm(bounds, len(colours)),
    )
    handles = [Patch(color=c, label=kind) for c, kind in zip(colours, chart.kinds, strict=True)]
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.0, -0.16),
        ncols=min(len(handles), 3),
        frameon=False,
        fontsize="small",
        labelcolor=palette.ink,
    )


def _draw_values(axes: Axes, chart: HeatMap, palette: Palette) -> None:
    """Values from dark to bright, in a scale that grows evenly lighter for all eyes."""
    cells = axes.pcolormesh(*_grid(chart), np.array(chart.cells), cmap="cividis")
    figure = axes.figure
    assert figure is not None
    bar = figure.colorbar(cells, ax=axes)
    bar.set_label(chart.value.text)


def _grid(chart: HeatMap) -> tuple[Floats, Floats]:
    return edges(chart.columns, chart.x.is_log), edges(chart.rows, chart.y.is_log)


def edges(centres: Sequence[float], is_log: bool) -> Floats:
    """The bounds of cells around their centres: halfway between two, as the axis counts."""
    places = np.log(centres) if is_log else np.array(centres, np.float64)
    steps = np.diff(places) if len(places) > 1 else np.ones(1)
    first, last = places[0] - steps[0] / 2, places[-1] + steps[-1] / 2
    bounds = np.concatenate([[first], places[:-1] + np.diff(places) / 2, [last]])
    return np.exp(bounds) if is_log else bounds
