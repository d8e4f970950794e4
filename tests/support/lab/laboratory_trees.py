"""Trees for the laboratory."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from penstock.plan.multiway import Method
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin
from penstock.query import (
    Query,
    TimeWindow,
)
from reference import Row
from support.lab.laboratory import SECOND, common_case
from support.streams.cases import Case


def random_tree(rng: Random, query: Query) -> TreeJoin:
    """Any shape, with any method and products where the predicates do not link both sides."""
    nodes: list[Node] = [Leaf(alias) for alias in query.aliases]
    while len(nodes) > 1:
        left, right = (nodes.pop(rng.randrange(len(nodes))) for _ in range(2))
        nodes.append(Branch(left, right, rng.choice(("sorted", "hash", "nested"))))
    return TreeJoin(query, nodes[0])


def tree_of(query: Query, shape: object, method: Method) -> TreeJoin:
    """`(("A", "B"), "C")` as a tree of one method."""

    def node(part: object) -> Node:
        match part:
            case (left, right):
                return Branch(node(left), node(right), method)
        return Leaf(str(part))

    return TreeJoin(query, node(shape))


def three_streams(seconds: dict[str, list[int]], window: int) -> Case:
    """Tuples of one key at these seconds, all of which join."""
    case = common_case()
    inputs = [replace(i, window=TimeWindow(window * SECOND)) for i in case.query.inputs[:3]]
    query = replace(
        case.query,
        inputs=tuple(inputs),
        outputs=case.query.outputs[:3],
        equalities=case.query.equalities[:2],
    )
    batches = {
        alias: [[Row(s * SECOND, n, {"id": s, "k": 1}) for n, s in enumerate(times)]]
        for alias, times in seconds.items()
    }
    return Case(query, batches)


def hand_made() -> Case:
    """A0 A1 B2 C3 B4, alive for three seconds: A0 dies at B4, and so does A0B2."""
    return three_streams({"A": [0, 1], "B": [2, 4], "C": [3]}, window=3)
