"""Runs of records as a client gives them: many at once, their values and what else they tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.timestamps import EARLIEST, LATEST
from penstock.engine.sources.kafka.record_columns import out_of_years, record_column
from penstock.kernels.foreign.messages import NOTHING
from penstock.query.source import Field

if TYPE_CHECKING:
    from confluent_kafka import Message

Int64s = NDArray[np.int64]
_NO_TIME = 0


class Run(Protocol):
    """Records of a partition, in order."""

    @property
    def offsets(self) -> Int64s:
        """The offset of each."""

    @property
    def values(self) -> Sequence[bytes | None]:
        """The value of each."""

    @property
    def lines(self) -> NDArray[np.uint8] | None:
        """The values with a line end behind each, if they lie so; inside they may have others."""

    def column(self, field: Field, faults: dict[int, str]) -> pa.Array:
        """What the records tell beside their values; what cannot be held is among the faults."""

    def __getitem__(self, rows: slice) -> Run:
        """Some of them."""


@dataclass(frozen=True)
class Objects:
    """Records with an object of the Python package for each."""

    records: Sequence[Message]

    @cached_property
    def offsets(self) -> Int64s:
        """Their offsets."""
        return np.array([record.offset() for record in self.records], np.int64)

    @property
    def values(self) -> Sequence[bytes | None]:
        """The value of each."""
        return [record.value() for record in self.records]

    @property
    def lines(self) -> None:
        """They are objects, one by one."""
        return

    def column(self, field: Field, faults: dict[int, str]) -> pa.Array:
        """As `Run` says."""
        return record_column(field, self.records, faults)

    def __getitem__(self, rows: slice) -> Objects:
        return Objects(self.records[rows])


@dataclass(frozen=True)
class Bulk:
    """Records as arrays: their values in one piece of memory, a line end behind each."""

    part: int
    offsets: Int64s
    lengths: Int64s
    data: NDArray[np.uint8]
    times: Int64s = field(default_factory=lambda: np.empty(0, np.int64))
    """Milliseconds since 1970, if they were asked for."""
    kinds: Int64s = field(default_factory=lambda: np.empty(0, np.int64))

    @cached_property
    def _ends(self) -> Int64s:
        """Behind each value's line end."""
        ends: Int64s = np.cumsum(np.maximum(self.lengths, 0) + 1)
        return ends

    @cached_property
    def values(self) -> Sequence[bytes | None]:
        """The value of each."""
        data, starts = self.data.tobytes(), self._ends - np.maximum(self.lengths, 0) - 1
        return [
            None if length == NOTHING else data[start : start + length]
            for start, length in zip(starts.tolist(), self.lengths.tolist(), strict=True)
        ]

    @property
    def lines(self) -> NDArray[np.uint8] | None:
        """The values as they lie; None where a record has no value."""
        return self.data if (self.lengths > 0).all() else None

    def column(self, field: Field, faults: dict[int, str]) -> pa.Array:
        """As `Run` says, of place and time."""
        match field.name.lower():
            case "kafka_partition":
                return pa.array(np.full(len(self.offsets), self.part), arrow_type(field.type))
            case "kafka_offset":
                return pa.array(self.offsets, arrow_type(field.type))
        is_told = self.kinds != _NO_TIME
        is_odd = is_told & ((self.times < EARLIEST // 1000) | (self.times > LATEST // 1000))
        for row in np.flatnonzero(is_odd).tolist():
            faults.setdefault(row, out_of_years(int(self.times[row])))
        micros = np.where(is_odd, 0, self.times) * 1000
        made = pa.array(micros, pa.int64(), mask=is_odd | ~is_told)
        return made.cast(arrow_type(field.type))

    def __getitem__(self, rows: slice) -> Bulk:
        first, last, _ = rows.indices(len(self.offsets))
        ends = np.concatenate([[0], self._ends])
        return Bulk(
            self.part,
            self.offsets[rows],
            self.lengths[rows],
            self.data[ends[first] : ends[max(first, last)]],
            self.times[rows],
            self.kinds[rows],
        )
