"""Meshes and eddies as text: `mesh A: B C 60 % or C B 40 % by if x <= 5 then 1 else 2; …`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from penstock.errors import Caret, PlanError
from penstock.plan.mesh import DriverMesh, Eddy, Fork, Goes, MeshJoin, MeshRoute, Operator
from penstock.plan.multiway import Probe
from penstock.plan.text.mesh_words import literal_text, name_text
from penstock.query import Query

_EDDY = re.compile(r"\s*eddy\s*(?::\s*(?P<batch>\S*)\s*)?", re.IGNORECASE)


def forced_eddy(query: Query, text: str) -> Eddy | None:
    """The eddy of `eddy` or `eddy:100`, which decides for so many tuples at once; None if the text
    is of another plan."""
    match = _EDDY.fullmatch(text)
    if match is None or "eddy" in map(str.lower, query.aliases):
        return None
    batch = match["batch"]
    if batch is not None and (not batch.isdecimal() or int(batch) < 1):
        place = Caret(text, match.start("batch"), max(match.end("batch"), 1), "--plan")
        hint = "write eddy:100 for one decision for a hundred tuples"
        raise PlanError("an eddy's batch is a number of tuples", place=place, hint=hint)
    return Eddy(query, int(batch or 1))


def render_eddy(plan: Eddy) -> str:
    """The text that `forced_eddy` turns into this plan."""
    return "eddy" if plan.batch == 1 else f"eddy:{plan.batch}"


def render_mesh(plan: MeshJoin) -> str:
    """The text that `forced_mesh` turns into this plan; shares are rounded."""
    settings = "" if plan.window is None else f"window={plan.window} "
    settings += "" if plan.ruster == 1 else f"ruster={plan.ruster} "
    clauses = (f"{name_text(m.driver)}: {_routes(m)}".rstrip() for m in plan.meshes)
    return f"mesh {settings}" + "; ".join(clauses)


def _routes(mesh: DriverMesh) -> str:
    texts = (" ".join(stage_texts(route)) for route in mesh.routes)
    if len(mesh.routes) == 1:
        return next(texts)
    pairs = zip(texts, mesh.shares, strict=True)
    routes = " or ".join(f"{text} {100 * share:.3g} %" for text, share in pairs)
    return f"{routes} by {fork_text(mesh.classifier)}"


def fork_text(fork: Fork) -> str:
    """A decision tree; routes are counted from 1."""
    if isinstance(fork, Goes):
        return str(fork.route + 1)
    if fork.limit is None:
        test = f"in ({', '.join(map(literal_text, sorted(fork.values)))})"
    else:
        test = f"<= {repr(fork.limit).removesuffix('.0')}"
    branches = f"then {fork_text(fork.passed)} else {fork_text(fork.failed)}"
    return f"if {name_text(fork.attribute)} {test} {branches}"


def stage_texts(route: MeshRoute) -> tuple[str, ...]:
    """The stages of a route, such as `A.x > 5`, `B` and, where a lottery decides, `C|D`."""
    return tuple("|".join(map(operator_text, stage)) for stage in route.stages)


def operator_text(operator: Operator) -> str:
    """The condition of a filter in brackets, or the alias of what is probed."""
    if isinstance(operator, Probe):
        method = "" if operator.method == "sorted" else f"/{operator.method}"
        return name_text(operator.target) + method
    return f"[{operator.condition}]"


def operator_names(operators: Iterable[Operator]) -> list[str]:
    """The aliases of what is probed and the conditions of filters, for programs."""
    return [o.target if isinstance(o, Probe) else str(o.condition) for o in operators]
