"""A tree as a network of queues: a server for each of its joins and filters (V&N)."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from penstock.figure import Figure
from penstock.optimize.model.flow import Flow
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem, gain
from penstock.optimize.model.work import (
    arrival_seconds,
    candidate_seconds,
    delivery_of,
    handling_seconds,
    keep_seconds,
)
from penstock.papers.curve import Curve
from penstock.papers.fluid import curve
from penstock.papers.network import Filter, Join, JoinCosts, Source, Table
from penstock.papers.network import Node as Operator
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin, leaves
from penstock.query import TimeWindow


def network_curve(problem: Problem, plan: TreeJoin, until: float) -> Curve:
    """The results of a tree up to a time, which may be infinite where all streams end."""
    folded = with_early(problem, plan.early)
    found = curve(network_of(folded, plan.root), until, "each")
    return _unfolded(problem, folded, plan, found) if plan.early else found


def _unfolded(problem: Problem, folded: Problem, plan: TreeJoin, found: Curve) -> Curve:
    """The results that rows of the join stand for where inputs are folded: those of the tuples
    that had come when, had nothing waited, there would have been as many rows."""
    rows, results = (
        curve(network_of(_at_once(each), plan.root), found.until, "each")
        for each in (folded, problem)
    )
    came = np.interp(found.counts, rows.counts, rows.times)
    counts = np.interp(came, results.times, results.counts)
    return Curve(found.times, counts, found.until)


def _at_once(problem: Problem) -> Problem:
    """The problem with servers that take no time."""
    return replace(problem, known=replace(problem.known, capacity=Figure(inf, "declared")))


def network_of(problem: Problem, root: Node) -> Operator:
    """The operators of a tree, with their costs on a server of the capacity each."""
    if isinstance(root, Leaf):
        return _input(problem, root.alias)
    return _join(problem, root, is_root=True)


def _operator(problem: Problem, node: Node) -> Operator:
    return (
        _input(problem, node.alias)
        if isinstance(node, Leaf)
        else _join(problem, node, is_root=False)
    )


def _input(problem: Problem, alias: str) -> Operator:
    """A stream and its filters, which are one operator."""
    flow = problem.inputs[problem.places[alias]]
    if flow.is_table:
        return Table(flow.window)
    passing = flow.rate / flow.raw_rate if flow.raw_rate else 0.0
    rows = inf if flow.shrinks else flow.window / (passing or 1.0)
    cardinality = inf if flow.cardinality is None else flow.cardinality
    source = Source(flow.raw_rate, cardinality, _extent(problem, flow), rows)
    return Filter(source, passing, flow.filter_cost / problem.known.capacity.value)


def _extent(problem: Problem, flow: Flow) -> float:
    match problem.query.input(flow.alias).window:
        case TimeWindow(extent=None):
            return inf
    return inf if flow.extent is None else flow.extent


def _join(problem: Problem, branch: Branch, *, is_root: bool) -> Join:
    left, right = problem.mask(leaves(branch.left)), problem.mask(leaves(branch.right))
    capacity, sides = problem.known.capacity.value, problem.sides
    arrival = arrival_seconds(problem, branch.method) + handling_seconds(problem, left, right)
    key = None if branch.method == "nested" else problem.shared_key(left, right)
    pair = candidate_seconds(problem, left, right, key)
    if is_root:
        pair += next((term.weight for term in delivery_of(problem)), 0.0)
    apart = problem.fraction(left) * problem.fraction(right)
    return Join(
        _operator(problem, branch.left),
        _operator(problem, branch.right),
        float(gain(problem.fractions, left, right)),
        JoinCosts(
            (arrival + keep_seconds(problem, left) + sides.arrival(left, right)) / capacity,
            (arrival + keep_seconds(problem, right) + sides.arrival(right, left)) / capacity,
            pair / apart / capacity if apart else 0.0,
            looks_at_all=True,
        ),
    )
