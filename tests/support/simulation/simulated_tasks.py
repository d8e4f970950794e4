"""Tasks as a cluster runs them: dealt out anew, out of order, lost half way, twice, too late."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from random import Random

from penstock.engine.measures.task_time import Work
from penstock.engine.run.job import Runner, Staged
from penstock.engine.wire.facts import Fact
from penstock.engine.wire.packets import Packet

_MOST_TASKS = 3


class SimulatedTasks:
    """Runs the stages of a batch in this process, as a cluster might."""

    def __init__(self, rng: Random, odds: float):
        """Tasks of which about so many (of 1) have something happen to them."""
        self.rng = rng
        self._odds = odds
        self._late: list[Callable[[], object]] = []

    def in_process(self, pieces: Sequence[Packet]) -> Runner:
        """A runner that takes a batch's pieces through all stages."""
        return partial(self.run, pieces=pieces)

    def run(self, job: Staged, pieces: Sequence[Packet]) -> list[Fact]:
        """Take pieces through all stages; the facts that the last one leaves."""
        with job.filed() as sent:
            made = self._stage(sent.pack, self._dealt((*pieces, *job.brought)))
            for stage in sent.stages:
                by_task: dict[int, list[Packet]] = {}
                for packet in made:
                    by_task.setdefault(packet.pid % stage.tasks, []).append(packet)
                made = self._stage(stage.work, list(by_task.values()))
            return job.facts(made)

    def finish_late(self) -> None:
        """Let some attempts come to their end that nobody waits for any more."""
        for work in self._late:
            if self.rng.random() < 0.5:
                work()
        self._late = []

    def _dealt(self, packets: Sequence[Packet]) -> list[list[Packet]]:
        """What each of the tasks that read gets; one reads, if there is nothing to be read."""
        hands: list[list[Packet]] = [[] for _ in range(self.rng.randint(1, _MOST_TASKS))]
        for packet in packets:
            self.rng.choice(hands).append(packet)
        return [hand for hand in hands if hand] or [[]]

    def _stage(self, work: Work, hands: list[list[Packet]]) -> list[Packet]:
        made = [self._task(work, hand) for hand in self._shuffled(hands)]
        return [packet for mine in self._shuffled(made) for packet in mine]

    def _shuffled(self, items: Sequence[list[Packet]]) -> list[list[Packet]]:
        return self.rng.sample(items, len(items))

    def _task(self, work: Work, hand: list[Packet]) -> list[Packet]:
        """What one attempt makes; others may have been made as well."""
        if self.rng.random() >= self._odds:
            return self._travelled(work(hand))
        if self._late and self.rng.random() < 0.5:
            self.finish_late()
        match self.rng.choice(("lost", "twice", "late", "travels")):
            case "lost":
                for _ in zip(range(self.rng.randrange(4)), work(hand), strict=False):
                    pass
            case "twice":
                both = [list(work(hand)), list(work(hand))]
                return self._travelled(self.rng.choice(both))
            case "late":
                self._late.append(partial(_worked_late, work, hand))
        return self._travelled(work(hand))

    def _travelled(self, packets: Iterable[Packet]) -> list[Packet]:
        """Packets that have left the process, or have not."""
        made = list(packets)
        if self.rng.random() < 0.7:
            return made
        return [Packet(each.pid, each.tag, bytes(each.payload)) for each in made]


def _worked_late(work: Work, hand: list[Packet]) -> None:
    """An attempt that nobody waits for; what its batch has had in files may be gone."""
    with suppress(FileNotFoundError):
        list(work(hand))
