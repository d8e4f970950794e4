"""Batches on Spark: every stage is a move to its partitions and work on what has come there.

Where few tasks share a disk, large packets are files, and the driver can deal out the rest: a stage
is a plain job of Spark's, which costs half as much as one that it plans as a query. All others move
through Spark's shuffle, stage after stage in one job.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
from pyspark import RDD, SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.engine.measures.collecting import uncollected
from penstock.engine.measures.task_time import Work
from penstock.engine.measures.telling import told_together
from penstock.engine.places.flushing import flush_noted, forget_noted
from penstock.engine.run.job import Runner, Stage, Staged, run_here
from penstock.engine.spark.placement import Placement
from penstock.engine.spark.ticker import (
    FiledHands,
    Hands,
    deal,
    filed,
    in_place_of_ticks,
    ticks_now,
)
from penstock.engine.state.store import storage_errors
from penstock.engine.wire.facts import Fact
from penstock.engine.wire.packet_files import PacketFiles
from penstock.engine.wire.packets import (
    SPARK_SCHEMA,
    Packet,
    from_batches,
    from_table,
    to_batches,
)
from penstock.engine.wire.settled import settle
from penstock.engine.wire.spilling import Spill
from penstock.engine.wire.tags import META, SLICE, Tag
from penstock.engine.wire.task_errors import errors_as_facts

# Bytes of a first batch above which its view is not evaluated by the driver: of later ones it is
# known how many rows it had before.
_LIGHT = 4 << 20
# Bytes of packets with which one process is done sooner than a stage of Spark begins.
_LITTLE = 3 << 19
# Seconds that nobody takes for little work, however few bytes there were.
_LONG = 0.2
# More tasks than this would have the driver deal out too much.
_FEW = 32

Hand = list[tuple[int, str, bytes]]
"""Packets for one task."""


@dataclass
class Lightness:
    """Whether few bytes have been little work so far: a hot key makes much of them, which tasks
    would have shared."""

    is_deceptive: bool = False

    def done(self, stage: Stage, packets: Sequence[Packet], files: PacketFiles) -> list[Packet]:
        """What a stage makes of packets in this process."""
        started = time.monotonic()
        made = list(files.leave(stage.run(packets, files.fetch)))
        self.is_deceptive = time.monotonic() - started > _LONG
        return made


def on_spark(
    session: SparkSession,
    packets: Sequence[Packet],
    tasks: int,
    weight: int = 0,
    ticks: DataFrame | None = None,
    lightness: Lightness | None = None,
    placement: Placement | None = None,
) -> Runner:
    """A runner that takes a batch through its stages on Spark, the small ones after the others.

    `ticks` has one for each of `tasks` tasks, which share the packets among them; it is made where
    it is needed and not given. A small job is none of Spark's, nor is a stage that gets few packets
    where that is known to be light. `weight` are the bytes that the batch reads, about.
    The `placement` of the batches before keeps partitions where they are.
    """
    placed = placement or placement_on(session)

    def run(job: Staged) -> list[Fact]:
        is_reading = any(packet.tag == SLICE for packet in (*packets, *job.brought))
        if job.is_small or (not is_reading and job.is_idle):
            return run_here(job, packets)
        with job.filed() as sent:
            return spread(job, sent)

    def spread(job: Staged, sent: Staged) -> list[Fact]:
        is_light = job.number > 0 or weight <= _LIGHT
        small, large = split(job, sent, is_light)
        files, hands = job.packet_files, deal((*packets, *job.brought), tasks)
        task = _Task(files, settling(session))
        try:
            if files is not None and _is_dealt_here(session, tasks, large):
                light = lightness if job.has_little else None
                made = _dealt(session.sparkContext, sent, large, task, hands, light, placed)
            else:
                source = ticks or ticks_now(session, tasks)
                with filed(job.root, f"transit/{job.number}", hands) as held:
                    made = list(_moved(source, sent, large, task, held, placed))
            if files is not None:
                made = files.fetch(made)
            for stage in small:
                made = list(stage.run(made))
            with uncollected():
                return job.facts(made)
        finally:
            if files is not None:
                files.clear()

    return run


def split(job: Staged, sent: Staged, is_light: bool = True) -> tuple[list[Stage], list[Stage]]:
    """The stages of a job that the driver does, if what it reads `is_light`, and those of the job
    as it is `sent` that tasks do.

    Where the last of all is done by tasks, each leaves one packet of facts.
    """
    pairs = [(mine.is_small and is_light, mine, theirs) for mine, theirs in _pairs(job, sent)]
    small = [mine for is_small, mine, _ in pairs if is_small]
    large = [replace(theirs, is_small=False) for is_small, _, theirs in pairs if not is_small]
    if not small:
        large[-1] = replace(large[-1], work=partial(_together, large[-1].work))
    return small, large


def _pairs(job: Staged, sent: Staged) -> Iterable[tuple[Stage, Stage]]:
    return zip(job.stages, sent.stages, strict=True)


def _together(work: Work, packets: Iterable[Packet]) -> Iterator[Packet]:
    return told_together(work(packets))


def is_one_machine(spark: SparkSession) -> bool:
    """Whether all tasks run on the driver's machine, so that it can flush what they write."""
    return str(spark.conf.get("spark.master", "")).startswith("local[")


