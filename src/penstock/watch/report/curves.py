"""Curves over batches as SVG: what was measured as lines, what was expected dashed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from penstock.plan.explain.quantity import figure, percent, seconds
from penstock.watch.charts.chart import Chart, Curve, Unit
from penstock.watch.report.markup import Markup, joined, tag

_WIDTH, _HEIGHT = 560, 200
_LEFT, _TOP, _BOTTOM = 62, 12, 24
_HUES = (212, 28, 150, 330, 265, 85, 0, 185)
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


_SHOWN: Mapping[Unit, Callable[[float], str]] = {
    "count": figure,
    "rate": figure,
    "percent": percent,
    "seconds": seconds,
}
"""How an axis writes its values: what they are is in the title."""


def drawn(chart: Chart) -> Markup | None:
    """A chart as a figure; None where nothing is known."""
    known = [v for curve in chart.curves for v in curve.values if v is not None and _is_number(v)]
    if not known or not chart.batches:
        return None
    scale = _Scale(chart.batches[0], chart.batches[-1], top_of(max(*known, chart.least, 1e-9)))
    parts = (*_axes(chart, scale), *_marks(chart, scale), *_lines(chart, scale))
    label = f"{chart.title}, batches {chart.batches[0]} to {chart.batches[-1]}"
    svg = tag("svg", *parts, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=label)
    names = (_legend(curve) for curve in chart.curves if any(map(_is_number, curve.values)))
    return tag("figure", tag("h3", chart.title), svg, tag("figcaption", *names))


def top_of(most: float) -> float:
    """The end of an axis: a round number that is not much larger."""
    scale = 10.0 ** math.floor(math.log10(most))
    return next(step * scale for step in _STEPS if step * scale >= most * (1 - 1e-12))


@dataclass(frozen=True)
class _Scale:
    """From batches and values to places in the picture."""

    first: int
    last: int
    top: float

    def x(self, batch: float) -> float:
        part = (batch - self.first) / (self.last - self.first) if self.last > self.first else 0.5
        return _LEFT + part * (_WIDTH - _LEFT - 8)

    def y(self, value: float) -> float:
        part = min(max(value / self.top, 0.0), 1.0)
        return _TOP + (1.0 - part) * (_HEIGHT - _TOP - _BOTTOM)


def _axes(chart: Chart, scale: _Scale) -> Iterator[Markup]:
    for part in (0.0, 0.5, 1.0):
        y = f"{scale.y(part * scale.top):.1f}"
        yield tag("line", x1=_LEFT, x2=_WIDTH - 8, y1=y, y2=y, class_="grid")
        text = _SHOWN[chart.unit](part * scale.top)
        yield tag("text", text, x=_LEFT - 8, y=f"{float(y) + 4:.1f}", text_anchor="end")
    for batch, anchor in {scale.first: "start", scale.last: "end"}.items():
        yield tag("text", str(batch), x=f"{scale.x(batch):.1f}", y=_HEIGHT - 6, text_anchor=anchor)


def _marks(chart: Chart, scale: _Scale) -> Iterator[Markup]:
    for batch in chart.marks:
        x = f"{scale.x(batch):.1f}"
        title = tag("title", f"another plan from batch {batch} on")
        yield tag("line", title, x1=x, x2=x, y1=_TOP, y2=_HEIGHT - _BOTTOM, class_="mark")


def _lines(chart: Chart, scale: _Scale) -> Iterator[Markup]:
    for curve in chart.curves:
        points = zip(chart.batches, curve.values, strict=True)
        for is_known, run in groupby(points, key=lambda point: _is_number(point[1])):
            if is_known:
                yield _line(curve, scale, [(b, v) for b, v in run if v is not None])


def _line(curve: Curve, scale: _Scale, points: Sequence[tuple[int, float]]) -> Markup:
    """A stretch without gaps; a point alone is a dot."""
    style, title = f"--hue: {_HUES[curve.hue % len(_HUES)]}", tag("title", curve.name)
    places = [f"{scale.x(batch):.1f},{scale.y(value):.1f}" for batch, value in points]
    if len(places) == 1:
        x, y = places[0].split(",")
        return tag("circle", title, cx=x, cy=y, r=2, class_="dotted", style=style)
    kind = "curve expected" if curve.is_expected else "curve"
    return tag("polyline", title, points=" ".join(places), class_=kind, style=style)


def _legend(curve: Curve) -> Markup:
    style = f"--hue: {_HUES[curve.hue % len(_HUES)]}"
    kind = "key expected" if curve.is_expected else "key"
    return joined(tag("span", curve.name, class_=kind, style=style), " ")


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
