"""Nexmark's streams: persons, auctions and bids of one sequence of numbered events.

All three streams are made of the same events, so that keys match. An event depends on the seed and
its number alone. Out of order, an event takes the place of another of its group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.duration import MICROS
from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.sources.made.declared import RATES, mistake, shape_of, start_of
from penstock.engine.sources.made.event_times import EventTimes
from penstock.engine.sources.made.nexmark_columns import Events, Hot, column_of
from penstock.query.made.nexmark import CYCLE, EVENT_RATE, STREAMS, StreamKind, kind_of
from penstock.query.source import Source

STEP = 953
"""Out of order, events are taken in steps of it through their group; it is a prime."""
# Events that are made at a time: few enough for the processor's cache, and with a group at either
# end for the span of times.
_AT_ONCE = 1 << 16

Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Nexmark:
    """The tuples of one of the streams. Times are microseconds, `end` is a number of events."""

    source: Source
    kind: StreamKind
    times: EventTimes
    start: int
    end: int | None
    seed: int
    group: int
    hot: Hot

    @classmethod
    def of(cls, source: Source) -> Nexmark:
        """The generator that a source describes; SourceError if it describes none."""
        kind, rate = kind_of(source), source.option(EVENT_RATE)
        assert kind is not None, "the parser has checked that there is one"
        if rate is None or not RATES[0] <= float(rate) <= RATES[1]:
            message = "needs a rate from 0.000001 to 100,000,000 events/s"
            raise mistake(source, "rate", message, "add rate = 10000")
        times = EventTimes.at(float(rate), shape_of(source, float(rate)))
        return cls(
            source,
            kind,
            times,
            start_of(source),
            _end(source, times),
            int(source.option("seed") or 0),
            int(source.option("out_of_order") or 1),
            Hot(*(int(source.option(f"hot_{who}") or usual) for who, usual in _HOT.items())),
        )

    @property
    def rate(self) -> Fraction:
        """Tuples/s of this stream."""
        known = STREAMS[self.kind]
        return self.times.rate * Fraction(known.after - known.first, CYCLE)

    @property
    def block_micros(self) -> int:
        """The length of a block, of which all three streams have the same."""
        return self.times.block_micros

    @cached_property
    def blocks(self) -> int | None:
        """How many blocks there are; None if the stream is endless."""
        if self.end is None:
            return None
        return self.times.block_of(self.end - 1) + 1 if self.end else 0

    def blocks_by(self, elapsed_seconds: float) -> int:
        """How many blocks are over when that much time has passed since the start."""
        over = int(elapsed_seconds * MICROS) // self.block_micros
        return over if self.blocks is None else min(over, self.blocks)

    def generate(
        self, first: int, last: int, columns: Collection[str]
    ) -> Iterator[tuple[pa.RecordBatch, Numbers]]:
        """The tuples of the blocks from `first` up to but not `last`, some blocks in a batch.

        Beside each batch stand the arrival numbers: the places in the sequence of all events.
        """
        begin, end = (self.times.before(block * self.block_micros) for block in (first, last))
        end = end if self.end is None else min(end, self.end)
        for place in range(begin, end, _AT_ONCE):
            places = np.arange(place, min(place + _AT_ONCE, end))
            events = self._events_at(places)
            known, turns = STREAMS[self.kind], events % CYCLE
            ours = (turns >= known.first) & (turns < known.after)
            yield self._batch(events[ours], columns), places[ours]

    def _events_at(self, places: Numbers) -> Numbers:
        """The events that come at places of the sequence."""
        if self.group == 1:
            return places
        within: Numbers = places % self.group
        # (place · 953) mod group, of which only the place in the group matters.
        return places - within + (places * STEP) % self.group

    def _batch(self, events: Numbers, columns: Collection[str]) -> pa.RecordBatch:
        made = Events(self.kind, events, self.times, self.start, self.seed, self.hot)
        wanted = [field for field in self.source.fields if field.name in columns]
        arrays = [column_of(made, field.name).cast(arrow_type(field.type)) for field in wanted]
        if not wanted:
            return pa.RecordBatch.from_struct_array(pa.array([{}] * len(events), pa.struct([])))
        return pa.record_batch(arrays, names=[field.name for field in wanted])


_HOT = {"sellers": 4, "auctions": 2, "bidders": 4}


def _end(source: Source, times: EventTimes) -> int | None:
    """How many events of all three streams there are; None if they are endless."""
    rows, duration = source.option("rows"), source.option("duration")
    ends = [] if rows is None else [int(rows)]
    if duration is not None:
        ends.append(times.before(int(duration)))
    return min(ends, default=None)
