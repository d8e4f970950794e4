"""The driver of a large cluster by itself: real batches whose tasks are simulated.

Whatever the driver does is done and counted: it plans the batch, cuts up what tasks get, writes
that, pickles the work, reads what tasks tell, makes the manifest final, publishes and deletes. Left
out are Spark's own scheduler and the tasks.
"""

from __future__ import annotations

import gc
import pickle
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TypedDict

from pyspark import cloudpickle

from penstock.bench.scale.answers import STREAMS, Answers, tidy
from penstock.cql import parse
from penstock.engine.measures.collecting import uncollected
from penstock.engine.run.job import Job, Staged
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.sinks.sink import parquet
from penstock.engine.sources.slices import Slice, packets_of
from penstock.engine.spark.runner import split
from penstock.engine.spark.ticker import deal, filed
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.state.manifest import manifest_name
from penstock.engine.wire.facts import Fact
from penstock.engine.wire.packets import from_table
from penstock.plan.default_plan import default_plan

Progress = Callable[[str], None]
MOST = 1.0
"""CPU-seconds of a batch that its driver may take, as promised for 10,000 partitions."""


@dataclass(frozen=True)
class Size:
    """The numbers of partitions, the executors, each of which reads, the batches that a window
    holds, and those that are measured once it is full."""

    partitions: tuple[int, ...] = (100, 1_000, 10_000)
    executors: int = 1_000
    window: int = 8
    batches: int = 4


QUICK = Size(partitions=(100, 1_000), window=4, batches=2)


class ScaleFigures(TypedDict):
    """A batch at one number of partitions: means, and the longest."""

    partitions: int
    executors: int
    chunks: int
    driver_cpu_s: float
    driver_wall_s: float
    longest_wall_s: float
    manifest_bytes: int
    listing_bytes: int
    task_bytes: int
    told_bytes: int


class ScaleDocument(TypedDict):
    """The figures for programs."""

    window_batches: int
    measured_batches: int
    most_s: float
    is_kept: bool
    sizes: list[ScaleFigures]


@dataclass(frozen=True)
class Batched:
    """What one batch took: seconds of the driver, and bytes that it wrote, sent and read."""

    cpu: float
    wall: float
    manifest_bytes: int
    listing_bytes: int
    task_bytes: int
    told_bytes: int


@dataclass
class Clock:
    """Seconds of the driver: what is simulated does not count."""

    cpu: float = 0.0
    wall: float = 0.0
    _since: tuple[float, float] = (0.0, 0.0)

    def go(self) -> None:
        """Count from now on."""
        self._since = (time.process_time(), time.perf_counter())

    def halt(self) -> None:
        """Count no more."""
        self.cpu += time.process_time() - self._since[0]
        self.wall += time.perf_counter() - self._since[1]

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """What is done here is not the driver's."""
        self.halt()
        yield
        self.go()


@dataclass
class Cluster:
    """Runs jobs as Spark would, but that tasks answer at once; bytes of the last one."""

    executors: int
    clock: Clock = field(default_factory=Clock)
    listing_bytes: int = 0
    task_bytes: int = 0
    told_bytes: int = 0

    def run(self, job: Staged) -> Sequence[Fact]:
        """The facts that tasks tell, as the driver reads them."""
        assert isinstance(job, Job), "it is of one query"
        pieces = packets_of(self._slices(job.number))
        folder = f"transit/{job.number}"
        with (
            job.filed() as sent,
            filed(job.root, folder, deal(pieces, self.executors)) as hands,
        ):
            _, stages = split(job, sent)
            works = ((sent.pack, hands), *(stage.work for stage in stages))
            work = [cloudpickle.dumps(each, pickle.HIGHEST_PROTOCOL) for each in works]
            with self.clock.stopped():
                self.task_bytes = max(map(len, work))
                files = Path(job.root / folder).glob("*")
                self.listing_bytes = sum(file.stat().st_size for file in files)
                staging = job.batch.staging
                assert staging is not None, "results are files"
                arrived = Answers(job.batch, self.executors, staging.folder).arrived()
                self.told_bytes = arrived.nbytes
                assert isinstance(sent, Job), "it is the same one"
                tidy(sent.batch)
                # The garbage of what is simulated is not the driver's to collect.
                gc.collect()
            with uncollected():
                return job.facts(from_table(arrived))

    def _slices(self, number: int) -> list[Slice]:
        return [
            Slice(alias, path=f"/streams/{alias}/{number:08d}-{each:06d}.parquet", number=each)
            for alias in STREAMS
            for each in range(self.executors)
        ]


def run_scale(size: Size, folder: Path, progress: Progress) -> ScaleDocument:
    """The driver at each number of partitions."""
    found = [_measured(size, partitions, folder, progress) for partitions in size.partitions]
    return {
        "window_batches": size.window,
        "measured_batches": size.batches,
        "most_s": MOST,
        "is_kept": all(each["driver_cpu_s"] <= MOST for each in found),
        "sizes": found,
    }


def _measured(size: Size, partitions: int, folder: Path, progress: Progress) -> ScaleFigures:
    progress(f"{partitions:,} partitions, {size.executors:,} executors")
    place = folder / f"{partitions}-partitions"
    plan = default_plan(parse(_text(size.window)))
    held = Checkpoint(str(place / "checkpoint"), plan.query, partitions, engine="spark")
    pipeline = Pipeline(plan, held, parquet(place / "results"))
    try:
        batches = [_batch(pipeline, size, n) for n in range(size.window + size.batches)]
        chunks = sum(1 for _ in pipeline.manifest.chunks())
    finally:
        pipeline.close()
        shutil.rmtree(place)
    full = batches[size.window :]
    return {
        "partitions": partitions,
        "executors": size.executors,
        "chunks": chunks,
        "driver_cpu_s": round(fmean(each.cpu for each in full), 3),
        "driver_wall_s": round(fmean(each.wall for each in full), 3),
        "longest_wall_s": round(max(each.wall for each in full), 3),
        "manifest_bytes": round(fmean(each.manifest_bytes for each in full)),
        "listing_bytes": round(fmean(each.listing_bytes for each in full)),
        "task_bytes": max(each.task_bytes for each in full),
        "told_bytes": round(fmean(each.told_bytes for each in full)),
    }


def _batch(pipeline: Pipeline, size: Size, number: int) -> Batched:
    """One batch; what it has published is deleted again, as its reader would."""
    cluster = Cluster(size.executors)
    cluster.clock.go()
    pipeline.process(number, cluster.run, offsets=dict.fromkeys(STREAMS, number))
    cluster.clock.halt()
    assert pipeline.sink.path is not None, "results are files"
    for part in Path(pipeline.sink.path).glob("*.parquet"):
        part.unlink()
    written = pipeline.checkpoint.store.read(manifest_name(number)).size
    clock = cluster.clock
    return Batched(
        clock.cpu,
        clock.wall,
        written,
        cluster.listing_bytes,
        cluster.task_bytes,
        cluster.told_bytes,
    )


def _text(window: int) -> str:
    """A join of two streams over a window of so many batches, each of a second."""
    streams = "".join(
        f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v DOUBLE) WITH (format = 'parquet', "
        f"path = '/streams/{name}', timestamp = 'ts');\n"
        for name in STREAMS
    )
    inputs = ", ".join(f"{name} [RANGE {window} SECONDS]" for name in STREAMS)
    return f"{streams}SELECT * FROM {inputs} WHERE a.k = b.k;"
