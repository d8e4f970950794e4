"""Cover: which points of a view rows cover, and what is over each of them together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.accumulators import as_rows, chosen, ranks
from penstock.kernels.aggregates.wide_numbers import narrowed
from penstock.kernels.covering import (
    bits_over,
    counts_over,
    least_over,
    rows_over,
    sums_over,
    words_over,
)
from penstock.kernels.exact_sum import Words, as_words, from_words

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cover:
    """Which of a number of points each row covers: `lengths` of them, from `starts` on."""

    starts: Int64s
    lengths: Int64s
    points: int

    def bounds(self, rows: Int64s) -> tuple[Int64s, Int64s]:
        """The first point that each of some rows covers, and the one after the last."""
        starts = self.starts[rows]
        return starts, starts + self.lengths[rows]

    def counts(self, lane: pa.Array) -> Int64s:
        """The sum of counts over each point."""
        return counts_over(self.starts, self.lengths, self.points, lane.to_numpy())

    def sums(self, high: pa.Array, low: pa.Array) -> tuple[Floats, Floats]:
        """The exact sum over each point."""
        return sums_over(self.starts, self.lengths, self.points, high.to_numpy(), low.to_numpy())

    def decimals(self, sums: pa.Array) -> pa.Array:
        """The exact sum of DECIMALs over each point."""
        words = words_over(self.starts, self.lengths, self.points, as_words(sums))
        return from_words(words, sums.type.scale)

    def words(self, lane: pa.Array) -> Words:
        """The exact sum of wide numbers over each point, one a row."""
        return narrowed(
            as_rows(lane), lambda words: words_over(self.starts, self.lengths, self.points, words)
        )

    def rows(self, lane: pa.Array) -> Floats:
        """The sum of lists over each point, one a row."""
        return rows_over(self.starts, self.lengths, self.points, as_rows(lane))

    def bits(self, lane: pa.Array) -> Int64s:
        """The bits of any row over each point."""
        return bits_over(self.starts, self.lengths, self.points, lane.to_numpy())

    def extremes(self, values: pa.Array, *, is_max: bool) -> pa.Array:
        """The least or largest value over each point, NULL where there is none."""
        rows = least_over(self.starts, self.lengths, self.points, *ranks(values, is_max=is_max))
        return chosen(values, rows)
