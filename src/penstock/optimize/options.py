"""Options of planning: the goal, the kinds to choose among, and what is switched off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from penstock.engines import EngineName
from penstock.errors import PlanError
from penstock.plan.mesh_search import DEFAULT_SEARCH, MeshSearch
from penstock.query.goal import STEADY, Goal

KINDS = {
    "tree": "binary joins with inner results as state",
    "multiway": "one join without",
    "mesh": "one join without, in which tuples that differ take different routes",
}

SWITCHES = {
    "filter-order": "put filters and other predicates in the order of their rank",
    "late-filters": "let an expensive filter wait for the results of the joins",
    "bushy": "consider trees that join two inner results",
    "products": "consider trees that join inputs without a predicate between them",
    "probe-order": "search each stream's probe order instead of taking FROM's",
    "early-aggregation": "consider aggregating inputs of a view before they are joined",
    "recompute": "consider recomputing a view from its windows in each batch",
    "mesh": "consider different routes for tuples that differ",
    "sharing": "find what several queries of a script join once for all of them",
    "methods": "choose between nested loops and search by key (laboratory)",
}


Servers = Literal["shared", "each"]
Estimator = Literal["rates", "cardinality"]

SERVERS: tuple[Servers, ...] = ("shared", "each")
ESTIMATORS: tuple[Estimator, ...] = ("rates", "cardinality")


RENAMED = {"anew": "recompute"}
"""Switches by their names in 0.1."""


def checked(names: Iterable[str], known: Iterable[str], what: str) -> frozenset[str]:
    """The names, all of which must be known; a name of 0.1 gives that of today."""
    known = tuple(known)
    renamed = {old: new for old, new in RENAMED.items() if new in known}
    found = frozenset(renamed.get(name, name) for name in names)
    strange = sorted(found - set(known))
    if strange:
        # A part of a name is enough: `erly` for early-aggregation.
        parts = {part: name for name in known for part in (*name.split("-"), name)}
        near = get_close_matches(strange[0], parts, n=1)
        meant = f"did you mean {parts[near[0]]}? " if near else ""
        raise PlanError(f"no {what} {strange[0]!r}", hint=f"{meant}there are {', '.join(known)}")
    return found


@dataclass(frozen=True)
class PlanOptions:
    """The user's wishes for a plan.

    `plan` forces one. `sheds` lets tuples be dropped where no plan keeps up; `exact_of_kept` then
    wants the plain values of a view, not estimates. `mesh` says how meshes are searched for.
    `alternatives` are to be listed, so that a mesh is searched even beside a forced plan. In the
    laboratory batches start every `interval` seconds, or, without one, each tuple is taken as it
    comes. Results over time wait for one shared server, or for a server of each operator. The
    `estimator` compares plans by rates, or as optimizers do that know of cardinalities only.
    """

    goal: Goal = STEADY
    plan: str | None = None
    kinds: frozenset[str] = frozenset(KINDS)
    off: frozenset[str] = frozenset()
    sheds: bool = False
    exact_of_kept: bool = False
    mesh: MeshSearch = DEFAULT_SEARCH
    alternatives: bool = False
    engine: EngineName = "spark"
    interval: float | None = None
    servers: Servers = "shared"
    estimator: Estimator = "rates"


DEFAULT_OPTIONS = PlanOptions()
