"""The picture of a plan for the HTML page."""

from __future__ import annotations

from typing import assert_never

from penstock.plan.explain.figures import Figures
from penstock.plan.explain.pictures.lanes import lanes
from penstock.plan.explain.pictures.route_picture import route_picture
from penstock.plan.explain.pictures.svg import NARROW, WIDE, Page
from penstock.plan.explain.pictures.tree_picture import tree_picture
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.tree import TreeJoin

_RECOMPUTED = "In each batch all of the window at the top visits"


def picture(figures: Figures) -> tuple[str, str]:
    """SVG elements, one for wide pages and one for narrow ones, and their caption."""
    wide, narrow = (drawn(figures, page) for page in (WIDE, NARROW))
    # What a hidden picture defines, the other cannot use.
    narrow = narrow.replace('id="tip"', 'id="end"').replace("url(#tip)", "url(#end)")
    both = f'<div class="on-wide">{wide}</div>\n<div class="on-narrow">{narrow}</div>'
    return both, _caption(figures)


def drawn(figures: Figures, page: Page) -> str:
    """The picture of a plan for a page, as an SVG element."""
    plan = figures.decision.plan
    match plan:
        case MultiwayJoin():
            return lanes(figures, page)
        case TreeJoin():
            return tree_picture(figures, plan, page)
        case MeshJoin() | Eddy():
            return route_picture(figures, plan, page)
        case _:
            assert_never(plan)


def _caption(figures: Figures) -> str:
    plan, view = figures.decision.plan, ""
    if figures.view is not None:
        view = " The view aggregates what they find, and tells the groups that change."
    match plan:
        case MultiwayJoin():
            who = "New tuples of each stream visit" if plan.recompute is None else _RECOMPUTED
            caption = f"{who} the other windows along the arrows; each colour is one input."
        case TreeJoin():
            caption = "What is new on either side of a join is looked up on the other"
            caption += "; inner results are kept while all members live."
        case MeshJoin():
            caption = "New tuples take the route that their classifier gives them."
        case Eddy():
            caption = "After each filter and probe the eddy decides what is next."
        case _:
            assert_never(plan)
    return caption + view
