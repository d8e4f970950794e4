"""A&N's heuristic optimizer: the tree to shed from, grown bottom-up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product, takewhile

from penstock.optimize.algebra.posynomial import Monomial, Posynomial, value
from penstock.optimize.joins.enumerate import is_joinable, joined
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
# The part of the evaluations after which the search goes on with one set, grown by the input that
# leaves the fewest inner results: it ends with a tree however many inputs there are.
SHARE = 0.3


@dataclass(frozen=True)
class _Part:
    """The best tree found for a set of inputs, with the fractions that its drop boxes keep."""

    mask: int
    tree: Node
    kept: tuple[float, ...]
    merit: float
    promise: tuple[float, float]


def heuristic_tree(problem: Problem, *, is_bushy: bool = False) -> Node | None:
    """The tree of the most R(p) = output/utilization, as A&N §5.2 searches for it: left-deep, or,
    beyond the paper, of any form.

    Each set of inputs keeps one tree with its drop boxes, which stay when the tree grows: further
    shedding multiplies them. Exact where some such tree needs no shedding. None where no tree can
    be shed enough.
    """
    effort = problem.effort
    enough = effort.evaluations + SHARE * effort.most
    levels = [
        [
            _Part(1 << i, Leaf(flow.alias), (1.0,) * problem.size, 0.0, (0.0, 0.0))
            for i, flow in enumerate(problem.inputs)
        ]
    ]
    width = ALL_SETS if problem.size <= SMALL else FEW_SETS
    for size in range(2, problem.size + 1):
        pairs = _pairs(problem, levels, size // 2 if is_bushy else 1)
        affordable = takewhile(lambda _: effort.evaluations < enough, pairs)
        larger = _best(problem, affordable)
        if not larger and effort.evaluations >= enough:
            larger = _hurried(problem, levels)
        levels.append(sorted(larger, key=lambda part: part.promise)[:width])
    return levels[-1][0].tree if levels[-1] else None


def _pairs(
    problem: Problem, levels: Sequence[Sequence[_Part]], most: int
) -> Iterator[tuple[_Part, _Part]]:
    """The parts that make a set of the next size, the smaller of at most so many inputs."""
    for smaller in range(most):
        larger = len(levels) - 1 - smaller
        for one, other in product(levels[larger], levels[smaller]):
            is_first = larger != smaller or one.mask < other.mask
            is_apart = is_first and not one.mask & other.mask
            if is_apart and is_joinable(problem, one.mask | other.mask):
                yield one, other


def _best(problem: Problem, pairs: Iterable[tuple[_Part, _Part]]) -> list[_Part]:
    """The best tree of each set that pairs of parts make."""
    best: dict[int, _Part] = {}
    for one, other in pairs:
        found = _joined(problem, one, other)
        known = best.get(one.mask | other.mask)
        if found is not None and (known is None or found.merit > known.merit):
            best[found.mask] = found
    return list(best.values())


def _hurried(problem: Problem, levels: Sequence[Sequence[_Part]]) -> list[_Part]:
    """The most promising set, grown by the input that leaves the fewest results; its drop boxes are
    left as they are."""
    pairs = _pairs(problem, (*levels[:-1], levels[-1][:1]), 1)
    best = min(pairs, key=lambda pair: problem.rates[pair[0].mask | pair[1].mask], default=None)
    if best is None:
        return []
    one, other = best
    return [replace(one, mask=one.mask | other.mask, tree=joined(problem, one.tree, other.tree))]


def _joined(problem: Problem, one: _Part, other: _Part) -> _Part | None:
    tree = joined(problem, one.tree, other.tree)
    kept = tuple(x * y for x, y in zip(one.kept, other.kept, strict=True))
    return _shed(problem, one.mask | other.mask, tree, kept)


def _shed(problem: Problem, mask: int, tree: Node, kept: tuple[float, ...]) -> _Part | None:
    """The tree with its boxes closed as far as it must; None where they cannot be."""
    problem.effort.evaluations += 1
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
