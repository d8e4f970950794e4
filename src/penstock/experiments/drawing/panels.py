"""Panels: one chart drawn on the axes of a figure.

What was measured is a solid line with points, a model is dashed, and what a paper gives is a hollow
marker. A name has one colour in all three.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, assert_never

from penstock.experiments.drawing.heat_map import draw_heat_map
from penstock.experiments.drawing.palette import Palette
from penstock.experiments.frame.chart import (
    Axis,
    BarChart,
    Bars,
    Chart,
    HeatMap,
    LineChart,
    Origin,
    Series,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 30
"""Of a line with more points, only some are marked."""
_ONE_LINE, _BESIDE, _COLUMNS = 90, 8, 4
"""Letters that a line of the legend holds, those that a sign takes, and columns if it has more."""
_GROUP = 0.8
"""The part of a category that its bars take."""


def draw(axes: Axes, chart: Chart, palette: Palette) -> None:
    """Draw a chart."""
    axes.set_title(chart.title, loc="left", fontweight="bold", fontsize="medium")
    match chart:
        case LineChart():
            _draw_lines(axes, chart, palette)
        case BarChart():
            _draw_bars(axes, chart, palette)
        case HeatMap():
            draw_heat_map(axes, chart, palette)
        case _:
            assert_never(chart)


def set_scale(axes: Axes, x: Axis | None, y: Axis) -> None:
    """Label, scale and cut the axes."""
    if x is not None:
        axes.set_xlabel(x.text)
        axes.set_xscale("log" if x.is_log else "linear")
        axes.set_xlim(x.low, x.high)
    axes.set_ylabel(y.text)
    axes.set_yscale("log" if y.is_log else "linear")
    axes.set_ylim(y.low, y.high)


def _draw_lines(axes: Axes, chart: LineChart, palette: Palette) -> None:
    colours = _colours((series.name for series in chart.series), palette)
    for series in chart.series:
        every = max(1, len(series.x) // _MOST_POINTS) if series.is_joined else 1
        style = _line_style(series.origin, colours[series.name], palette)
        style |= {} if series.is_joined else {"linestyle": "none"}
        axes.plot(series.x, series.y, markevery=every, **style)
    for mark in chart.marks:
        width = max(mark.end - mark.start, 0.0)
        band = axes.axvspan if width else axes.axvline
        where = (mark.start, mark.end) if width else (mark.start,)
        band(*where, color=palette.faint, zorder=0, label=mark.text)
    set_scale(axes, chart.x, chart.y)
    axes.grid(True)
    _legend(axes, chart.series, colours, palette)


def _draw_bars(axes: Axes, chart: BarChart, palette: Palette) -> None:
    colours = _colours((bars.name for bars in chart.bars), palette)
    standing = [bars for bars in chart.bars if bars.origin != "paper"]
    width = _GROUP / max(1, len(standing))
    offset = {id(b): (n + 0.5) * width - _GROUP / 2 for n, b in enumerate(standing)}
    for bars in chart.bars:
        centre = offset.get(id(bars), _paper_offset(bars, standing, offset))
        points = [(n + centre, v) for n, v in enumerate(bars.values) if v is not None]
        x, y = [p[0] for p in points], [p[1] for p in points]
        if bars.origin == "paper":
            axes.plot(x, y, **_line_style("paper", colours[bars.name], palette))
        else:
            axes.bar(x, y, width * 0.92, **_bar_style(bars.origin, colours[bars.name], palette))
    axes.set_xticks(range(len(chart.categories)), chart.categories)
    set_scale(axes, None, chart.y)
    axes.grid(True, axis="y")
    _legend(axes, chart.bars, colours, palette)


def _paper_offset(bars: Bars, standing: list[Bars], offset: dict[int, float]) -> float:
    """Where a paper's markers stand: over the bars of the same name."""
    same = [offset[id(b)] for b in standing if b.name == bars.name]
    return sum(same) / len(same) if same else 0.0


def _colours(names: Iterable[str], palette: Palette) -> dict[str, str]:
    known = list(dict.fromkeys(names))
    return {name: palette.series[n % len(palette.series)] for n, name in enumerate(known)}


def _line_style(origin: Origin, colour: str, palette: Palette) -> dict[str, Any]:
    match origin:
        case "measured":
            points = {"marker": "o", "markersize": 4, "markerfacecolor": colour}
            line = {"color": _faded(colour), "linewidth": 2.6, "markeredgecolor": colour}
            return {**line, **points, "zorder": 2}
        case "model":
            return {"color": colour, "linestyle": (0, (4, 2)), "linewidth": 1.4, "zorder": 3}
        case "paper":
            hollow = {"markerfacecolor": palette.paper, "markeredgecolor": colour}
            size = {"markersize": 8, "markeredgewidth": 1.6}
            return {"linestyle": "none", "marker": "D", "zorder": 4, **hollow, **size}


def _faded(colour: str) -> tuple[float, float, float, float]:
    """A colour on which a dashed line of the same colour is seen."""
    from matplotlib.colors import to_rgba

    return to_rgba(colour, 0.4)


def _bar_style(origin: Origin, colour: str, palette: Palette) -> dict[str, Any]:
    if origin == "measured":
        return {"color": colour, "edgecolor": colour, "zorder": 2}
    dashed = {"linestyle": (0, (4, 2)), "linewidth": 1.3}
    return {"color": palette.paper, "edgecolor": colour, "zorder": 2, **dashed}


def _legend(
    axes: Axes,
    drawn: tuple[Series, ...] | tuple[Bars, ...],
    colours: dict[str, str],
    palette: Palette,
) -> None:
    """A colour for each name, then a style for each origin."""
    from matplotlib.lines import Line2D

    bands = axes.get_legend_handles_labels()[0]
    names = [Line2D([], [], color=c, linewidth=4, label=n) for n, c in colours.items()]
    origins = list(dict.fromkeys(each.origin for each in drawn))
    styles = [Line2D([], [], label=o, **_line_style(o, palette.ink, palette)) for o in origins]
    shown = [*(names if len(names) > 1 else []), *styles, *bands]
    letters = sum(len(str(each.get_label())) + _BESIDE for each in shown)
    columns = len(shown) if letters <= _ONE_LINE else _COLUMNS
    handles = _by_rows(shown, columns)
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.0, -0.16),
        ncols=columns,
        frameon=False,
        fontsize="small",
        labelcolor=palette.ink,
    )


def _by_rows(handles: list[Any], columns: int) -> list[Any]:
    """Entries of a legend in the order in which it must be given them to have them row by row."""
    return [each for first in range(columns) for each in handles[first::columns]]
