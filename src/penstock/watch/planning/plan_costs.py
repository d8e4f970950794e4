"""The plan with its work: for each node, and for all of it, how often what is done and its cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from penstock.adapt.figures.steps import Step, steps_of
from penstock.errors import PenstockError
from penstock.optimize.algebra.posynomial import Posynomial
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import (
    Term,
    as_posynomial,
    delivery_of,
    settling_of,
    side_work,
    visits_of,
)
from penstock.plan.multiway import Method, MultiwayJoin, ProbeOrder
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan
from penstock.plan.tree import TreeJoin, branches, leaves
from penstock.stats.known import Known
from penstock.watch.log_view import LogView
from penstock.watch.plan_graph import CostTerm, PlanGraph, PlanNode
from penstock.watch.planning.asked import asked_of
from penstock.watch.planning.cost_terms import Reckoning, Work

MOST_INPUTS = 10
"""Joins of more inputs have tables of all their sets, which are too large for every batch."""

Place = tuple[str, int, str]


def with_costs(graph: PlanGraph, log: LogView, functions: str | None = None) -> PlanGraph:
    """The graph with the terms of all work and of each node, by the figures of now; as it is where
    the query cannot be planned here."""
    try:
        asked = asked_of(log, functions)
        plan = forced_plan(asked.query, graph.plan)
    except PenstockError:  # The plan is a mesh, or the query calls functions that are not here.
        return graph
    if len(plan.query.inputs) > MOST_INPUTS:
        return graph
    reckoning = Reckoning(plan, asked.known)
    works = dict(node_works(plan))
    nodes = tuple(
        _filtered(_with_terms(node, works, reckoning), graph, asked.known) for node in graph.nodes
    )
    return replace(graph, nodes=nodes, terms=reckoning.terms(partial(whole_work, plan)))


def _with_terms(node: PlanNode, works: Mapping[Place, Work], reckoning: Reckoning) -> PlanNode:
    work = works.get(node.place)
    return node if work is None else replace(node, terms=reckoning.terms(work))


def _filtered(node: PlanNode, graph: PlanGraph, known: Known) -> PlanNode:
    """A filter with what it takes: the rows that are expected to come to it, and its cost."""
    figures = known.conditions.get(node.name)
    came = sum(edge.estimated or 0.0 for edge in graph.edges if edge.end == node.id)
    if node.kind != "filter" or figures is None or not figures.cost.value:
        return node
    unit = figures.cost.value
    return replace(node, terms=(CostTerm("evaluate", came, unit, came * unit),))


def whole_work(plan: Plan, problem: Problem) -> float:
    """Seconds of work a second of a plan; the problem is behind its drop boxes."""
    return _value(load_of(problem, plan))


def node_works(plan: Plan) -> Iterator[tuple[Place, Work]]:
    """The work of inputs, probes and results of a plan, by their places; together it is all of it.

    There is none of meshes, recomputed views and views over ROWS windows: their work is not one
    operator's.
    """
    query = plan.query
    is_plain = not (query.view is not None and query.is_sequenced) and query.outer is None
    if isinstance(plan, MultiwayJoin) and plan.recompute is None and is_plain:
        yield from _of_multiway(plan)
    elif isinstance(plan, TreeJoin) and is_plain:
        yield from _of_tree(plan)
    else:
        return
    yield ("", 0, "results"), _handing


def _handing(problem: Problem) -> float:
    """The work of handing results over, in a view of adding them to their groups."""
    return _seconds(problem, delivery_of(problem))


def _screening(place: int, problem: Problem) -> float:
    """The work of receiving the tuples of an input, of its filters, and of folding it early."""
    flow = problem.inputs[place]
    return flow.raw_rate * flow.filter_cost


def _of_multiway(plan: MultiwayJoin) -> Iterator[tuple[Place, Work]]:
    for place, alias in enumerate(plan.query.aliases):
        mine = [order for order in plan.orders if order.driver == alias]
        yield (alias, 0, ""), partial(_comers, plan, place, mine)
    routes: Counter[str] = Counter()
    for order in plan.orders:
        for number, probe in enumerate(order.probes):
            at = (order.driver, routes[order.driver], probe.target)
            yield at, partial(_visit, order, number)
        routes[order.driver] += 1


def _comers(plan: MultiwayJoin, place: int, mine: list[ProbeOrder], problem: Problem) -> float:
    """The work of new tuples of an input before they visit others."""
    return _screening(place, problem) + _seconds(problem, settling_of(problem, plan, *mine))


def _visit(order: ProbeOrder, number: int, problem: Problem) -> float:
    """The work of one visit: what the order up to it takes more than that before it."""
    before, after = (replace(order, probes=order.probes[:n]) for n in (number, number + 1))
    return _seconds(problem, visits_of(problem, after)) - _seconds(
        problem, visits_of(problem, before)
    )


def _of_tree(plan: TreeJoin) -> Iterator[tuple[Place, Work]]:
    methods: dict[frozenset[str], Method] = {
        frozenset(leaves(branch)): branch.method for branch in branches(plan.root)
    }
    for number, alias in enumerate(plan.query.aliases):
        yield (alias, 0, ""), partial(_screening, number)
    for place, step in steps_of(plan).items():
        yield place, partial(_side, methods[step.bound | step.target], step)


def _side(method: Method, step: Step, problem: Problem) -> float:
    mine, other = problem.mask(step.bound), problem.mask(step.target)
    return _seconds(problem, side_work(problem, method, mine, other))


def _seconds(problem: Problem, terms: Iterable[Term]) -> float:
    return _value(as_posynomial(problem, terms))


def _value(load: Posynomial) -> float:
    """What it comes to where all is kept."""
    return sum(each.coefficient for each in load)
