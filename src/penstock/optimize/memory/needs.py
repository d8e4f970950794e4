"""The bytes that windows, their indexes and inner results take, as the laboratory keeps them."""

from __future__ import annotations

from penstock.optimize.model.problem import Problem
from penstock.plan.tree import TreeJoin, branches, leaves

_ROW, _KEY, _LINK, _BUCKET = 16, 8, 8, 4
"""Bytes of a tuple's two times, of each key, of its place in a chain, and of a bucket."""
_INNER, _MEMBER = 28, 4
"""Bytes of an inner result, and of each of its members."""


def window_bytes(problem: Problem) -> dict[str, float]:
    """What each window's tuples take, without an index."""
    return {
        flow.alias: flow.window * (_ROW + _KEY * keys_of(problem, flow.alias))
        for flow in problem.inputs
    }


def index_bytes(tuples: float, tables: int, buckets: int) -> float:
    """What so many hash tables over a window take: a link for each tuple, and the buckets."""
    return tables * (_LINK * tuples + _BUCKET * buckets)


def inner_bytes(problem: Problem, plan: TreeJoin) -> float:
    """What the inner results of a tree take, with their own buckets."""
    inner = (problem.mask(leaves(b)) for b in branches(plan.root) if b is not plan.root)
    each = _INNER + _MEMBER * problem.size + 2 * _BUCKET
    return sum(float(problem.alive[mask]) * each for mask in inner)


def keys_of(problem: Problem, alias: str) -> int:
    """The key classes that an input has."""
    mine = problem.mask([alias])
    return sum(bool(mask & mine) for mask in problem.key_masks)


def full_buckets(tuples: float) -> int:
    """About a bucket for each tuple: a power of two."""
    return int(1 << max(0, round(tuples) - 1).bit_length())
