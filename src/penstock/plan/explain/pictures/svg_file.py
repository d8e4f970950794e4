"""A plan as an SVG file that stands alone: for a README or a page of one's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from penstock.plan.explain.figures import Figures
from penstock.plan.explain.pictures.picture import drawn
from penstock.plan.explain.pictures.style import BOXES, INKS
from penstock.plan.explain.pictures.svg import WIDE
from penstock.plan.explain.script import title
from penstock.plan.script import PlannedScript

_EDGE, _TITLE = 12, 40
_PAPER = """\
text { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.paper { fill: var(--card); stroke: var(--line); }
"""

Titled = tuple[str, str]
"""The title of a picture, empty where it needs none, and the picture."""


def as_svg(figures: Figures) -> str:
    """The picture of a plan."""
    return _file([("", drawn(figures, WIDE))])


def script_svg(planned: PlannedScript, figures: dict[str, Figures]) -> str:
    """The pictures of all queries of a script, below one another."""
    members = planned.script.members
    return _file([(title(member), drawn(figures[member.name], WIDE)) for member in members])


def _file(pictures: Sequence[Titled]) -> str:
    """One file of pictures on a card, which is as legible on light pages as on dark ones."""
    parts = list(_placed(pictures))
    width = 2 * _EDGE + max(_size(picture)[0] for _, picture in pictures)
    height = 2 * _EDGE + sum(_height(each) for each in pictures)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        f"<style>\n{INKS}{BOXES}{_PAPER}</style>",
        f'<rect class="paper" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="14"/>',
    )
    return "\n".join([*head, *parts, "</svg>"]) + "\n"


def _placed(pictures: Sequence[Titled]) -> Iterator[str]:
    y = _EDGE
    for named, picture in pictures:
        if named:
            yield f'<text class="name" x="{2 * _EDGE}" y="{y + _TITLE // 2}">{escape(named)}</text>'
        y += _height((named, picture))
        width, height = _size(picture)
        at = f'<svg x="{_EDGE}" y="{y - height}" width="{width}" height="{height}" '
        yield picture.replace("<svg ", at, 1)


def _height(titled: Titled) -> int:
    return _size(titled[1])[1] + (_TITLE if titled[0] else 0)


def _size(picture: str) -> tuple[int, int]:
    """Width and height of a picture, as its first line has them."""
    found = re.search(r'viewBox="0 0 (\d+) (\d+)"', picture)
    assert found is not None
    return int(found[1]), int(found[2])
