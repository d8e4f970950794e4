"""The profile of one stream: tuples that were routed at random, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import one_array
from penstock.engine.routes.classifying import as_codes, as_numbers, is_text
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.lab.kernels.eddy_loop import Router
from penstock.lab.kernels.profile_loop import BUCKETS, NOTHING, encode, teach

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

HISTORY = 500
"""The profiled tuples of a stream that the router goes by: the last so many."""


@dataclass
class JoinProfile:
    """The figures that the router has of one driver.

    `values[a]` is attribute a of the driver's rows, of which the first is the kernel's `start`;
    `are_texts` says which are codes. `rows` were profiled, with `tried` and `matched` by input;
    `bounds[a]` are those of the buckets by which they were learned.
    """

    driver: int
    start: int
    values: Floats
    are_texts: NDArray[np.bool_]
    rows: Int64s
    tried: Int32s
    matched: Int32s
    bounds: Floats

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= HISTORY

    def add(self, rows: Int64s, tried: Int32s, matched: Int32s) -> None:
        """Take in some more, and forget the oldest."""
        self.rows = np.concatenate([self.rows, rows])[-HISTORY:]
        self.tried = np.concatenate([self.tried, tried])[-HISTORY:]
        self.matched = np.concatenate([self.matched, matched])[-HISTORY:]

    def teach(self, router: Router) -> None:
        """Choose attributes and buckets anew, and let the router know what to expect."""
        if len(self.rows) and len(self.values):
            profiled = self.values[:, self.rows - self.start]
            attributes, expected = router.attributes[self.driver], router.expected[self.driver]
            counts = (self.tried, self.matched)
            teach(profiled, self.are_texts, *counts, self.bounds, attributes, expected)
            router.is_blind[self.driver] = (attributes == NOTHING).all()

    def look_at(self, first: int, end: int, router: Router) -> None:
        """Tell the router the buckets of the rows from `first` to before `end`."""
        router.known[self.driver] = end
        if len(self.rows):
            for a in set(router.attributes[self.driver].tolist()) - {NOTHING}:
                column = self.values[a, first - self.start : end - self.start]
                encode(column, self.bounds[a], router.codes[first:end, a])


def profile_of(driver: int, start: int, inputs: int, rows: pa.Table) -> JoinProfile:
    """A profile of nothing yet; attributes are all columns of the rows."""
    names = [name for name in rows.column_names if name not in (TS, ARRIVAL)]
    values, are_texts = np.empty((len(names), len(rows))), np.zeros(len(names), np.bool_)
    for a, name in enumerate(names):
        column = one_array(rows.column(name))
        if is_text(column.type):
            values[a], _ = as_codes(column)
            are_texts[a] = True
        else:
            values[a] = as_numbers(column)
    counts, bounds = np.zeros((0, inputs), np.int32), np.zeros((len(names), BUCKETS - 1))
    return JoinProfile(
        driver, start, values, are_texts, np.empty(0, np.int64), counts, counts, bounds
    )
