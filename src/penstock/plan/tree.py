"""Join trees: binary joins whose inner results are state of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.plan.multiway import Method
from penstock.query import Query


@dataclass(frozen=True)
class Leaf:
    """An input of the query."""

    alias: str


@dataclass(frozen=True)
class Branch:
    """A symmetric join of two sub-trees: what is new on either side probes the other's state.

    `method` is how both sides are searched, as in a `Probe`.
    """

    left: Node
    right: Node
    method: Method


Node = Leaf | Branch


@dataclass(frozen=True)
class TreeJoin:
    """Join two by two (V&N, A&N). An inner result lives until its first member dies.

    `early` are the inputs that are aggregated before they are joined (T&L), in the order of FROM.
    """

    query: Query
    root: Node
    drops: DropBoxes = NO_DROPS
    early: tuple[str, ...] = ()


def leaves(node: Node) -> tuple[str, ...]:
    """The inputs under a node, from left to right."""
    if isinstance(node, Leaf):
        return (node.alias,)
    return leaves(node.left) + leaves(node.right)


def branches(node: Node) -> Iterator[Branch]:
    """The joins of a tree, inner ones first."""
    if isinstance(node, Branch):
        yield from branches(node.left)
        yield from branches(node.right)
        yield node


def is_left_deep(node: Node) -> bool:
    """Whether every join has an input of the query on one of its sides."""
    if isinstance(node, Leaf):
        return True
    sides = (node.left, node.right)
    return any(isinstance(side, Leaf) for side in sides) and all(map(is_left_deep, sides))
