"""The plans that are worth an estimate: proposers in an order, each with the plans of one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from penstock.optimize.estimate import needed_by
from penstock.optimize.joins.candidates import Proposal, multiway_plans, tree_plans
from penstock.optimize.mesh.plans import mesh_plans, ruster_seconds
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.rows_met import rows_met
from penstock.optimize.options import PlanOptions
from penstock.optimize.views.early import LATE, early_plans, early_sets
from penstock.optimize.views.recompute import recompute_plans
from penstock.optimize.views.rows_orders import MOST_INPUTS as FEW_ROWS_ORDERS
from penstock.optimize.views.rows_orders import best_rows_orders
from penstock.query.goal import Steady
from penstock.query.joins.outer import OuterJoins


@dataclass(frozen=True)
class PlanRequest:
    """The problem that plans are proposed for, and what is wanted of them.

    Of a problem in which inputs are aggregated early only plans of least work are worth it: it is
    not `is_thorough`.
    """

    problem: Problem
    options: PlanOptions
    is_thorough: bool = True

    @property
    def is_steady(self) -> bool:
        return isinstance(self.options.goal, Steady)

    @cached_property
    def multiway(self) -> tuple[Proposal, ...]:
        """The multi-way joins, which other kinds of plans are measured by and built on."""
        found = tuple(multiway_plans(self.problem, self.options.off, self.is_thorough))
        is_searched = "probe-order" not in self.options.off
        is_few = 2 < self.problem.size <= FEW_ROWS_ORDERS
        if rows_met(self.problem) is None or not (is_searched and is_few):
            return found
        return ((best_rows_orders(self.problem), "all probe orders"), *found)

    @property
    def is_least_work_best(self) -> bool:
        """Whether the plan of least work is the best: one keeps up, or nothing may be shed."""
        least = min(needed_by(self.problem, plan) for plan, _ in self.multiway)
        keeps_up = least <= self.problem.known.capacity.value
        is_by_rate = self.options.estimator == "rates"
        return self.is_steady and is_by_rate and (keeps_up or not self.options.sheds)


Proposer = Callable[[PlanRequest], Iterable[Proposal]]


def proposals(problem: Problem, options: PlanOptions) -> Iterator[Proposal]:
    """All plans that are proposed for a problem; one may be proposed several times.

    The traditional estimator knows of join trees only, and in the laboratory only their joins have
    a server each.
    """
    options = _as_run(problem, options)
    is_each = options.servers == "each" and options.engine == "laboratory"
    if problem.size > 1 and (options.estimator == "cardinality" or is_each):
        yield from join_trees(PlanRequest(problem, options))
        return
    request = PlanRequest(problem, options)
    for propose in PROPOSERS:
        yield from propose(request)


def _as_run(problem: Problem, options: PlanOptions) -> PlanOptions:
    """The options of a problem: views that the laboratory runs are kept multi-way joins, and of an
    outer join only pairs are planned."""
    if problem.query.outer is not None:
        return _of_pairs(problem.query.outer, options)
    is_view = options.engine == "laboratory" and problem.query.view is not None
    if not is_view or "multiway" not in options.kinds:
        return options
    off = options.off | {"recompute", "mesh"}
    return replace(options, kinds=frozenset({"multiway"}), off=off)


def _of_pairs(outer: OuterJoins, options: PlanOptions) -> PlanOptions:
    """The options of an outer join: its pairs are those of an inner one. Rows that stand for
    several tuples cannot be asked for partners one by one."""
    off = options.off | {"early-aggregation", "recompute", "mesh"}
    possible = {"multiway", "tree"} if outer.has_pairs else {"multiway"}
    return replace(options, off=off, kinds=options.kinds & possible or frozenset({"multiway"}))


def joined(request: PlanRequest) -> Iterator[Proposal]:
    """Plans that keep what they have found: late aggregation, and early of every set of inputs.

    Other goals than steady count results of the join, which early aggregation finds in less time.
    """
    if "early-aggregation" in request.options.off:
        yield from _joins(request)
        return
    yield from early_plans(
        request.problem,
        lambda folded, is_thorough: _joins(PlanRequest(folded, request.options, is_thorough)),
    )


def recomputed(request: PlanRequest) -> Iterable[Proposal]:
    """Plans that compute a view in each batch from all that is in the windows."""
    off, kinds = request.options.off, request.options.kinds
    is_off = {"early-aggregation", "recompute"} & off or "multiway" not in kinds
    return () if is_off or not request.is_steady else recompute_plans(request.problem, off)


def early_meshes(request: PlanRequest) -> Iterator[Proposal]:
    """A mesh for the set of inputs that is best aggregated early: one for each would take long."""
    options, problem = request.options, request.problem
    if {"early-aggregation", "mesh"} & options.off or not problem.known.training:
        return
    singles = {
        early: needed_by(folded, plan)
        for early in early_sets(problem)
        for folded in (with_early(problem, early),)
        for plan, _ in multiway_plans(folded, options.off, False)
    }
    best = min(singles, key=lambda early: singles[early], default=LATE)
    if best != LATE:
        folded = PlanRequest(with_early(problem, best), options)
        yield from ((replace(plan, early=best), by) for plan, by in meshes(folded))


PROPOSERS: tuple[Proposer, ...] = (joined, recomputed, early_meshes)


def multiway_joins(request: PlanRequest) -> Iterable[Proposal]:
    """One join of all inputs; of one input there is no other plan."""
    is_only = request.problem.size == 1 and "tree" in request.options.kinds
    return request.multiway if "multiway" in request.options.kinds or is_only else ()


def join_trees(request: PlanRequest) -> Iterable[Proposal]:
    """Binary joins."""
    problem, options = request.problem, request.options
    if "tree" not in options.kinds or problem.size < 2:
        return ()
    is_exact = request.is_least_work_best or not request.is_thorough
    goal, off = options.goal, options.off
    return tree_plans(problem, goal, off, is_exact=is_exact, every=request.is_thorough)


def meshes(request: PlanRequest) -> Iterable[Proposal]:
    """A mesh takes a second to find, which a plan that is forced need not wait for."""
    options = request.options
    is_wanted = options.plan is None or options.alternatives
    may_be = "mesh" in options.kinds - options.off
    if not (may_be and request.is_thorough and is_wanted):
        return ()
    ruster = ruster_seconds(request.problem.known.costs, options.engine)
    is_alone = options.kinds == {"mesh"}
    return mesh_plans(
        request.problem, request.multiway, is_alone=is_alone, search=options.mesh, ruster=ruster
    )


JOINS: tuple[Proposer, ...] = (multiway_joins, join_trees, meshes)


def _joins(request: PlanRequest) -> Iterator[Proposal]:
    for propose in JOINS:
        yield from propose(request)
