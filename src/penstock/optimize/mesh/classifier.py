"""A decision tree that gives tuples their routes: grown by information gain, pruned by cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from penstock.optimize.mesh.columns import Column, Labels, Numbers, Texts, tree_columns
from penstock.papers.query_mesh import Floats
from penstock.plan.mesh import Fork, Goes, Split
from penstock.stats.training import Value

# A split that saves less of the single route's cost fits the noise of the sample: among a hundred
# training tuples, one that is half as dear on some other route by chance is worth so much.
SPLIT_GAIN = 0.01

_LEAF = -1


@dataclass(frozen=True)
class Classifier:
    """A pruned tree. Of every node: its column, threshold and sub-trees, `goes` (the route of a
    leaf, else −1), and of every training tuple the route it takes and the levels it passes."""

    columns: list[Column]
    feature: list[int]
    threshold: list[float]
    low: list[int]
    high: list[int]
    goes: list[int]
    taken: Labels
    levels: Labels

    def fork(self, numbers: dict[int, int], node: int = 0) -> Fork:
        """The tree as a plan has it, with routes numbered anew."""
        if self.goes[node] != _LEAF:
            return Goes(numbers[self.goes[node]])
        low, high = self.fork(numbers, self.low[node]), self.fork(numbers, self.high[node])
        return self.columns[self.feature[node]].split(self.threshold[node], low, high)


def induce(
    attributes: list[Numbers | Texts],
    weights: Floats,
    costs: Floats,
    labels: Labels,
    level: float,
    least: float,
) -> Classifier:
    """The classifier for labelled tuples (QM §4.4).

    `costs[t, r]` are the seconds that tuple t takes on route r, `level` those of a test, `least`
    what a split must save, in seconds a tuple. A leaf takes the cheapest route for its tuples.
    """
    columns = tree_columns(attributes, weights, labels)
    codes = np.column_stack([column.codes for column in columns])
    grown = _grown(codes, labels, weights)
    leaves = grown.apply(codes)
    low, high = grown.children_left.tolist(), grown.children_right.tolist()
    goes = _pruned(low, high, leaves, weights, costs, level, least)
    ends, depths = _ends(low, high, goes)
    reached = ends[leaves]
    return Classifier(
        columns,
        grown.feature.tolist(),
        grown.threshold.tolist(),
        low,
        high,
        goes,
        np.array(goes)[reached],
        depths[reached],
    )


def _grown(codes: NDArray[np.float32], labels: Labels, weights: Floats) -> Any:
    """scikit-learn's tree, with children numbered after their parents."""
    # Here, because plans without a mesh should not wait a second for this import.
    from sklearn import config_context  # type: ignore[import-untyped]
    from sklearn.tree import DecisionTreeClassifier  # type: ignore[import-untyped]

    tree = DecisionTreeClassifier(criterion="entropy", random_state=0)
    # The codes are finite and of the right type; to check them takes longer than to grow the tree.
    with config_context(assume_finite=True, skip_parameter_validation=True), catch_warnings():
        # A search may begin with a route for every tuple: so many classes are meant here.
        simplefilter("ignore", UserWarning)
        return tree.fit(codes, labels, sample_weight=weights, check_input=False).tree_


def _pruned(
    low: list[int],
    high: list[int],
    leaves: Labels,
    weights: Floats,
    costs: Floats,
    level: float,
    least: float,
) -> list[int]:
    """The route of each node that is to be a leaf, −1 for those that go on.

    From below: a sub-tree stays if it saves more than its tests take (QM Eq. 2) and `least` for
    each of its splits.
    """
    count = len(low)
    by_route = np.zeros((count, costs.shape[1]))
    np.add.at(by_route, leaves, costs * weights[:, None])
    share = np.bincount(leaves, weights, count)
    goes, total, splits = [_LEAF] * count, [0.0] * count, [0] * count
    for node in reversed(range(count)):
        left, right = low[node], high[node]
        if left != _LEAF:
            by_route[node] = by_route[left] + by_route[right]
            share[node] = share[left] + share[right]
            total[node] = total[left] + total[right] + level * share[node]
            splits[node] = 1 + splits[left] + splits[right]
        route = int(by_route[node].argmin())
        alone = float(by_route[node, route])
        if left == _LEAF or not alone - total[node] > least * splits[node]:
            goes[node], total[node], splits[node] = route, alone, 0
    return goes


def _ends(low: list[int], high: list[int], goes: list[int]) -> tuple[Labels, Labels]:
    """For each grown node: the node where the pruned tree ends on the way there, and its depth."""
    ends, depths = np.zeros(len(low), np.int64), np.zeros(len(low), np.int64)
    for node, children in enumerate(zip(low, high, strict=True)):
        is_end = goes[ends[node]] != _LEAF
        for child in children:
            if child != _LEAF:
                ends[child] = ends[node] if is_end else child
                depths[child] = depths[node] if is_end else depths[node] + 1
    return ends, depths


def takes(fork: Fork, names: tuple[str, ...], values: tuple[Value, ...]) -> int:
    """The route that a classifier gives a tuple."""
    while isinstance(fork, Split):
        fork = fork.passed if _passes(fork, values[names.index(fork.attribute)]) else fork.failed
    return fork.route


def _passes(split: Split, value: Value) -> bool:
    if isinstance(value, str) or value is None:
        return value in split.values
    return split.limit is not None and value <= split.limit
