"""Trees of every size out of one: how well each tells the yields of tuples that it has not seen.

A tree that grows leaf by leaf, the most useful one first, passes through all smaller ones. So each
fold grows one tree, and what a smaller one would say is read off its inner nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.tree import DecisionTreeRegressor  # type: ignore[import-untyped]

from penstock.sampling.estimate import Floats, Int64s

FOLDS = 5
FEWEST = 5
"""A group of fewer tuples says nothing of how often its tuples pass a filter."""


def tree_of(leaves: int) -> DecisionTreeRegressor:
    """A tree of at most so many leaves."""
    return DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=FEWEST, random_state=0)


def errors_of_sizes(features: Floats, yields: Floats, sizes: Sequence[int]) -> Floats:
    """Mean squared errors: a row for each fold of tuples left out, a column for each size.

    A tree of one leaf says the mean.
    """
    rows = np.arange(len(yields))
    folds = np.array_split(rows, FOLDS)
    return np.array([list(_errors(features, yields, fold, sizes)) for fold in folds])


def _errors(
    features: Floats, yields: Floats, fold: Int64s, sizes: Sequence[int]
) -> Iterator[float]:
    """The errors on one fold of trees that were grown on the others."""
    is_seen = np.ones(len(yields), np.bool_)
    is_seen[fold] = False
    model = tree_of(max(sizes)).fit(features[is_seen], yields[is_seen])
    leaves = model.apply(features[fold])
    parents = _parents(model.tree_)
    said = model.tree_.value[:, :, 0]
    for size in sizes:
        off = said[_cut(parents, size)[leaves]] - yields[fold]
        yield float(np.mean(off * off))


def _parents(tree: object) -> Int64s:
    """The parent of each node; nodes are numbered as they came, so it has a smaller number."""
    left, right = tree.children_left, tree.children_right  # type: ignore[attr-defined]
    parents: Int64s = np.zeros(len(left), np.int64)
    inner = np.flatnonzero(left >= 0)
    parents[left[inner]] = parents[right[inner]] = inner
    return parents


def _cut(parents: Int64s, leaves: int) -> Int64s:
    """For each node, the leaf of the tree of so many leaves that it would be in.

    Each new leaf makes two nodes.
    """
    nodes = 2 * leaves - 1
    found: Int64s = np.arange(len(parents))
    for node in range(nodes, len(parents)):
        found[node] = found[parents[node]]
    return found
