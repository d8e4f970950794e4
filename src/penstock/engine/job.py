"""Job: one batch as a chain of stages, for an engine to run wherever its partitions are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from penstock.engine.batch import Batch
from penstock.engine.guard import guarded
from penstock.engine.pack import Packing
from penstock.engine.packets import Packet
from penstock.engine.recall import Recall
from penstock.engine.sequencer import Sequencer
from penstock.engine.step import Step
from penstock.engine.store import Store
from penstock.engine.transit import Transit

Work = Callable[[Iterable[Packet]], Iterator[Packet]]


@dataclass(frozen=True)
class Stage:
    """Work that `tasks` tasks share: packets of partition p go to task p modulo `tasks`.

    The partitions of all spaces that have the same number within theirs are one task's: moving
    costs by the task.
    """

    tasks: int
    work: Work


@dataclass(frozen=True)
class Job:
    """Pack the slices, then stage after stage; a job without slices rebuilds inner state."""

    batch: Batch
    packing: Packing | None = None
    sequencer: Sequencer | None = None

    @property
    def transit(self) -> Transit | None:
        """Where large packets may travel as files, if all tasks share a file system."""
        store = Store(self.batch.root)
        return Transit(store.path(f"transit/{self.batch.number}")) if store.is_local else None

    @property
    def pack(self) -> Work:
        if self.packing is None:
            return partial(_recall, Recall(self.batch))
        return partial(_pack, self.packing)

    @property
    def stages(self) -> tuple[Stage, ...]:
        tasks = self.batch.partitions
        rounds = range(self.batch.routing.rounds)
        steps = tuple(Stage(tasks, partial(_step, self.batch, r)) for r in rounds)
        if self.packing is None:
            return (Stage(tasks, partial(_send, Recall(self.batch))), *steps)
        if self.sequencer is not None:
            return (Stage(1, partial(_sequence, self.sequencer)), *steps)
        return steps


Runner = Callable[[Job], list[dict[str, Any]]]


def _pack(packing: Packing, packets: Iterable[Packet]) -> Iterator[Packet]:
    return guarded(packing.run(packets))


def _sequence(sequencer: Sequencer, packets: Iterable[Packet]) -> Iterator[Packet]:
    return guarded(sequencer.run(packets))


def _recall(recall: Recall, packets: Iterable[Packet]) -> Iterator[Packet]:
    return guarded(recall.call(packets))


def _send(recall: Recall, packets: Iterable[Packet]) -> Iterator[Packet]:
    for pid in sorted({packet.pid for packet in packets}):
        yield from guarded(recall.send(pid))


def _step(batch: Batch, round_: int, packets: Iterable[Packet]) -> Iterator[Packet]:
    by_pid = sorted(packets, key=lambda packet: packet.pid)
    for pid, mine in groupby(by_pid, key=lambda packet: packet.pid):
        yield from guarded(Step(batch, round_, pid).run(mine))
