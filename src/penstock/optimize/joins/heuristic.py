"""A&N's heuristic optimizer: the left-deep tree to shed from, grown bottom-up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.optimize.joins.enumerate import is_joinable, joined
from penstock.optimize.model.posynomial import Monomial, Posynomial, value
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.work import Term, as_posynomial, work_of
from penstock.optimize.shedding.fractions import best_drops
from penstock.optimize.shedding.keeping import floors
from penstock.plan.tree import Leaf, Node, TreeJoin

# Up to six inputs no more than twenty sets have the same size, and all are grown, as in the paper.
# Beyond, only the most promising few of a size are, since there are too many to shed from each.
ALL_SETS = 20
FEW_SETS = 8
SMALL = 6
# How exactly the boxes of a part of the plan are set; they are set anew as it grows.
ROUGHLY = 1e-2


@dataclass(frozen=True)
class _Part:
    """The best tree found for a set of inputs, with the fractions that its drop boxes keep."""

    mask: int
    tree: Node
    kept: tuple[float, ...]
    merit: float
    promise: tuple[float, float]


def heuristic_tree(problem: Problem) -> Node | None:
    """The left-deep tree of the most R(p) = output/utilization, as A&N §5.2 searches for it.

    Each set of inputs keeps one tree with its drop boxes, which stay when the tree grows: further
    shedding multiplies them. Exact where some left-deep tree needs no shedding. None where no tree
    can be shed enough.
    """
    level = [
        _Part(1 << i, Leaf(flow.alias), (1.0,) * problem.size, 0.0, (0.0, 0.0))
        for i, flow in enumerate(problem.inputs)
    ]
    width = ALL_SETS if problem.size <= SMALL else FEW_SETS
    for _ in range(problem.size - 1):
        level = sorted(_grown(problem, level), key=lambda part: part.promise)[:width]
    return level[0].tree if level else None


def _grown(problem: Problem, level: Sequence[_Part]) -> list[_Part]:
    """The best tree of each set that is one input larger."""
    best: dict[int, _Part] = {}
    for part in level:
        for larger in _extensions(problem, part):
            known = best.get(larger.mask)
            if known is None or larger.merit > known.merit:
                best[larger.mask] = larger
    return list(best.values())


def _extensions(problem: Problem, part: _Part) -> Iterator[_Part]:
    for i, flow in enumerate(problem.inputs):
        mask = part.mask | 1 << i
        if mask != part.mask and is_joinable(problem, mask):
            tree = joined(problem, part.tree, Leaf(flow.alias))
            if (larger := _shed(problem, mask, tree, part.kept)) is not None:
                yield larger


def _shed(problem: Problem, mask: int, tree: Node, kept: tuple[float, ...]) -> _Part | None:
    """The tree with its boxes closed as far as it must; None where they cannot be."""
    load = _behind(_load(problem, mask, tree), kept)
    full = _output(problem, mask)
    output = _behind(full, kept)
    lowest = [min(1.0, f / k) if k else 0.0 for f, k in zip(floors(problem), kept, strict=True)]
    capacity = problem.known.capacity.value
    found = best_drops(load, output, lowest, capacity, ROUGHLY, problem.effort)
    if found is None:
        return None
    boxes = tuple(k * x for k, x in zip(kept, found.fractions, strict=True))
    merit = found.output / found.load if found.load else float("inf")
    whole = value(full, (1.0,) * problem.size)
    # What part of its output a set has lost can be compared between sets, its R(p) cannot.
    lost = 1.0 - found.output / whole if whole else 0.0
    return _Part(mask, tree, boxes, merit, (lost, found.load))


def _load(problem: Problem, mask: int, tree: Node) -> Posynomial:
    """Seconds of work a second of a part of a plan, with the filters of its inputs."""
    filters = tuple(
        Monomial(problem.inputs[i].raw_rate * problem.inputs[i].filter_cost, frozenset({i}))
        for i in problem.members(mask)
        if problem.inputs[i].filter_cost
    )
    return as_posynomial(problem, work_of(problem, TreeJoin(problem.query, tree))) + filters


def _output(problem: Problem, mask: int) -> Posynomial:
    """Combinations/s of a set of inputs."""
    members = frozenset(problem.members(mask))
    return as_posynomial(
        problem,
        (
            Term(problem.fraction(mask), driver, members - {driver})
            for driver in members
            if problem.inputs[driver].rate
        ),
    )


def _behind(posynomial: Posynomial, kept: Sequence[float]) -> Posynomial:
    """The sum behind drop boxes that are already there."""
    return tuple(Monomial(m.at(kept), m.factors) for m in posynomial if m.at(kept) > 0.0)
