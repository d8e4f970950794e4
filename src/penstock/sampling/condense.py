"""Many sampled tuples as few: groups that are alike in content and in behaviour (QM §4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.sampling.estimate import Floats, Int64s
from penstock.sampling.sample import FEW_TEXTS
from penstock.sampling.tree_sizes import FEWEST, FOLDS, errors_of_sizes, tree_of
from penstock.stats.training import Value

MOST_TUPLES = 100
"""A search over partitions of more training tuples takes longer than it finds better ones."""
_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, MOST_TUPLES)
_DIGITS = 6
_ROUNDING = 1e-9
"""Yields that are less apart are the same: the deviation of equal numbers is not exactly 0."""

Limits = Mapping[str, Sequence[float]]
"""By attribute, the numbers at which it is parted; of a text, that it is."""


@dataclass(frozen=True)
class Condensed:
    """Training tuples: values of attributes, weights that add up to 1, and mean yields."""

    values: tuple[tuple[Value, ...], ...]
    weights: tuple[float, ...]
    yields: tuple[tuple[float, ...], ...]


_LARGEST = float(np.finfo(np.float32).max)


def attributes_in(rows: pa.Table) -> dict[str, pa.Array]:
    """The columns that may tell tuples apart: numbers (a boolean is 0 or 1, a time its
    microseconds, a date its days), and texts of few values; none that is constant."""
    columns = {name: _plain(rows.column(name).combine_chunks()) for name in rows.column_names}
    return {name: c for name, c in columns.items() if c is not None and _different(c) > 1}


def condense(attributes: Mapping[str, pa.Array], yields: Floats) -> Condensed:
    """At most a hundred groups of tuples in random order; `yields` has a row for each tuple.

    The groups are the leaves of a regression tree of the yields on the attributes, as few as tell
    the yields of tuples that it has not seen about as well as the best number of them. So tuples
    whose yields differ by chance are one group.
    """
    owners = [name for name, column in attributes.items() for _ in _features(column)]
    features = np.column_stack([f for c in attributes.values() for f in _features(c)])
    # Trees hold numbers in four bytes.
    features = np.clip(features, -_LARGEST, _LARGEST)
    groups, limits = _leaves(features, yields, owners)
    texts = [c for name, c in attributes.items() if _is_text(c) and name in limits]
    finer = _numbered([groups, *(_codes(text) for text in texts)])
    # A text that stands for no training tuple would be unknown to the classifier.
    if finer.max() < MOST_TUPLES:
        groups = finer
    members = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
    ends = _ends(attributes, limits, members)
    if sum(map(len, ends)) > MOST_TUPLES:
        # So many groups are small: their middles must do.
        ends = _ends(attributes, dict.fromkeys(limits, ()), members)
    return Condensed(
        values=tuple(values for each in ends for values in each),
        weights=tuple(
            _short(len(rows) / len(groups) / len(each))
            for rows, each in zip(members, ends, strict=True)
            for _ in each
        ),
        yields=tuple(
            tuple(map(_short, yields[rows].mean(axis=0)))
            for rows, each in zip(members, ends, strict=True)
            for _ in each
        ),
    )


def _leaves(features: Floats, yields: Floats, owners: Sequence[str]) -> tuple[Int64s, Limits]:
    """The number of each tuple's group, and what tells the groups apart.

    `owners` are the attributes that the features come from.
    """
    one: Int64s = np.zeros(len(yields), np.int64)
    # Yields of probes may be orders of magnitude apart.
    scaled = np.log1p(yields)
    differs = np.ptp(scaled, axis=0) > _ROUNDING
    if not differs.any() or len(yields) < FOLDS * FEWEST:
        return one, {}
    scaled = scaled[:, differs] / scaled[:, differs].std(axis=0)
    errors = errors_of_sizes(features, scaled, _SIZES)
    means = errors.mean(axis=0)
    best = int(means.argmin())
    enough = means[best] + errors[:, best].std(ddof=1) / np.sqrt(FOLDS)
    size = _SIZES[int(np.argmax(means <= enough))]
    if size == 1:
        return one, {}
    model = tree_of(size)
    grown = model.fit(features, scaled).tree_
    limits: dict[str, list[float]] = {}
    for feature, limit in zip(grown.feature, grown.threshold, strict=True):
        if feature >= 0:
            limits.setdefault(owners[feature], []).append(float(limit))
    return _numbered([model.apply(features)]), limits


def _ends(
    attributes: Mapping[str, pa.Array], limits: Limits, members: Sequence[Int64s]
) -> list[list[tuple[Value, ...]]]:
    """The values that stand for each group, once or twice: where other groups begin.

    A classifier tests half-way between the training tuples of two groups: their middles would put
    the limit somewhere else than where it was found. What tells no groups apart has the same value
    in all of them, for among so few a classifier would else go by chance.
    """
    by_attribute = [
        [_both(column, rows, limits[name]) for rows in members]
        if name in limits
        else [_twice(_middle(column, np.arange(len(column))))] * len(members)
        for name, column in attributes.items()
    ]
    groups = zip(*by_attribute, strict=True)
    return [list(dict.fromkeys(zip(*group, strict=True))) for group in groups]


def _both(column: pa.Array, rows: Int64s, limits: Sequence[float]) -> tuple[Value, Value]:
    """The values of a group that are next to the groups below and above it, if there are any."""
    middle = _middle(column, rows)
    if middle is None or isinstance(middle, str):
        return middle, middle
    own = column.take(pa.array(rows)).drop_null().to_numpy()
    low, high = float(own.min()), float(own.max())
    has_below = any(limit < low for limit in limits)
    has_above = any(high <= limit < np.inf for limit in limits)
    if has_below and has_above:
        return low, high
    return _twice(low if has_below else high if has_above else middle)


def _twice(value: Value) -> tuple[Value, Value]:
    return value, value


def _plain(column: pa.Array) -> pa.Array | None:
    kind = column.type
    if pa.types.is_large_binary(kind) or pa.types.is_nested(kind):
        return None
    if pa.types.is_large_string(kind):
        return column if _different(column) <= FEW_TEXTS else None
    if pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    numbers = pc.cast(column, pa.float64(), safe=False)
    return pc.if_else(pc.is_finite(numbers), numbers, None)


def _different(column: pa.Array) -> int:
    return int(pc.count_distinct(column, mode="all").as_py())


def _is_text(column: pa.Array) -> bool:
    return bool(pa.types.is_large_string(column.type))


def _features(column: pa.Array) -> Iterator[Floats]:
    """A number as it is, NULL as NaN; a text as one column for each of its values."""
    if not _is_text(column):
        yield column.to_numpy(zero_copy_only=False)
        return
    codes = _codes(column)
    for code in range(int(codes.max()) + 1):
        yield (codes == code).astype(np.float64)


def _codes(column: pa.Array) -> Int64s:
    """A number for each value of a text, NULL included."""
    codes = column.dictionary_encode(null_encoding="encode").indices
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)


def _numbered(parts: Sequence[Int64s]) -> Int64s:
    """Numbers from 0, the same where all parts are."""
    _, numbers = np.unique(np.column_stack(parts), axis=0, return_inverse=True)
    return np.asarray(numbers.reshape(-1), np.int64)


def _middle(column: pa.Array, rows: Int64s) -> Value:
    """The value that stands for those of a group: the most frequent text, the median number."""
    own = column.take(pa.array(rows))
    if 2 * own.null_count > len(own):
        return None
    if not _is_text(column):
        return float(np.median(own.drop_null().to_numpy()))
    counts = own.drop_null().value_counts().to_pylist()
    return str(min(counts, key=lambda each: (-each["counts"], each["values"]))["values"])


def _short(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")
