"""Figures as files: SVG whose colours follow the page, and PNG on white."""

from __future__ import annotations

import re
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.atomic import draft_of, write_text
from penstock.errors import SetupError
from penstock.experiments.drawing.palette import (
    LIGHT,
    STAND_INS,
    Palette,
    style_sheet,
    with_variables,
)
from penstock.experiments.drawing.panels import draw
from penstock.experiments.frame.chart import Chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDE, _HIGH = 7.4, 3.9
"""Inches of a panel."""
_PER_INCH = 150


def check_drawing() -> None:
    """Refuse to go on where charts cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise SetupError(
            "charts need matplotlib, which is not installed",
            hint="python -m pip install 'penstock[plot]', or run without --output",
        ) from error


def save_figure(charts: tuple[Chart, ...], name: str, folder: Path) -> None:
    """Write NAME.svg and NAME.png."""
    write_text(folder / f"{name}.svg", svg_of(charts, name))
    with draft_of(folder / f"{name}.png") as draft:
        draft.write_bytes(png_of(charts))


def svg_of(charts: tuple[Chart, ...], name: str) -> str:
    """The figure as SVG; its identifiers begin with `name`, so that many can be in one page."""
    text = StringIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": name}
    _render(charts, STAND_INS, settings, text, format="svg", metadata={"Date": None})
    svg = with_variables(_with_own_names(text.getvalue(), name))
    return svg.replace("<defs>", f"<style>{style_sheet(':root')}</style>\n <defs>", 1)


def png_of(charts: tuple[Chart, ...]) -> bytes:
    """The figure as PNG."""
    data = BytesIO()
    _render(charts, LIGHT, {}, data, format="png", dpi=_PER_INCH)
    return data.getvalue()


def _render(
    charts: tuple[Chart, ...],
    palette: Palette,
    settings: dict[str, Any],
    target: StringIO | BytesIO,
    **options: Any,
) -> None:
    import matplotlib as mpl

    merged: Any = {**_style(palette), **settings}
    with mpl.rc_context(merged):
        _figure(charts, palette).savefig(target, **options)


def _figure(charts: tuple[Chart, ...], palette: Palette) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDE, _HIGH * len(charts)), layout="constrained")
    for number, chart in enumerate(charts, 1):
        draw(figure.add_subplot(len(charts), 1, number), chart, palette)
    return figure


def _style(palette: Palette) -> dict[str, Any]:
    return {
        "font.size": 10.5,
        "figure.constrained_layout.h_pad": 0.1,
        "figure.facecolor": palette.paper,
        "savefig.facecolor": palette.paper,
        "axes.facecolor": palette.paper,
        "axes.edgecolor": palette.ink,
        "axes.labelcolor": palette.ink,
        "axes.titlecolor": palette.ink,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "grid.color": palette.faint,
        "grid.linewidth": 0.6,
        "text.color": palette.ink,
        "xtick.color": palette.ink,
        "ytick.color": palette.ink,
    }


def _with_own_names(svg: str, name: str) -> str:
    """The drawing with `name` before every identifier in it and every use of one."""
    return re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
