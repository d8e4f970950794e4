"""The picture of a plan for the HTML page."""

from __future__ import annotations

from penstock.plan.explain.figures import Figures
from penstock.plan.explain.lanes import lanes
from penstock.plan.explain.route_picture import route_picture
from penstock.plan.explain.tree_picture import tree_picture
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.tree import TreeJoin

_ANEW = "In each batch all of the window at the top visits"


def picture(figures: Figures) -> tuple[str, str]:
    """An SVG element and its caption."""
    plan = figures.decision.plan
    match plan:
        case MultiwayJoin():
            who = "New tuples of each stream visit" if plan.anew is None else _ANEW
            caption = f"{who} the other windows from left to right"
            return lanes(figures), f"{caption}; each colour is one input."
        case TreeJoin():
            caption = "What is new on either side of a join is looked up on the other"
            kept = "inner results are kept while all members live"
            return tree_picture(figures, plan), f"{caption}; {kept}."
        case MeshJoin():
            caption = "New tuples take the route that their classifier gives them"
            return route_picture(figures, plan), f"{caption}, from left to right."
        case Eddy():
            caption = "After each filter and probe the eddy decides what is next"
            return route_picture(figures, plan), f"{caption}."
