"""Synthetic streams: tuples made in numbered blocks of event time, each block by itself.

A block depends on the seed, the stream's name and its own number alone, so that any worker can
make any block, and make it again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa

from penstock.duration import MICROS
from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.sources.made.declared import RATES, mistake, shape_of, start_of
from penstock.engine.sources.made.distributions import (
    FORMS,
    Distribution,
    check,
    default_for,
    draw,
    parse_values,
)
from penstock.engine.sources.made.rate_shape import RateShape
from penstock.engine.sources.read import MICROS_PER_UNIT
from penstock.errors import SourceError
from penstock.query.source import Field, Source

INDEX_BITS = 24
_SHORTEST, _LONGEST = 100_000, MICROS
_BLOCK_TUPLES = 1_000
# Poisson counts are drawn for many blocks at once, so that one can tell quickly how many tuples
# came before a block.
_GROUP = 4096

Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Synthetic:
    """The tuples of a synthetic source. Times are microseconds; `rate` is tuples/s."""

    source: Source
    rate: Fraction
    is_poisson: bool
    start: int
    rows: int | None
    duration: int | None
    seed: tuple[int, int]
    distributions: tuple[Distribution, ...]
    shape: RateShape | None = None

    @classmethod
    def of(cls, source: Source) -> Synthetic:
        """The generator that a source describes; SourceError if it describes none."""
        if source.rate is None or not RATES[0] <= source.rate <= RATES[1]:
            raise _mistake(source, "rate", "needs a rate from 0.000001 to 100,000,000 tuples/s")
        arrivals = source.option("arrivals") or "constant"
        if arrivals not in ("constant", "poisson"):
            raise _mistake(source, "arrivals", f"cannot have {arrivals} arrivals")
        rows, duration = source.option("rows"), source.option("duration")
        return cls(
            source,
            _exact_rate(source.rate),
            arrivals == "poisson",
            start_of(source),
            None if rows is None else int(rows),
            None if duration is None else int(duration),
            (int(source.option("seed") or 0), crc32(source.name.encode())),
            _distributions(source),
            _shape(source, arrivals == "poisson"),
        )

    @cached_property
    def block_micros(self) -> int:
        """The length of a block: about 1,000 tuples' time, from 100 ms to 60 s."""
        worth = int(_BLOCK_TUPLES * MICROS / self.rate)
        return min(max(_SHORTEST, worth), _LONGEST)

    @cached_property
    def blocks(self) -> int | None:
        """How many blocks there are; None if the stream is endless."""
        ends = []
        if self.duration is not None:
            ends.append(-(-self.duration // self.block_micros))
        if self.rows is not None:
            ends.append(self._block_of_row(self.rows - 1) + 1 if self.rows else 0)
        return min(ends, default=None)

    def blocks_by(self, elapsed_seconds: float) -> int:
        """How many blocks are over when that much time has passed since the start."""
        over = int(elapsed_seconds * MICROS) // self.block_micros
        return over if self.blocks is None else min(over, self.blocks)

    def generate(
        self, first: int, last: int, columns: Collection[str]
    ) -> Iterator[tuple[pa.RecordBatch, Numbers]]:
        """The tuples of the blocks from `first` up to but not `last`, a batch for each block.

        Beside each batch stand the arrival numbers: block · 2²⁴ + index.
        """
        end = last if self.blocks is None else min(last, self.blocks)
        for block in range(first, end):
            times = self._times(block)
            numbers = (block << INDEX_BITS) + np.arange(len(times), dtype=np.int64)
            yield self._batch(block, times, columns), numbers

    def _batch(self, block: int, times: Numbers, columns: Collection[str]) -> pa.RecordBatch:
        wanted = [(i, f) for i, f in enumerate(self.source.fields) if f.name in columns]
        arrays = [self._column(block, i, field, times) for i, field in wanted]
        return pa.record_batch(arrays, names=[field.name for _, field in wanted])

    def _column(self, block: int, index: int, field: Field, times: Numbers) -> pa.Array:
        """One column, from a generator of its own, so that it is the same whatever is asked for."""
        if field.name == self.source.timestamp:
            unit = MICROS_PER_UNIT[self.source.unit or "us"]
            return pa.array((times + self.start) // unit).cast(arrow_type(field.type))
        distribution = self.distributions[index]
        before = self._before(block) if distribution.name == "sequence" else 0
        generator = np.random.default_rng([*self.seed, block, 1 + index])
        return draw(distribution, field, len(times), generator, before)

    def _times(self, block: int) -> Numbers:
        """The event times of a block, in order, from the start of the stream."""
        begin = block * self.block_micros
        times = self._poisson_times(block) if self.is_poisson else self._even_times(block)
        if self.rows is not None:
            times = times[: max(0, self.rows - self._before(block))]
        if self.duration is not None:
            times = times[: np.searchsorted(times, self.duration - begin)]
        return times + begin

    def _even_times(self, block: int) -> Numbers:
        """Tuple i comes at i/rate, rounded down; in integers, because floats would drift."""
        first, after = self._before(block), self._before(block + 1)
        gap = MICROS / self.rate
        whole, part = divmod(first * gap.numerator, gap.denominator)
        offsets = (part + np.arange(after - first) * gap.numerator) // gap.denominator
        return offsets + (whole - block * self.block_micros)

    def _poisson_times(self, block: int) -> Numbers:
        """Given their number, the arrivals of a Poisson process are uniform over the block."""
        count = self._counts(block // _GROUP)[block % _GROUP]
        generator = np.random.default_rng([*self.seed, block])
        return np.sort(generator.integers(0, self.block_micros, count))

    def _before(self, block: int) -> int:
        """How many tuples come before a block, not minding where the stream ends."""
        if not self.is_poisson:
            return ceil(block * self.block_micros * self.rate / MICROS)
        group, rest = divmod(block, _GROUP)
        whole = sum(self._total(each) for each in range(group))
        return whole + int(self._counts(group)[:rest].sum())

    def _block_of_row(self, row: int) -> int:
        """The block in which the tuple with that running number comes."""
        if not self.is_poisson:
            return int(row * MICROS / self.rate) // self.block_micros
        group = 0
        while (total := self._total(group)) <= row:
            row, group = row - total, group + 1
        place = np.searchsorted(np.cumsum(self._counts(group)), row, side="right")
        return group * _GROUP + int(place)

    @cached_property
    def _mean(self) -> float:
        return float(self.rate * self.block_micros / MICROS)

    def _counts(self, group: int) -> Numbers:
        return _poisson_counts(self.seed, self._mean, group, self._shaped)

    def _total(self, group: int) -> int:
        return _poisson_total(self.seed, self._mean, group, self._shaped)

    @cached_property
    def _shaped(self) -> tuple[RateShape, int] | None:
        return None if self.shape is None else (self.shape, self.block_micros)


@lru_cache(maxsize=64)
def _poisson_counts(
    seed: tuple[int, int], mean: float, group: int, shaped: tuple[RateShape, int] | None
) -> Numbers:
    """How many tuples come in each block of a group; `shaped` has the length of blocks."""
    # The last word keeps these draws apart from those of blocks and columns.
    generator = np.random.default_rng([*seed, group, 0xFFFF_FFFF])
    if shaped is None:
        return generator.poisson(mean, _GROUP)
    shape, length = shaped
    return generator.poisson(mean * shape.factors(group * _GROUP, _GROUP, length))


@lru_cache(maxsize=4096)
def _poisson_total(
    seed: tuple[int, int], mean: float, group: int, shaped: tuple[RateShape, int] | None
) -> int:
    return int(_poisson_counts(seed, mean, group, shaped).sum())


def _shape(source: Source, is_poisson: bool) -> RateShape | None:
    if source.option("shape") is not None and not is_poisson:
        raise _mistake(source, "shape", "has a shape, which only Poisson arrivals have", _RANDOM)
    return shape_of(source, source.rate)


def _exact_rate(rate: float) -> Fraction:
    """The rate as a fraction small enough that the times of a block can be had in int64."""
    most = max(_BLOCK_TUPLES, int(rate * _SHORTEST / MICROS) + 1)
    return Fraction(str(rate)).limit_denominator(10**12 // most)


def _distributions(source: Source) -> tuple[Distribution, ...]:
    try:
        given = parse_values(str(source.option("values") or ""))
        for name in given:
            if source.field(name) is None:
                raise ValueError(f"there is no column {name}")
            if name == source.timestamp:
                raise ValueError(f"{name} is the event time, which the rate gives")
        made = tuple(given.get(field.name, default_for(field.type)) for field in source.fields)
        for field, distribution in zip(source.fields, made, strict=True):
            if field.name != source.timestamp:
                check(distribution, field)
    except ValueError as error:
        raise _mistake(source, "values", f"has no such values: {error}") from error
    return made


_HINTS = {
    "rate": "add rate = 1000",
    "arrivals": "write arrivals = 'constant' or 'poisson'",
    "values": f"write values = 'column: distribution, …' with {FORMS}, sequence()",
}
_RANDOM = "add arrivals = 'poisson'"


def _mistake(source: Source, option: str, message: str, hint: str = "") -> SourceError:
    return mistake(source, option, message, hint or _HINTS[option])
