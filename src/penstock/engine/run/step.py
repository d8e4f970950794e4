"""Step: the work of one partition in one round: keep its new tuples, then probe for all comers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from penstock.engine.changes.changed_keys import ChangedKeys
from penstock.engine.join.batch import Batch
from penstock.engine.join.partition_state import PartitionState
from penstock.engine.join.row_ends import KnownEnds
from penstock.engine.join.state_writer import StateWriter
from penstock.engine.run.probing import Probing
from penstock.engine.state.sealing import Seal
from penstock.engine.state.tick_span import TickSpan
from penstock.engine.views.results import results_at
from penstock.engine.wire.facts import ChangesTold, readings
from penstock.engine.wire.packets import (
    Packet,
    sort_out,
    unpack_facts,
    unpack_facts_for_steps,
)
from penstock.engine.wire.tags import READ
from penstock.query.traces import trace_of


@dataclass(frozen=True)
class Step:
    """One partition in one round."""

    batch: Batch
    round: int
    pid: int

    def run(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """Packets for the next round, or facts for the driver after the last."""
        facts, by_tag = sort_out(packets)
        yield from facts
        if self.round == 0:
            self.batch.tidy(self.pid)
        known = unpack_facts_for_steps(facts)
        reads = by_tag.pop(READ, [])
        if self.round + 1 < self.batch.routing.rounds:
            yield from reads
        told = next((fact for fact in known if isinstance(fact, ChangesTold)), None)
        ends = KnownEnds.of(self.batch.root, known)
        span, changed = self._span(reads), self._changed(told)
        state = PartitionState(self.batch, self.pid, ends, span, changed, self._seals(reads))
        writer = StateWriter(state)
        if self.round == 0:
            yield from writer.take_inputs(by_tag)
        else:
            state.reopen(known)
        yield from writer.take_inners(self.round, by_tag)
        if self._has_nothing_due(state, told):
            return
        results = results_at(self.batch, self.pid)
        probing = Probing(self.batch, self.round, state, writer, by_tag, results)
        yield from probing.waiting()
        for makes, routes in groupby(self.batch.routing.routes, key=lambda route: route.makes):
            yield from probing.join(self.batch.routing.inner(makes), routes)
        yield from probing.told()
        yield from results.close()

    def _has_nothing_due(self, state: PartitionState, told: ChangesTold | None) -> bool:
        """Whether a view is computed from whole windows, and not in this batch."""
        if self.batch.routing.is_recomputed:
            return state.span is not None and state.span.is_empty
        return self.batch.is_snapshot and told is None

    def _changed(self, told: ChangesTold | None) -> ChangedKeys | None:
        if told is None:
            return None
        return ChangedKeys.read(trace_of(self.batch.layout.query), self.batch.root, told)

    def _seals(self, reads: list[Packet]) -> dict[str, Seal]:
        """How far the inputs of an outer join come with the batch."""
        sealing = self.batch.sealing
        return {} if sealing is None else sealing.seals(readings(unpack_facts(reads)))

    def _span(self, reads: list[Packet]) -> TickSpan | None:
        """The ticks of a view that this batch evaluates; what ROWS tuples are kept does not say."""
        due = self.batch.due
        if due is None or self.batch.layout.query.is_sequenced:
            return None
        return due.span(readings(unpack_facts(reads)))
