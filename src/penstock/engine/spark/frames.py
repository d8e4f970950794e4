"""The DataFrames of a query: given by its user, or opened by a reader of Spark's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.engine.places.place import Place
from penstock.engine.sources.feed import refuse_missing_frames
from penstock.engine.sources.spool import spool_rows
from penstock.engine.spark.frame_shape import shape_of
from penstock.engine.spark.jvm import reason_of
from penstock.engine.spark.runner import settling, with_end
from penstock.engine.wire.packets import SPARK_SCHEMA, pack_fact, to_batches
from penstock.engine.wire.settled import settle
from penstock.engine.wire.task_errors import errors_as_facts
from penstock.errors import SourceError
from penstock.query import Query
from penstock.query.families.spelling import spelled
from penstock.query.script import Script
from penstock.query.secret import is_reference, is_secret_name, looked_up
from penstock.query.source import Source
from penstock.query.types import DataType

# Spark reads these only if it is told their columns; other readers know their own.
_SCHEMALESS = ("csv", "json", "parquet", "orc", "avro", "xml", "text")
_SPARK_TYPES = {DataType.NULL: "void"}


def frames_of(
    spark: SparkSession,
    asked: Query | Script,
    given: Mapping[str, DataFrame],
) -> dict[str, DataFrame]:
    """The DataFrames of all streams and tables that come through Spark, by name."""
    by_name = {name.lower(): frame for name, frame in given.items()}
    sources = [source for source in asked.sources.values() if source.is_of_spark]
    return {source.name: _frame_of(spark, source, by_name) for source in sources}


def _frame_of(spark: SparkSession, source: Source, given: Mapping[str, DataFrame]) -> DataFrame:
    match source.format:
        case "rate":
            reader = spark.readStream.format("rate")
            return reader.option("rowsPerSecond", max(1, round(source.rate or 1.0))).load()
        case "spark":
            return _opened(spark, source)
    refuse_missing_frames([source], given)
    return given[source.name.lower()]


def _opened(spark: SparkSession, source: Source) -> DataFrame:
    """The DataFrame of a reader of Spark's; its columns must be as they were declared."""
    is_told = (source.reader or "").lower() in _SCHEMALESS
    try:
        try:
            frame = _load(spark, source, is_told)
        except (PySparkException, Py4JError) as error:
            if "schema" not in str(error).lower():
                raise
            frame = _load(spark, source, not is_told)
    except (PySparkException, Py4JError) as error:
        raise _unopened(source, error) from None
    _check_columns(source, frame)
    return frame


def _load(spark: SparkSession, source: Source, is_told: bool) -> DataFrame:
    base: Any = spark.read if source.is_table else spark.readStream
    reader = base.format(source.reader).options(**_options(source))
    if is_told:
        columns = (
            f"{_quoted(f.name)} {_SPARK_TYPES.get(f.type, f.type)}" for f in source.whole_fields
        )
        reader = reader.schema(", ".join(columns))
    frame: DataFrame = reader.load()
    frame.schema  # noqa: B018 - Connect looks at nothing before that
    return frame


def _options(source: Source) -> dict[str, str]:
    """The reader's options; those that say where their value is kept are looked up there."""
    try:
        return {
            name: looked_up(value) if is_reference(value) and is_secret_name(name) else value
            for name, value in source.reader_options
        }
    except ValueError as error:
        raise SourceError(
            f"an option of {source.name} cannot be looked up: {error}",
            place=source.places.get("format"),
            hint="set it where the query is started",
        ) from None


def _unopened(source: Source, error: Exception) -> SourceError:
    return SourceError(
        f"Spark cannot open {source.name} as {source.reader}: {reason_of(error)}",
        place=source.places.get("format"),
        hint="its options are passed on as they are; a format of others comes with "
        "--conf spark.jars.packages=…, or with a session that has it",
    )


def _check_columns(source: Source, frame: DataFrame) -> None:
    """Refuse declared columns that the frame does not have, or has in another type."""
    shape = shape_of(source.name, frame)
    for field in source.whole_fields:
        found = shape.type_of(field.name)
        if not shape.has(field):
            there = "is not there" if found is None else f"is {found}, not {field.type}"
            raise SourceError(
                f"column {field.name} of {source.name} {there}",
                place=source.places.get("name"),
                hint=f"Spark reads {', '.join(f'{c.name} {c.type}' for c in shape.fields)}",
            )


def spooling(frame: DataFrame, source: Source, root: Place) -> DataFrame:
    """A DataFrame whose tasks write its rows to the spool and give facts of that, as packets.

    Spark counts the rows of streams on the way, for whoever listens to its queries.
    """
    # Functions are given columns by names that Spark reads as if they were parsed, dots and all.
    names = [field.name for field in source.whole_fields]
    spellings = [_quoted(spelled(name, frame.columns) or name) for name in names]
    columns = [F.col(name).alias(f"c{number}") for number, name in enumerate(spellings)]
    rows = frame.select(*columns)
    settled = settling(frame.sparkSession)

    def spool(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        # Where facts go, nobody looks at their partition: it says how many rows there are.
        facts = (pack_fact(each.rows, each) for each in spool_rows(root, source, batches))
        yield from to_batches(errors_as_facts(with_end(facts, settled)))

    spooled = rows.mapInArrow(spool, SPARK_SCHEMA)
    if source.is_table:
        return spooled
    # To have Spark count the rows one by one would take longer than to read them.
    counted = F.coalesce(F.sum("pid"), F.lit(0)).alias("rows")
    return spooled.observe(f"penstock:{source.name}", counted)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
