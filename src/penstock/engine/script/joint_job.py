"""Joint jobs: queries that do not read each other, taken through their stages side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest

from penstock.engine.measures.task_time import Work, timed
from penstock.engine.places.place import Place
from penstock.engine.run.job import Job, Stage, kept_rows
from penstock.engine.script.joint_packing import JointPacking, packets_of
from penstock.engine.sources.slices import Slice
from penstock.engine.wire.facts import Fact, Failure, TaskTime, Told
from penstock.engine.wire.packet_files import PacketFiles
from penstock.engine.wire.packets import Packet, unpack_facts
from penstock.engine.wire.tags import SLICE
from penstock.engine.wire.task_errors import errors_as_facts

_SMALL = 1 << 18
"""Rows that one process takes through a level in about the time that a job of Spark costs: most of
such a level is in order, and so one task's, wherever it runs."""


@dataclass(frozen=True)
class JointJob:
    """The jobs of some queries as one: a source is read once, and stage n does that of all.

    Packets are tagged with the place of their query among `jobs`. Those that are in `takers` take
    what another of them finds, whose name is there: they have its stages behind them.
    """

    jobs: Mapping[str, Job]
    packing: JointPacking
    brought: tuple[Packet, ...] = ()
    takers: Mapping[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Place:
        return self.packing.root

    @contextmanager
    def filed(self) -> Iterator[JointJob]:
        with ExitStack() as files:
            jobs = {name: files.enter_context(job.filed()) for name, job in self.jobs.items()}
            yield replace(self, jobs=jobs)

    @property
    def number(self) -> int:
        return next(iter(self.jobs.values())).number

    @property
    def is_small(self) -> bool:
        """Whether it reads results of other queries alone, and there is little of these and of
        state."""
        batches = [job.batch for job in self.jobs.values()]
        sources = [source for b in batches for source in b.layout.query.sources.values()]
        if not self.packing.root.is_local or not all(source.makers for source in sources):
            return False
        pieces = [Slice.of(packet) for packet in self.brought if packet.tag == SLICE]
        rows = sum(piece.last - piece.first for piece in pieces)
        return rows + sum(map(kept_rows, batches)) <= _SMALL

    @property
    def is_idle(self) -> bool:
        return all(job.is_idle for job in self.jobs.values())

    @property
    def has_little(self) -> bool:
        return all(job.has_little for job in self.jobs.values())

    @property
    def stage_names(self) -> tuple[str, ...]:
        own = {n: job.stage_names for n, job in self.jobs.items() if n not in self.takers}
        return tuple(f"{name} ({', '.join(names)})" for name, names in own.items())

    @property
    def packet_files(self) -> PacketFiles | None:
        root = self.packing.root
        return PacketFiles(root / f"transit/{self.number}") if root.is_local else None

    @property
    def pack(self) -> Work:
        return partial(timed, "pack", partial(_pack, self.packing))

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of all queries, the first with the first; what the driver does comes last."""
        every = {name: self._own_stages(name) for name in self.jobs}
        tasks = max(stage.tasks for stages in every.values() for stage in stages)
        large = {n: [_spread(s) for s in mine if not s.is_small] for n, mine in every.items()}
        waits = {name: len(large[maker]) for name, maker in self.takers.items()}
        ready = ([*[None] * waits.get(name, 0), *works] for name, works in large.items())
        stages = [Stage(tasks, partial(_apart, works)) for works in zip_longest(*ready)]
        small = [[stage.work for stage in mine if stage.is_small] for mine in every.values()]
        if any(small):
            works = tuple(mine[0] if mine else None for mine in small)
            stages.append(Stage(1, partial(_apart, works), is_small=True))
        return tuple(stages)

    def _own_stages(self, name: str) -> tuple[Stage, ...]:
        job = self.jobs[name]
        return job.last_stages if name in self.takers else job.stages

    def facts(self, packets: Iterable[Packet]) -> list[Fact]:
        """What each query has left for the driver; times and errors are told for all too."""
        names, told = list(self.jobs), list[Fact]()
        for packet in packets:
            if packet.tag.kind == "meta":
                for fact in unpack_facts([packet]):
                    told += _told(names, packet.tag.query, fact)
        return told


def facts_of(query: int, facts: Iterable[Fact]) -> list[Fact]:
    """The facts of one query among those of a joint job."""
    return [each.fact for each in facts if isinstance(each, Told) and each.query == query]


def _told(names: list[str], query: int | None, fact: Fact) -> Iterator[Fact]:
    if query is None or isinstance(fact, Failure):
        yield fact
        return
    if isinstance(fact, TaskTime):
        yield replace(fact, stage=f"{names[query]}: {fact.stage}")
    yield Told(query, fact)


def _pack(packing: JointPacking, packets: Iterable[Packet]) -> Iterator[Packet]:
    return errors_as_facts(packing.run(packets))


def _spread(stage: Stage) -> Work:
    """The work of a stage among those of others; what one task does is done where partition 0 is,
    which is where its packets are sent."""
    return partial(_at_first, stage.work) if stage.is_single else stage.work


def _at_first(work: Work, packets: Iterable[Packet]) -> Iterator[Packet]:
    mine: list[Packet] = []
    for packet in packets:
        if packet.pid == 0:
            mine.append(packet)
        else:
            yield packet
    if mine:
        yield from work(mine)


def _apart(works: tuple[Work | None, ...], packets: Iterable[Packet]) -> Iterator[Packet]:
    """Each query's own work on its own packets; those of a query that has done all pass."""
    mine: dict[int, list[Packet]] = {}
    for packet in packets:
        query = packet.tag.query
        if query is None or works[query] is None:
            yield packet
        else:
            mine.setdefault(query, []).append(replace(packet, tag=packet.tag.of(None)))
    for query, packets_here in mine.items():
        work = works[query]
        assert work is not None, "others have passed"
        yield from packets_of(query, work(packets_here))
