"""The picture of a plan for the HTML page."""

from __future__ import annotations

from penstock.plan.explain.figures import Figures
from penstock.plan.explain.lanes import lanes
from penstock.plan.explain.tree_picture import tree_picture
from penstock.plan.multiway import MultiwayJoin


def picture(figures: Figures) -> tuple[str, str]:
    """An SVG element and its caption."""
    plan = figures.decision.plan
    if isinstance(plan, MultiwayJoin):
        caption = "New tuples of each stream visit the other windows from left to right"
        return lanes(figures), f"{caption}; each colour is one input."
    caption = "What is new on either side of a join is looked up on the other"
    return tree_picture(figures, plan), f"{caption}; inner results are kept while all members live."
