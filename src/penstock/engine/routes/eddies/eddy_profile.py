"""The profile of an eddy: which tuples pass which filter, by the attribute that tells the most.

Content-based routing: for every filter the attribute with the highest gain ratio, and the part of
the tuples that pass by its values (QM §6, after Bizarro et al.).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import one_array
from penstock.engine.routes.classifying import as_numbers, is_text

Int64s = NDArray[np.int64]
Float64s = NDArray[np.float64]

KEPT = 1_000
"""Sampled tuples that are remembered: a dozen buckets then have some eighty each."""
BUCKETS = 12
"""Parts into which the values of a number are cut, of the same size."""
MOST_TEXTS = 32
"""Different texts that are told apart; the others are one."""
PRIOR = 4.0
"""Tuples that a bucket is thought to have seen before, passing as all of them do: few say little.
"""


@dataclass(frozen=True)
class Buckets:
    """The values of one attribute in parts: texts, or numbers up to each of `edges`.

    One more part is of NULL, NaN and all that is not known.
    """

    attribute: str
    edges: Float64s
    texts: pa.Array | None

    @classmethod
    def of(cls, attribute: str, column: pa.Array) -> Buckets:
        """The parts of a sample."""
        if is_text(column.type):
            counts = column.drop_null().value_counts()
            order = np.argsort(-counts.field("counts").to_numpy(), kind="stable")[:MOST_TEXTS]
            return cls(attribute, np.empty(0), counts.field("values").take(pa.array(order)))
        numbers = as_numbers(column)
        known = numbers[~np.isnan(numbers)]
        cuts = np.arange(1, BUCKETS) / BUCKETS
        edges = np.unique(np.quantile(known, cuts, method="lower")) if len(known) else np.empty(0)
        return cls(attribute, edges, None)

    @property
    def size(self) -> int:
        return 2 + len(self.edges) if self.texts is None else 1 + len(self.texts)

    def places(self, rows: pa.RecordBatch) -> Int64s:
        """The part of each tuple."""
        column = one_array(rows.column(self.attribute))
        if self.texts is not None:
            found = pc.index_in(column, value_set=self.texts).fill_null(len(self.texts))
            places: Int64s = found.to_numpy().astype(np.int64)
            return places
        numbers = as_numbers(column)
        places = np.searchsorted(self.edges, numbers)
        places[np.isnan(numbers)] = self.size - 1
        return places


@dataclass(frozen=True)
class Table:
    """How good a filter is next, by the part of its attribute that a tuple is in."""

    buckets: Buckets
    ranks: Float64s

    def look_up(self, rows: pa.RecordBatch) -> Float64s:
        """The rank of the filter for each tuple."""
        return self.ranks[self.buckets.places(rows)]


@dataclass(frozen=True)
class EddyProfile:
    """Tuples that were routed at random: their attributes, and whether they passed each filter.

    `passed[t, f]` is 1 or 0, or −1 if the tuple did not come to the filter. `rows` and `seconds`
    are how much work each filter has done.
    """

    tuples: pa.RecordBatch | None
    passed: NDArray[np.int8]
    rows: Float64s
    seconds: Float64s

    @classmethod
    def empty(cls, seconds: Sequence[float]) -> EddyProfile:
        """Nothing known but what a row is said to take in each filter."""
        none = np.empty((0, len(seconds)), np.int8)
        return cls(None, none, np.ones(len(seconds)), np.array(seconds))

    def __len__(self) -> int:
        return len(self.passed)

    def joined(self, other: EddyProfile) -> EddyProfile:
        """Both together; of the tuples only the last ones."""
        parts = [part for part in (self.tuples, other.tuples) if part is not None]
        both = pa.concat_batches(parts) if parts else None
        tuples = both and both.slice(max(0, len(self) + len(other) - KEPT))
        passed = np.concatenate([self.passed, other.passed])[-KEPT:]
        return EddyProfile(tuples, passed, self.rows + other.rows, self.seconds + other.seconds)

    def tables(self) -> tuple[Table, ...]:
        """A table for each filter; none as long as nothing is known."""
        if self.tuples is None or not self.tuples.num_columns:
            return ()
        names = self.tuples.schema.names
        cut = [Buckets.of(name, self.tuples.column(name)) for name in names]
        places = [buckets.places(self.tuples) for buckets in cut]
        costs = self.seconds / self.rows
        return tuple(
            _table(cut, places, self.passed[:, number], float(costs[number]))
            for number in range(self.passed.shape[1])
        )


def _table(
    cut: list[Buckets], places: list[Int64s], passed: NDArray[np.int8], seconds: float
) -> Table:
    """Ranks (1 − part that pass) / seconds by the attribute that tells the most of a filter."""
    seen = passed >= 0
    counts = [_counts(b.size, at[seen], passed[seen]) for b, at in zip(cut, places, strict=True)]
    best = int(np.argmax(gain_ratios(counts)))
    failing, passing = counts[best]
    overall = (passing.sum() + 1.0) / (seen.sum() + 2.0)
    rates = (passing + PRIOR * overall) / (failing + passing + PRIOR)
    return Table(cut[best], (1.0 - rates) / seconds)


def _counts(size: int, places: Int64s, passed: NDArray[np.int8]) -> Float64s:
    """How many fail (first row) and pass (second) in each part."""
    sides = [np.bincount(places[passed == side], minlength=size) for side in (0, 1)]
    return np.stack(sides).astype(np.float64)


def gain_ratios(counts: Sequence[Float64s]) -> Float64s:
    """The gain ratio of each attribute (Quinlan): what it tells of a filter by what it tells.

    An attribute that tells less than the average has no ratio: else one with hardly any parts wins.
    """
    gains = np.array([_entropy(c.sum(axis=1)) - _left(c) for c in counts])
    splits = np.array([_entropy(c.sum(axis=0)) for c in counts])
    ratios = np.divide(gains, splits, out=np.zeros(len(gains)), where=splits > 0)
    return np.where(gains >= gains.mean() - 1e-12, ratios, -1.0)


def _left(counts: Float64s) -> float:
    """The entropy of passing that is left once the part is known."""
    sizes = counts.sum(axis=0)
    total = max(float(sizes.sum()), 1.0)
    return float(sum(n / total * _entropy(counts[:, i]) for i, n in enumerate(sizes)))


def _entropy(counts: Float64s) -> float:
    total = counts.sum()
    parts = counts[counts > 0] / total if total else counts[:0]
    return float(-(parts * np.log2(parts)).sum())
