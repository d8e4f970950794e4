"""Heat maps: a colour for the value, or the kind, in each cell of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.experiments.drawing.palette import Palette
from penstock.experiments.frame.chart import HeatMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        chart.columns,
        chart.rows,
        np.array(chart.cells),
        cmap=ListedColormap(colours),
        norm=BoundaryNorm(bounds, len(colours)),
        shading="nearest",
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
    cells = axes.pcolormesh(
        chart.columns, chart.rows, np.array(chart.cells), cmap="cividis", shading="nearest"
    )
    figure = axes.figure
    assert figure is not None
    bar = figure.colorbar(cells, ax=axes)
    bar.set_label(chart.value.text)
