"""Every join tree of a query, up to which side is left and which is right."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.optimize.model.problem import Problem
from penstock.plan.multiway import Method
from penstock.plan.tree import Branch, Leaf, Node, leaves


def all_trees(problem: Problem, mask: int | None = None) -> Iterator[Node]:
    """All left-deep and bushy trees, products included: 1, 3, 15, 105 … for 2, 3, 4, 5 inputs."""
    mask = problem.everything if mask is None else mask
    low = mask & -mask
    if mask == low:
        yield Leaf(problem.query.aliases[low.bit_length() - 1])
        return
    for part in submasks(mask ^ low):
        first, second = mask ^ part, part
        if part and is_joinable(problem, first) and is_joinable(problem, second):
            for left in all_trees(problem, first):
                for right in all_trees(problem, second):
                    yield joined(problem, left, right)


def left_deep_trees(problem: Problem, mask: int | None = None) -> Iterator[Node]:
    """All trees in which every join has an input on one side: n!/2 of them."""
    mask = problem.everything if mask is None else mask
    members = problem.members(mask)
    if len(members) == 1:
        yield Leaf(problem.query.aliases[members[0]])
        return
    for last in members:
        rest = mask ^ (1 << last)
        if len(members) == 2 and last != members[1]:
            continue
        if is_joinable(problem, rest):
            for tree in left_deep_trees(problem, rest):
                yield joined(problem, tree, Leaf(problem.query.aliases[last]))


def joined(problem: Problem, left: Node, right: Node) -> Branch:
    """The join of two trees, the larger or else the earlier in FROM to the left; by key if it can.

    `(B (A C))` and `((C A) B)` are both written `((A C) B)`.
    """
    one, other = problem.mask(leaves(left)), problem.mask(leaves(right))
    rank = (-one.bit_count(), one & -one) > (-other.bit_count(), other & -other)
    method: Method = "sorted" if problem.linked(one, other) else "nested"
    return Branch(right, left, method) if rank else Branch(left, right, method)


def is_joinable(problem: Problem, mask: int) -> bool:
    """Whether a set may be an inner result: tables alone would be a product that never changes."""
    members = problem.members(mask)
    return len(members) == 1 or any(not problem.inputs[i].is_table for i in members)


def submasks(mask: int) -> Iterator[int]:
    """The subsets of a set, itself and the empty one included."""
    part = mask
    while True:
        yield part
        if not part:
            return
        part = (part - 1) & mask