def placement_on(spark: SparkSession) -> Placement:
    """Where the tasks of a query are to run, to be kept from batch to batch."""
    return Placement(spark, is_one_machine(spark))


def settling(spark: SparkSession) -> Callable[[], None]:
    """What a task does in the end with the files that it has noted."""
    return forget_noted if is_one_machine(spark) else flush_noted


def with_end(packets: Iterable[Packet], end: Callable[[], None]) -> Iterator[Packet]:
    """The packets, and then something done that is told of if it fails."""
    yield from packets
    with storage_errors("write", "the files of a task"):
        end()


@dataclass(frozen=True)
class _Task:
    """What is around the work of a task: large packets come and go as files, if there is a folder
    for them, and the files that it has written are settled in the end."""

    files: PacketFiles | None
    settled: Callable[[], None]

    def run(self, work: Work, arrived: Iterable[Packet]) -> Iterator[Packet]:
        """The packets that the work makes of those that have arrived."""
        settle()
        if self.files is None:
            made = _spilling(work, arrived)
        else:
            made = self.files.leave(work(self.files.fetch(arrived)))
        return errors_as_facts(with_end(made, self.settled))


def _spilling(work: Work, arrived: Iterable[Packet]) -> Iterator[Packet]:
    """Work that begins when all has arrived: what does not fit into memory waits on the disk."""
    with Spill() as spill:
        yield from work(spill.fetched(spill.held(arrived)))


def _is_dealt_here(session: SparkSession, tasks: int, stages: Sequence[Stage]) -> bool:
    """Whether there are few tasks, and a session that runs plain ones."""
    is_few = all(number <= _FEW for number in (tasks, *(stage.tasks for stage in stages)))
    return is_few and isinstance(session, SparkSession)


# Stages whose packets the driver deals out


def _dealt(
    context: SparkContext,
    job: Staged,
    stages: Sequence[Stage],
    task: _Task,
    hands: Sequence[Sequence[Packet]],
    lightness: Lightness | None,
    placement: Placement,
) -> Iterable[Packet]:
    """The packets that the last stage makes, each stage a job of plain tasks, or done here."""
    made = _in_tasks(context, job.pack, task, hands)
    for stage in stages:
        if lightness is not None and task.files is not None and _is_light(made, task, lightness):
            made = lightness.done(stage, made, task.files)
            continue
        by_task: dict[int, list[Packet]] = {}
        for packet in made:
            by_task.setdefault(packet.pid % stage.tasks, []).append(packet)
        placed = partial(placement.hands, numbers=list(by_task) or [0], tasks=stage.tasks)
        made = _in_tasks(context, stage.work, task, list(by_task.values()), placed)
    return made


def _is_light(packets: Sequence[Packet], task: _Task, lightness: Lightness) -> bool:
    """Whether packets are so few that moving them would take longer than all that they are for."""
    assert task.files is not None, "they are dealt out here"
    bound = [packet for packet in packets if packet.tag.kind != META.kind]
    return not lightness.is_deceptive and sum(task.files.sizes(bound)) <= _LITTLE


def _in_tasks(
    context: SparkContext,
    work: Work,
    task: _Task,
    hands: Sequence[Sequence[Packet]],
    placed: Callable[[RDD[Hand]], RDD[Hand]] = lambda dealt: dealt,
) -> list[Packet]:
    """What tasks make of their hands, which may be `placed`; nobody runs for an empty one, but one
    for all."""

    def over(mine: Iterable[Hand]) -> Iterator[tuple[int, str, bytes]]:
        arrived = (Packet(pid, Tag.parse(tag), data) for hand in mine for pid, tag, data in hand)
        return map(_plain, task.run(work, arrived))

    plain = [[_plain(packet) for packet in hand] for hand in hands if hand] or [[]]
    made = placed(context.parallelize(plain, len(plain))).mapPartitions(over).collect()
    return [Packet(pid, Tag.parse(tag), data) for pid, tag, data in made]


def _plain(packet: Packet) -> tuple[int, str, bytes]:
    return packet.pid, str(packet.tag), bytes(packet.payload)


# Stages whose packets Spark moves


def _moved(
    ticks: DataFrame,
    job: Staged,
    stages: Sequence[Stage],
    task: _Task,
    hands: Hands | FiledHands,
    placement: Placement,
) -> Iterable[Packet]:
    """The packets that the last stage makes, all in one job."""
    frame = _apply(ticks, lambda came: job.pack(in_place_of_ticks(hands, came)), task)
    for stage in stages:
        moved = frame.repartitionById(stage.tasks, F.col("pid") % stage.tasks)
        frame = _apply(placement.frame(moved, stage.tasks), stage.work, task)
    return from_table(frame.toArrow())


def _apply(frame: DataFrame, work: Work, task: _Task) -> DataFrame:
    """A frame of packets with work done on each task's."""

    def over(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return to_batches(task.run(work, from_batches(batches)))

    return frame.mapInArrow(over, SPARK_SCHEMA)
