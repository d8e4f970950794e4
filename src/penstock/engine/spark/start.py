"""Start a query on Spark, as a real streaming query with a handle over it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from threading import Lock, Thread

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import StreamingQuery

from penstock.engine.checkpoint import Checkpoint
from penstock.engine.feed import Feed, absolute
from penstock.engine.manifest import Manifest
from penstock.engine.packets import SPARK_SCHEMA, Packet, pack_rows, to_batches
from penstock.engine.pipeline import Pipeline, Report
from penstock.engine.sinks import Sink
from penstock.engine.spark.runner import on_spark
from penstock.engine.spark.source import FORMAT, FeedSource, leave_sources
from penstock.engine.store import Store
from penstock.errors import PenstockError, StateError
from penstock.plan.multiway import MultiwayJoin
from penstock.query import Query
from penstock.query.source import Source

# Enough reports for a day at a batch every ten seconds; older ones are forgotten.
_REPORTS = 8_640

_IO_ERROR = re.compile(r"java\.io\.IOException: (.*?)(?: SQLSTATE.*)?$", re.MULTILINE)


class SparkRun:
    """A query running on Spark. `streaming` is Spark's own handle."""

    def __init__(self, spark: SparkSession, pipeline: Pipeline, *, drains: bool):
        self.reports: deque[Report] = deque(maxlen=_REPORTS)
        self.pipeline = pipeline
        self.streaming: StreamingQuery
        self._spark = spark
        self._drains = drains
        self._error: BaseException | None = None
        self._is_stopped = False
        self._busy = Lock()

    @property
    def is_active(self) -> bool:
        return bool(self.streaming.isActive)

    def stop(self) -> None:
        """Stop once the batch under way is done."""
        self._is_stopped = True
        with self._busy:
            self.streaming.stop()
        self.pipeline.checkpoint.close()

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until the query has ended, then drain it if that was asked for.

        True if it has ended, False after `timeout` seconds. What made it fail is raised.
        """
        try:
            ended = self.streaming.awaitTermination(timeout)
        except StreamingQueryException as error:
            self.pipeline.checkpoint.close()
            if isinstance(self._error, PenstockError):
                raise self._error from None
            found = _IO_ERROR.search(str(error))
            if found and self._error is None:
                raise StateError(
                    f"Spark cannot write in {self.pipeline.checkpoint.store.root}: {found[1]}",
                    hint="nothing is lost: mend that, then run again on this checkpoint",
                ) from None
            raise error from self._error
        if timeout is not None and not ended:
            return False
        if self._drains and not self._is_stopped:
            self._drains = False
            facts = [(0, "meta", b'{"kind": "drain", "pid": 0}')]
            frame = self._spark.createDataFrame(facts, SPARK_SCHEMA)
            self.pipeline.drain(on_spark(frame))
        self.pipeline.checkpoint.close()
        return True

    def on_batch(self, frame: DataFrame, number: int) -> None:
        """What Spark calls for each micro-batch."""
        with self._busy:
            if self._is_stopped:
                # To return would tell Spark that the batch is done.
                raise InterruptedError("the query is being stopped")
            try:
                session = frame.sparkSession
                session.conf.set("spark.sql.adaptive.enabled", "false")
                session.conf.set("spark.sql.codegen.wholeStage", "false")
                self.pipeline.process(number, on_spark(frame))
            except BaseException as error:
                self._error = error
                raise


def start(
    plan: MultiwayJoin,
    spark: SparkSession,
    *,
    sink: Sink,
    checkpoint: str,
    trigger: str | None = None,
    available_now: bool = False,
    drain: bool = False,
    partitions: int | None = None,
    overwrite: bool = False,
    report: Callable[[Report], None] | None = None,
) -> SparkRun:
    """Start a plan: reads all there is and ends (`available_now`), or looks at every `trigger`."""
    query = plan.query
    cores = spark.sparkContext.defaultParallelism
    held = Checkpoint(
        checkpoint, query, partitions or cores, engine="spark", is_given=partitions is not None
    )
    Thread(target=_warm_up, args=(spark,), daemon=True).start()
    try:
        _remove_drafts(held.store)
        _check_sources(query, held, available_now)
        _check_reach(spark, held)
        deliver = _deliverer(spark, sink, held.store.root)
        pipeline = Pipeline(plan, held, sink, overwrite=overwrite, deliver=deliver)
        run = SparkRun(spark, pipeline, drains=drain and available_now)
        pipeline.on_report(lambda made: _reported(run, made, report))
        writer = _slices(spark, query, held, cores).writeStream.foreachBatch(run.on_batch)
        writer = writer.option("checkpointLocation", f"{held.store.root}/spark")
        timing = {"availableNow": True} if available_now else {"processingTime": trigger or "0 s"}
        run.streaming = writer.trigger(**timing).start()
    except BaseException:
        held.close()
        raise
    return run


def _reported(run: SparkRun, made: Report, report: Callable[[Report], None] | None) -> None:
    run.reports.append(made)
    if report is not None:
        report(made)


def _remove_drafts(store: Store) -> None:
    """Remove half-written entries of Spark's logs: at the first batch it would not go on."""
    for folder in ("spark/offsets", "spark/commits"):
        names = store.names(folder)
        store.remove([name for name in names if name.removesuffix(".crc").endswith(".tmp")])


