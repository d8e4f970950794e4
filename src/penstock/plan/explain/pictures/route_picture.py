"""A mesh or an eddy as a picture: a lane for every route, the stream, its steps, the results."""

from __future__ import annotations

from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.mesh import route_rows
from penstock.plan.explain.pictures.strips import Lane, Step, Strip, strips_picture
from penstock.plan.explain.pictures.svg import Page
from penstock.plan.mesh import Eddy, MeshJoin, Operator
from penstock.plan.multiway import Probe
from penstock.plan.text.mesh_text import operator_text


def route_picture(figures: Figures, plan: MeshJoin | Eddy, page: Page) -> str:
    """An SVG element with the streams and their routes from top to bottom."""
    strips = [Strip(item, _lanes(figures, plan, item)) for item in figures.inputs]
    return strips_picture(figures, strips, page)


def _lanes(figures: Figures, plan: MeshJoin | Eddy, item: InputFigures) -> tuple[Lane, ...]:
    if item.is_table:
        return ()
    if isinstance(plan, Eddy):
        lines = ("eddy", "decides after each", f"for {plan.batch} at a time")
        return ((Step(lines, "\n".join(lines)),),)
    mesh = plan.mesh(item.alias)
    heads = [f"{name} · {share}" if item.way else "" for name, share, _, _ in route_rows(mesh)]
    return tuple(
        tuple(_step(figures, stage, head) for stage in route.stages)
        for route, head in zip(mesh.routes, heads, strict=True)
    )


def _step(figures: Figures, stage: tuple[Operator, ...], head: str) -> Step:
    probes = [o for o in stage if isinstance(o, Probe)]
    alone = probes[0].target if len(stage) == 1 and probes else None
    text = "|".join(map(operator_text, stage))
    name = text if alone is None else figures.input(alone).name
    lines = (name, f"{probes[0].method} probe" if probes else "filter", head)
    return Step(lines, "\n".join(lines), alone)
