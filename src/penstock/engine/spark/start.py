"""Start a query on Spark, as a real streaming query with a handle over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkAttributeError, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import DataStreamWriter

from penstock.engine.places.file_names import unique_name
from penstock.engine.places.place import Place, open_new
from penstock.engine.reports.announce import announced, message_of
from penstock.engine.run.handle import Batches, head_of
from penstock.engine.run.options import RunOptions
from penstock.engine.run.tables.columns_read import columns_read
from penstock.engine.script.script_start import check_sinks
from penstock.engine.sinks.publish import staged_below
from penstock.engine.sinks.sink import Sink
from penstock.engine.sources.feed import Feed, refuse_endless
from penstock.engine.spark.frames import frames_of
from penstock.engine.spark.handle import SparkRun
from penstock.engine.spark.inflow import Inflow
from penstock.engine.spark.jvm import is_lost, lost_error, storage_error
from penstock.engine.spark.runner import is_one_machine
from penstock.engine.spark.session import tell_access
from penstock.engine.spark.starting.warm_up import warm_up_beside
from penstock.engine.spark.work import QueryWork, ScriptWork, Work
from penstock.engine.state import manifest as manifests
from penstock.engine.state.hold import Hold
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store, storage_errors
from penstock.engine.state.upkeep.going_back import run_again
from penstock.errors import (
    CheckpointError,
    PenstockError,
    SetupError,
    SinkError,
    SourceError,
    StateError,
    UsageError,
)
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.script import Script

_LIGHT = {
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming"
    ".checkpointing.FileSystemBasedCheckpointFileManager"
}
_OFFSETS, _COMMITS = "spark/offsets/", "spark/commits/"
LIGHTEST_LOGS = {**_LIGHT, "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false"}
"""Settings by which Spark keeps the logs of streaming queries on local disks at the least cost."""


def start(
    plan: Plan,
    spark: SparkSession,
    options: RunOptions,
    hold: Hold | None = None,
    frames: Mapping[str, DataFrame] | None = None,
) -> SparkRun:
    """Start a plan: it reads all there is and ends, or looks for more at every `trigger`.

    `hold` is that on the checkpoint, where it was taken before there was a session; `frames` are
    the DataFrames of the query's streams and tables.
    """
    return _started(QueryWork(plan, options), spark, hold, frames or {})


def start_script(
    script: Script,
    plans: Mapping[str, Plan],
    sinks: Mapping[str, Sink],
    spark: SparkSession,
    options: RunOptions,
    hold: Hold | None = None,
    frames: Mapping[str, DataFrame] | None = None,
) -> SparkRun:
    """Start the planned queries of a script; each that is shown has a sink, by its name. The other
    arguments are those of `start`."""
    check_sinks(script, sinks)
    return _started(ScriptWork(script, plans, sinks, options), spark, hold, frames or {})


def _started(
    work: Work, spark: SparkSession, hold: Hold | None, frames: Mapping[str, DataFrame]
) -> SparkRun:
    """The work, running."""
    asked, options = work.asked, work.options
    cores = _cores(spark)
    tell_access(spark)
    opened = frames_of(spark, asked, frames)
    warming = warm_up_beside(spark.sparkContext)
    held = work.hold(cores, hold)
    batches: Batches | None = None
    run: SparkRun | None = None
    try:
        with announced(held.store, head_of(asked, options, "spark")):
            mend_logs(held.store)
            if not is_one_machine(spark):
                check_reach(spark, options, cores)
            inflow = Inflow(spark, asked, opened, held.store)
            feed = open_feed(asked, held.store, options.available_now, inflow.has_streams)
            batches = work.batches(spark, held)
            logs = inflow.logs(held.store, batches.manifest)
            run = SparkRun(
                spark,
                batches,
                feed,
                tasks=cores,
                options=options,
                inflow=inflow,
                logs=logs,
            )
        run.wait_also_for(warming)
        inflow.sweep(batches.manifest.batch)
        writer = inflow.packets(cores).writeStream.foreachBatch(run.on_batch)
        writer = writer.queryName(run.name)
        writer = writer.option("checkpointLocation", logs.folder.for_spark)
        light = light_logs(spark, logs.folder, has_frames=inflow.has_streams)
        run.starting.enter_context(light)
        run.begin(triggered(writer, options, inflow).start())
        if not inflow.has_streams:
            run.starting.close()
    except BaseException as error:
        if run is not None:
            run.starting.close()
        explained = explained_start(error, held.store.root)
        if batches is None:
            held.close()
        else:
            batches.close(message_of(explained or error))
        if explained is not None:
            raise explained from None
        raise
    return run


def explained_start(error: BaseException, root: Place) -> PenstockError | None:
    """What is to be said of a start that failed, where we know more than the error."""
    if is_lost(error):
        return lost_error()
    if isinstance(error, AnalysisException):
        reason = str(error).strip().split("\n", 1)[0]
        hint = "a frame must be one whose rows Spark can append, as to any sink of its own"
        return SourceError(f"Spark cannot run these DataFrames: {reason}", hint=hint)
    return storage_error(error, root)


def triggered(writer: DataStreamWriter, options: RunOptions, inflow: Inflow) -> DataStreamWriter:
    """Spark's trigger; where all there is gets read, one batch follows the other.

    Where DataFrames end only Spark knows.
    """
    if options.available_now and inflow.has_streams:
        return writer.trigger(availableNow=True)
    wanted = 0.0 if options.available_now else options.trigger.seconds
    return writer.trigger(processingTime=f"{round(wanted * 1000)} milliseconds")


@contextmanager
def light_logs(spark: SparkSession, root: Place, *, has_frames: bool) -> Iterator[None]:
    """Have a query that is started write Spark's logs without a dozen processes a batch.

    On local disks Hadoop calls `readlink` and `chmod` for every file; the other of Spark's own ways
    to write a log calls the latter alone. Where batches are ours alone, checksums of what Spark
    notes of them are of no use either.
    """
    light = _LIGHT if has_frames else LIGHTEST_LOGS
    wanted = light if root.is_local else {}
    # What a user has set stays.
    unset = [key for key in wanted if spark.conf.get(key, None) is None]
    for key in unset:
        spark.conf.set(key, wanted[key])
    try:
        yield
    finally:
        # A machine that has gone has no settings any more, and others tell of it.
        with suppress(PySparkException, Py4JError, OSError):
            for key in unset:
                spark.conf.unset(key)


def _cores(spark: SparkSession) -> int:
    try:
        context = spark.sparkContext
    except PySparkAttributeError:
        raise SetupError(
            "this session is a Spark Connect client, which has no view of its executors",
            hint="start from a session of the classic kind: SparkSession.builder.master(…)",
        ) from None
    except AttributeError:
        raise UsageError(
            f"{spark!r} is not a Spark session",
            hint="give one: SparkSession.builder.master('local[*]').getOrCreate()",
        ) from None
    if context._jsc is None:
        raise UsageError("this Spark session has been stopped", hint="start with a new one")
    return int(context.defaultParallelism)


def open_feed(asked: Query | Script, store: Store, available_now: bool, has_frames: bool) -> Feed:
    """The feed of all sources that do not come through Spark; unreadable ones are found here.

    Beside DataFrames Spark ends a run that reads all there is, perhaps after one batch.
    """
    sources = asked.sources.values()
    others = [source for source in sources if not source.is_of_spark]
    feed = Feed(others, store, columns_read(asked))
    if available_now:
        refuse_endless(sources)
        feed.freeze(at_once=has_frames)
    feed.next(feed.start())
    return feed


def mend_logs(store: Store) -> None:
    """Remove entries of Spark's logs with which it would not go on, or not where we do: those that
    are half written, those that a power cut has emptied, and those of a batch that is run again."""
    files = (store.root / "spark").files(recursive=True)
    there = {f"spark/{name}": info.size for name, info in files}
    gone = [n for n, size in there.items() if not size or n.removesuffix(".crc").endswith(".tmp")]
    again = _batch_again(store)
    if again is not None:
        gone += [name for name in there if name.startswith(_COMMITS) and _entry(name) >= again]
        gone += [name for name in there if name.startswith(_OFFSETS) and _entry(name) > again]
    checksums = ["/.".join(name.rsplit("/", 1)) + ".crc" for name in gone]
    store.remove([*gone, *(name for name in checksums if name in there)])


def _batch_again(store: Store) -> int | None:
    """The batch that is run again though it was final once; who goes on says what is damaged."""
    with suppress(CheckpointError):
        standing = manifests.latest(store)
        return run_again(store, standing or Manifest(batch=-1))
    return None


def _entry(name: str) -> int:
    """The batch of an entry of a log, and of its checksum; none if it is something else."""
    number = name.rpartition("/")[2].removeprefix(".").removesuffix(".crc")
    return int(number) if number.isdecimal() else -1


def check_reach(spark: SparkSession, options: RunOptions, cores: int) -> None:
    """Refuse a checkpoint or a sink that an executor does not see."""
    hint = "on a cluster it must lie on a file system that all machines share"
    root = Place.of(options.checkpoint)
    if not _is_seen(spark, root, cores):
        raise StateError(f"the executors cannot see the checkpoint {root}", hint=hint)
    for sink in options.sinks.values() or [options.sink]:
        folder = staged_below(sink)
        if folder is not None and not _is_seen(spark, folder, cores):
            raise SinkError(f"the executors cannot see the sink {sink}", hint=hint)


def _is_seen(spark: SparkSession, folder: Place, cores: int) -> bool:
    """Whether all executors see a file that the driver has written to a folder."""
    name = unique_name(".reach")
    with storage_errors("write", (folder / name).path), open_new(folder / name) as file:
        file.write(b"penstock")

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            seen = (folder / name).exists
            yield pa.RecordBatch.from_pydict({"seen": pa.array([seen] * len(batch))})

    tasks = max(8, 4 * cores)
    try:
        seen = spark.range(0, tasks, 1, tasks).mapInArrow(look, "seen boolean").collect()
    finally:
        folder.delete([name])
    return all(row.seen for row in seen)
