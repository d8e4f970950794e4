"""Charts drawn: every kind, in colours that a page can replace."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from penstock.experiments.drawing.figure_files import png_of, svg_of
from penstock.experiments.drawing.heat_map import edges
from penstock.experiments.drawing.palette import DARK, LIGHT, STAND_INS, Palette
from penstock.experiments.frame.chart import Chart
from support.experiments.stubs import BARS, CHARTS, LINES

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.title)
def test_every_kind_of_chart_is_drawn(chart: Chart) -> None:
    svg = svg_of((chart,), "name")
    root = ET.fromstring(svg)
    texts = "".join(root.itertext())
    assert chart.title in texts
    assert "matplotlib" not in root.tag
    assert not [colour for colour in STAND_INS.named().values() if colour in svg]
    assert "var(--ink)" in svg
    assert png_of((chart,)).startswith(b"\x89PNG")


def test_identifiers_are_those_of_the_figure_alone() -> None:
    svg = svg_of((LINES, BARS), "mine")
    names = re.findall(r'\bid="([^"]+)"', svg)
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', svg)
    assert len(names) == len(set(names))
    assert all(name.startswith("mine-") for name in names)
    assert set(used) <= set(names)


def test_the_same_chart_gives_the_same_bytes() -> None:
    assert svg_of(CHARTS, "name") == svg_of(CHARTS, "name")


def test_origins_are_told_apart_by_style() -> None:
    svg = svg_of((LINES,), "name")
    assert "stroke-dasharray" in svg
    assert "stroke-opacity: 0.4" in svg
    assert "fill: var(--paper); stroke: var(--series-1)" in svg
    for name in ("measured", "model", "paper", "a stretch", "a moment"):
        assert f">{name}</text>" in svg


def test_cells_are_bounded_halfway_between_their_centres() -> None:
    assert edges((1.0, 2.0, 4.0), is_log=False).tolist() == [0.5, 1.5, 3.0, 5.0]
    assert edges((1.0, 100.0), is_log=True).tolist() == pytest.approx([0.1, 10.0, 1000.0])
    assert edges((3.0,), is_log=False).tolist() == [2.5, 3.5]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out_from_the_paper(palette: Palette) -> None:
    """At least as much as WCAG asks: text 4.5 to 1, lines 3 to 1."""
    assert contrast(palette.ink, palette.paper) >= 4.5
    assert min(contrast(series, palette.paper) for series in palette.series) >= 3


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
