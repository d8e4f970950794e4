"""Streams of random tuples for the laboratory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.duration import MICROS
from penstock.engine.rows.columns import ARRIVAL, TS

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Stream:
    """A stream of `rate` tuples/s, whose columns are drawn from so many values each.

    It ends after `cardinality` tuples. With `poisson`, the times between tuples are exponential.
    """

    rate: float
    values: Mapping[str, int] = field(default_factory=dict)
    cardinality: float = math.inf
    poisson: bool = False

    def count(self, seconds: float) -> int:
        """How many tuples there are in so many seconds."""
        return round(min(self.cardinality, self.rate * seconds))


def tuples_of(streams: Mapping[str, Stream], seconds: float, seed: int) -> dict[str, pa.Table]:
    """The tuples of streams as the laboratory takes them; the same for the same seed."""
    return {
        alias: _tuples(stream, seconds, np.random.default_rng([seed, number]))
        for number, (alias, stream) in enumerate(streams.items())
    }


def _tuples(stream: Stream, seconds: float, draw: np.random.Generator) -> pa.Table:
    count = stream.count(seconds)
    columns = {"id": np.arange(count), TS: _times(stream, count, draw), ARRIVAL: np.arange(count)}
    columns |= {name: balanced(draw, values, count) for name, values in stream.values.items()}
    return pa.table(columns)


def _times(stream: Stream, count: int, draw: np.random.Generator) -> Int64s:
    """Event times: one at random in each interval of 1/rate, or a Poisson process."""
    if stream.poisson:
        seconds = np.cumsum(draw.exponential(1 / stream.rate, count))
    else:
        seconds = (np.arange(count) + draw.random(count)) / stream.rate
    return (seconds * MICROS).astype(np.int64)


def balanced(draw: np.random.Generator, values: int, count: int) -> Int64s:
    """Values in random order, each as often as any other, so that runs differ little."""
    turns: Int64s = np.arange(count) % values
    return draw.permutation(draw.permutation(values)[turns])
