"""Colours of charts: for light and dark pages, and stand-ins that a page's own replace.

The series are those of Okabe and Ito, which people tell apart who do not see all colours; on dark
pages they are lighter.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """The colours of a chart: text and axes, faint lines, what is behind, and one for each name."""

    ink: str
    faint: str
    paper: str
    series: tuple[str, ...]

    def named(self) -> dict[str, str]:
        """The colours by the names of their CSS variables."""
        series = {f"series-{n}": colour for n, colour in enumerate(self.series, 1)}
        return {"ink": self.ink, "faint": self.faint, "paper": self.paper} | series


LIGHT = Palette(
    ink="#22272e",
    faint="#d5d9de",
    paper="#ffffff",
    series=(
        "#0072b2",
        "#d55e00",
        "#009e73",
        "#b1518c",
        "#a67c00",
        "#3d9bd1",
        "#6b5bb5",
        "#5c6670",
    ),
)
DARK = Palette(
    ink="#dfe3e8",
    faint="#3a4048",
    paper="#171a1f",
    series=(
        "#5ab4f0",
        "#ff8c42",
        "#34cfa2",
        "#eb9bc8",
        "#ecc23f",
        "#9bd4f5",
        "#b3a7f0",
        "#a9b1ba",
    ),
)
STAND_INS = Palette(
    ink="#fe0100",
    faint="#fe0200",
    paper="#fe0300",
    series=tuple(f"#fe04{n:02x}" for n in range(1, len(LIGHT.series) + 1)),
)
"""Colours that no chart has, in whose place the variables of a style sheet are put."""


def with_variables(svg: str) -> str:
    """A drawing with a variable of its style sheet for every stand-in."""
    for name, colour in STAND_INS.named().items():
        svg = svg.replace(colour, f"var(--{name})")
    return svg


def style_sheet(selector: str) -> str:
    """The variables for light and dark pages."""
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in palette.named().items())
        for palette in (LIGHT, DARK)
    )
    return f"{selector}{{{light}}}@media (prefers-color-scheme:dark){{{selector}{{{dark}}}}}"
