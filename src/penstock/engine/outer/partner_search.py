"""Partner search: which combinations have partners in a window, or at which ticks they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.join.legs import Join, Partial, where
from penstock.engine.join.partition_state import PartitionState
from penstock.engine.outer.spans import Spans, covered, uncovered
from penstock.engine.routes.multiway_routes import Sought, Visit
from penstock.engine.rows.columns import PLACE, TOLD, TS, UNTIL, column_name
from penstock.engine.rows.ticks import Ticks
from penstock.engine.state.sealing import ALL, OVER
from penstock.engine.state.tick_span import TickSpan

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class PartnerSearch:
    """Asks the window of the nullable input, as it is in one partition, about combinations.

    All partners have the key by which a combination came here, so that none is elsewhere.
    """

    sought: Sought
    state: PartitionState

    @property
    def _visit(self) -> Visit:
        assert self.sought.visit is not None, "it is a search"
        return self.sought.visit

    def run(self, pieces: Iterable[Partial]) -> Iterator[Partial]:
        """Those that go on, with NULLs for what they have no partner in."""
        for piece in pieces:
            found = self._extended(self._chosen(piece))
            for condition in self.sought.after:
                found = where(condition, found)
            if len(found):
                yield found

    def _chosen(self, asking: Partial) -> Partial:
        if self.sought.visit is None:
            return asking
        if self.sought.is_at_ticks:
            return self._at_ticks(asking)
        return self._once(asking) if self.sought.first is None else self._in_time(asking)

    def _once(self, asking: Partial) -> Partial:
        """Those that have a partner at all, or none at all."""
        if self.sought.waits:
            seal = self.state.seals[self._visit.target]
            asking = asking.take(np.flatnonzero(asking.control[UNTIL] < seal.after))
            asking = replace(asking, control=asking.control | {TOLD: asking.control[UNTIL]})
        has_some = np.zeros(len(asking), np.bool_)
        for pair in self._pairs(asking):
            has_some[pair.control[PLACE]] = True
        return asking.take(np.flatnonzero(has_some == (self.sought.wants == "some")))

    def _in_time(self, asking: Partial) -> Partial:
        """Those whose first partner is there by a time that the batch passes, or has passed
        before; the time of both is then that of the result, if nothing else is later.

        Combinations whose own time is passed only now are asked about by their last member.
        """
        seal, last = self.state.seals[ALL], asking.control[TS]
        first = np.full(len(asking), OVER)
        for pair in self._pairs(asking):
            np.minimum.at(first, pair.control[PLACE], pair.control[TS])
        told = np.maximum(asking.control.get(TOLD, last), first)
        is_there = first < (seal.before if self.sought.first == "before" else seal.after)
        if self.sought.first == "during":
            is_there &= (first >= seal.before) & (last < seal.before)
        return replace(asking, control=asking.control | {TOLD: told}).take(np.flatnonzero(is_there))

    def _at_ticks(self, asking: Partial) -> Partial:
        """Each as often as there are spans of due ticks at which it has a partner, or none; its
        times are those of the span."""
        ticks, span = self.state.batch.layout.ticks, self.state.span
        assert ticks is not None, "only views have ticks"
        assert span is not None, "only views have ticks"
        first, last = _seen(ticks, span, asking)
        asking = asking.take(np.flatnonzero(first <= last))
        whole = Spans(np.arange(len(asking)), *_seen(ticks, span, asking))
        paired = self._paired(ticks, span, asking)
        is_paired = self.sought.wants == "some"
        spans = covered(paired, ticks.every) if is_paired else uncovered(paired, whole, ticks.every)
        found = asking.take(spans.places)
        times = {TS: ticks.born(spans.firsts), UNTIL: ticks.dies(spans.lasts)}
        return replace(found, control=found.control | times)

    def _paired(self, ticks: Ticks, span: TickSpan, asking: Partial) -> Spans:
        """The due ticks that see a combination together with a partner, by its place."""
        found = [(pair.control[PLACE], *_seen(ticks, span, pair)) for pair in self._pairs(asking)]
        empty = (np.zeros(0, np.int64),) * 3
        places, firsts, lasts = (np.concatenate(each) for each in zip(empty, *found, strict=True))
        paired = Spans(places, firsts, lasts).chosen(firsts <= lasts)
        order = np.lexsort((paired.firsts, paired.places))
        return paired.chosen(order)

    def _pairs(self, asking: Partial) -> Iterator[Partial]:
        """Combinations with each of their partners: where they stand, and their times."""
        placed = asking.control | {PLACE: np.arange(len(asking))}
        join = Join((self._visit,), self.state.chunks)
        return join.run(replace(asking, control=placed))

    def _extended(self, found: Partial) -> Partial:
        names, columns = found.payload.schema.names, found.payload.columns
        for column in self.sought.nulls:
            names = [*names, column_name(column)]
            columns = [*columns, pa.nulls(len(found), arrow_type(column.type))]
        return replace(found, payload=pa.RecordBatch.from_arrays(columns, names=names))


def _seen(ticks: Ticks, span: TickSpan, found: Partial) -> tuple[Int64s, Int64s]:
    """The first and the last of the due ticks that see each combination."""
    first = np.maximum(ticks.first(found.control[TS]), span.first)
    return first, np.minimum(ticks.last(found.control[UNTIL]), span.last)