def _check_sources(query: Query, held: Checkpoint, available_now: bool) -> None:
    """Fail for an unreadable source here, where the message can be seen."""
    feed = Feed(_fed(query), held.store)
    if available_now:
        feed.freeze()
    feed.next(feed.start())


def _fed(query: Query) -> list[Source]:
    """The sources that the feed reads: all but those that Spark itself provides."""
    sources = {item.source.name: item.source for item in query.inputs}
    return [source for source in sources.values() if source.format != "rate"]


def _slices(spark: SparkSession, query: Query, held: Checkpoint, tasks: int) -> DataFrame:
    """One stream of packets: slices to read, and the rows of Spark's own sources."""
    frames = []
    fed = _fed(query)
    if fed:
        leave_sources([absolute(source) for source in fed], held.store)
        spark.dataSource.register(FeedSource)
        reader = spark.readStream.format(FORMAT).option("root", held.store.root)
        frames.append(reader.option("tasks", str(tasks)).load())
    for name, source in {i.source.name: i.source for i in query.inputs}.items():
        if source.format == "rate":
            reader = spark.readStream.format("rate")
            rows = reader.option("rowsPerSecond", str(int(source.rate or 1))).load()
            frames.append(rows.mapInArrow(_as_packets(name), SPARK_SCHEMA))
    return reduce(DataFrame.union, frames)


def _as_packets(name: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def wrap(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packets: Iterator[Packet] = (pack_rows(0, f"rows:{name}", b) for b in batches if len(b))
        yield from to_batches(packets)

    return wrap


def _deliverer(spark: SparkSession, sink: Sink, root: str) -> Callable[[Manifest], None] | None:
    """Hand a batch's staged results to the user's function as a DataFrame."""
    function = sink.function
    if function is None:
        return None

    def deliver(made: Manifest) -> None:
        paths = [_as_uri(root, part.staged) for part in made.parts]
        if paths:
            function(spark.read.parquet(*paths), made.batch)

    return deliver


def _as_uri(root: str, path: str) -> str:
    """A path of the checkpoint's file system, as Spark writes it."""
    scheme, colon, _ = root.partition("://")
    return f"{scheme if colon else 'file'}://{path}"


def _warm_up(spark: SparkSession) -> None:
    """Start the Python workers while Spark is still planning; the first batch needs them."""
    cores = spark.sparkContext.defaultParallelism
    frame = spark.range(0, cores, 1, cores).selectExpr(
        "cast(id as int) as pid", "'meta' as tag", "cast('{}' as binary) as data"
    )
    for _ in range(2):
        frame = frame.mapInArrow(_unchanged, SPARK_SCHEMA).repartitionById(cores, F.col("pid"))
    frame.mapInArrow(_unchanged, SPARK_SCHEMA).toArrow()


def _unchanged(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _check_reach(spark: SparkSession, held: Checkpoint) -> None:
    """On a cluster, all executors must see the checkpoint."""
    if spark.sparkContext.master.startswith("local["):
        return
    name = "reach"
    held.store.write(name, b"penstock")
    root = held.store.root

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from penstock.engine.store import Store

        for batch in batches:
            seen = Store(root).exists(name)
            yield pa.RecordBatch.from_pydict({"seen": pa.array([seen] * len(batch))})

    tasks = max(8, 4 * spark.sparkContext.defaultParallelism)
    seen = spark.range(0, tasks, 1, tasks).mapInArrow(look, "seen boolean").collect()
    if not all(row.seen for row in seen):
        raise StateError(
            f"the executors cannot see the checkpoint {root}",
            hint="on a cluster it must lie on a file system that all machines share",
        )
