"""Job: one batch as a chain of stages, for an engine to run wherever its partitions are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Protocol

from penstock.engine.join.batch import Batch
from penstock.engine.join.pack import Packing
from penstock.engine.join.rebuild import Rebuild
from penstock.engine.join.sequencer import Sequencer
from penstock.engine.measures.collecting import uncollected
from penstock.engine.measures.phases import REBUILD
from penstock.engine.measures.task_time import Work, timed
from penstock.engine.places.place import Place
from penstock.engine.run.step import Step
from penstock.engine.state.listing.filed_state import FiledState
from penstock.engine.state.modules import ALL_ROWS, INTERVALS, SHOWN, Module
from penstock.engine.views.view_step import ViewStep
from penstock.engine.wire.facts import Fact
from penstock.engine.wire.packet_files import PacketFiles
from penstock.engine.wire.packets import Packet, unpack_facts
from penstock.engine.wire.spilling import Spill
from penstock.engine.wire.tags import META
from penstock.engine.wire.task_errors import errors_as_facts

# Rows of state that one process takes through a batch in less than a stage of Spark costs.
_SMALL = 1 << 16
# Rows of state that nobody takes for few.
_MANY = 1 << 20


@dataclass(frozen=True)
class Stage:
    """Work that `tasks` tasks share: packets of partition p go to task p modulo `tasks`.

    The partitions of all spaces that have the same number within theirs are one task's: moving
    costs by the task. What `is_small` the driver does itself: moving would take longer. What
    `is_single` is one task's, and all that is for it is of partition 0.
    """

    tasks: int
    work: Work
    is_small: bool = False
    is_single: bool = False

    def run(
        self,
        packets: Iterable[Packet],
        fetched: Callable[[Iterable[Packet]], Iterable[Packet]] = lambda mine: mine,
    ) -> Iterator[Packet]:
        """Packets that all tasks make of these, one after another in this process; a task's are
        `fetched` when it begins."""
        by_task: dict[int, list[Packet]] = {}
        for packet in packets:
            by_task.setdefault(packet.pid % self.tasks, []).append(packet)
        for mine in by_task.values():
            yield from self.work(fetched(mine))


class Staged(Protocol):
    """Work that an engine takes through its stages: of one query, or of several together."""

    @property
    def number(self) -> int:
        """The number of the batch."""

    @property
    def brought(self) -> Sequence[Packet]:
        """Packets for the tasks that read, beside what the sources bring."""

    @property
    def is_small(self) -> bool:
        """Whether the driver does all of it: dealing it out would take longer."""

    @property
    def is_idle(self) -> bool:
        """Whether that is so if nothing new is read."""

    @property
    def has_little(self) -> bool:
        """Whether little state is kept, so that it depends on what is new how much is done."""

    @property
    def packet_files(self) -> PacketFiles | None:
        """Where large packets may travel as files, if all tasks share a file system."""

    @property
    def pack(self) -> Work:
        """What the tasks do that read."""

    @property
    def stages(self) -> Sequence[Stage]:
        """What follows, one after the other."""

    @property
    def stage_names(self) -> Sequence[str]:
        """The stages in words."""

    def facts(self, packets: Iterable[Packet]) -> list[Fact]:
        """What the last stage has left for the driver."""

    @property
    def root(self) -> Place:
        """The folder of the checkpoint."""

    @contextmanager
    def filed(self) -> Iterator[Staged]:
        """The same to be sent to tasks: what is too large for that is in files meanwhile."""


@dataclass(frozen=True)
class Job:
    """Pack the slices, then stage after stage; a job without slices rebuilds inner state."""

    batch: Batch
    packing: Packing | None = None
    sequencer: Sequencer | None = None
    view: ViewStep | None = None

    brought: tuple[Packet, ...] = ()
    is_small: bool = False
    has_small_view: bool | None = None
    """Whether the driver evaluates the view; None if that is to be told from the state."""

    @property
    def root(self) -> Place:
        return self.batch.root

    @contextmanager
    def filed(self) -> Iterator[Job]:
        if not self.batch.is_large:
            yield self
            return
        with uncollected():
            batch = self.batch.filed()
        sequencer = self.sequencer and replace(self.sequencer, batch=batch)
        view = self.view and replace(self.view, batch=batch)
        is_small = self.view is not None and _is_small(self.batch)
        try:
            yield replace(
                self, batch=batch, sequencer=sequencer, view=view, has_small_view=is_small
            )
        finally:
            assert isinstance(batch.state, FiledState), "it was filed"
            batch.state.segments.remove()

    @property
    def number(self) -> int:
        return self.batch.number

    @property
    def stage_names(self) -> tuple[str, ...]:
        rounds = self.batch.routing.rounds
        return (
            "rebuild" if self.packing is None else "pack",
            *(["sequence"] * (self.sequencer is not None)),
            "round 0" if rounds == 1 else f"rounds 0 to {rounds - 1}",
            *(["view"] * (self.view is not None)),
        )

    @property
    def is_idle(self) -> bool:
        batch = self.batch
        waits = (self.sequencer, self.view, batch.sealing)
        does_nothing = self.packing is not None and all(each is None for each in waits)
        return batch.root.is_local and (does_nothing or kept_rows(batch) <= _SMALL)

    @property
    def has_little(self) -> bool:
        return self.batch.root.is_local and kept_rows(self.batch) <= _SMALL

    def facts(self, packets: Iterable[Packet]) -> list[Fact]:
        return unpack_facts(packet for packet in packets if packet.tag == META)

    @property
    def packet_files(self) -> PacketFiles | None:
        root = self.batch.root
        return PacketFiles(root / f"transit/{self.batch.number}") if root.is_local else None

    @property
    def pack(self) -> Work:
        if self.packing is None:
            return partial(timed, REBUILD, partial(_rebuild, Rebuild(self.batch)))
        return partial(timed, "pack", partial(_pack, self.packing))

    @property
    def last_stages(self) -> tuple[Stage, ...]:
        """What is done once all combinations are found: a view is evaluated."""
        if self.view is None:
            return ()
        view = self._stage("view", partial(_view, self.view))
        known = self.has_small_view
        return (replace(view, is_small=_is_small(self.batch) if known is None else known),)

    @property
    def stages(self) -> tuple[Stage, ...]:
        rounds = range(self.batch.routing.rounds)
        steps = tuple(self._stage(f"round {r}", partial(_step, self.batch, r)) for r in rounds)
        steps = (*steps, *self.last_stages)
        if self.packing is None:
            return (self._stage(REBUILD, partial(_send, Rebuild(self.batch))), *steps)
        if self.batch.is_snapshot and self.batch.has_visitors:
            steps = (self._stage(REBUILD, partial(_resend, Rebuild(self.batch))), *steps)
        if self.sequencer is not None:
            sequence = self._stage("sequence", partial(_sequence, self.sequencer))
            return (replace(sequence, tasks=1, is_single=True), *steps)
        return steps

    def _stage(self, name: str, work: Work) -> Stage:
        """Work of all partitions whose time is told; all that a rebuild does is one."""
        stage = REBUILD if self.packing is None else name
        return Stage(self.batch.partitions, partial(timed, stage, work))


Runner = Callable[[Staged], Sequence[Fact]]
"""Runs a job and gives the facts that its last stage left."""


def run_here(job: Staged, pieces: Sequence[Packet]) -> list[Fact]:
    """Take pieces through all stages in this process, one partition after another."""
    with Spill(job.packet_files) as spill:
        packets = spill.held(job.pack((*pieces, *job.brought)))
        for stage in job.stages:
            packets = spill.held(stage.run(packets, spill.fetched))
        return job.facts(spill.fetched(packets))


def _pack(packing: Packing, packets: Iterable[Packet]) -> Iterator[Packet]:
    return errors_as_facts(packing.run(packets))


def _sequence(sequencer: Sequencer, packets: Iterable[Packet]) -> Iterator[Packet]:
    yield from errors_as_facts(sequencer.run(packets))
    if sequencer.batch.is_snapshot:
        yield from Rebuild(sequencer.batch).call(())


def _rebuild(rebuild: Rebuild, packets: Iterable[Packet]) -> Iterator[Packet]:
    return errors_as_facts(rebuild.call(packets))


def _send(rebuild: Rebuild, packets: Iterable[Packet]) -> Iterator[Packet]:
    for pid in sorted({packet.pid for packet in packets}):
        yield from errors_as_facts(rebuild.send(pid))


def _resend(rebuild: Rebuild, packets: Iterable[Packet]) -> Iterator[Packet]:
    held = list(packets)
    yield from held
    yield from _send(rebuild, held)


def kept_rows(batch: Batch, modules: Collection[Module] | None = None) -> int:
    """The rows that a batch begins with in some modules of the state, or in all; where there are
    many, as many as it takes to see that."""
    named = batch.state if modules is None else modules
    kept = (chunks for name in named for chunks in batch.state.get(name, {}).values())
    rows = 0
    for chunks in kept:
        rows += sum(chunk.rows for chunk in chunks)
        if rows > _MANY:
            break
    return rows


def _is_small(batch: Batch) -> bool:
    """Whether a view has so few rows, by the last batch, that the driver evaluates it."""
    return batch.root.is_local and kept_rows(batch, (INTERVALS, SHOWN, ALL_ROWS)) <= _SMALL


def _view(step: ViewStep, packets: Iterable[Packet]) -> Iterator[Packet]:
    for pid, mine in _by_partition(packets):
        yield from errors_as_facts(step.run(pid, mine)) if step.batch.is_view(pid) else mine


def _step(batch: Batch, round_: int, packets: Iterable[Packet]) -> Iterator[Packet]:
    for pid, mine in _by_partition(packets):
        # What is for the view waits for the last stage.
        yield from (
            mine if batch.is_view(pid) else errors_as_facts(Step(batch, round_, pid).run(mine))
        )


def _by_partition(packets: Iterable[Packet]) -> Iterator[tuple[int, Iterator[Packet]]]:
    by_pid = sorted(packets, key=lambda packet: packet.pid)
    return groupby(by_pid, key=lambda packet: packet.pid)
