"""Spark's own source of Kafka beside ours: the same records, and the same join of them."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import penstock as ps
from support.engines.crashes import Crash
from support.kafka.cluster import Cluster, make_compacted, only_real
from support.kafka.joined_topics import fill, script
from support.kafka.real_broker import connector_jars
from support.kafka.sending import Sent, send, send_in_transaction
from support.sessions.frame_runs import FrameRun, finish_topics
from support.waiting import wait_until

pytestmark = [
    only_real,
    pytest.mark.spark,
    pytest.mark.skipif(not connector_jars(), reason="there is no connector of Spark for Kafka"),
]
NEW_YEAR = 1_767_225_600_000
"""The beginning of 2026, milliseconds since 1970."""


LAST = "last"
"""The key of records that are there to have others compacted; of these the broker may take away
some at any time."""


def value(number: int) -> bytes:
    return json.dumps({"x": number}).encode()


def ours(cluster: Cluster, topics: Sequence[str], folder: Path) -> list[tuple[Any, ...]]:
    """The records of some topics as our own source reads them, a few in each batch."""
    columns = "kafka_partition INT, kafka_offset BIGINT, kafka_timestamp TIMESTAMP, "
    columns += "kafka_key STRING, kafka_headers STRING, x BIGINT"
    names = [column.split()[0] for column in columns.split(", ")]
    found = []
    for topic in topics:
        query = ps.sql(
            f"CREATE STREAM a ({columns}) WITH (format = 'kafka', servers = '{cluster.servers}', "
            f"topic = '{topic}', timestamp = 'kafka_timestamp', lateness = '100000 days', "
            f"max_rows = 9); SELECT {', '.join(f'a.{name}' for name in names)} FROM a [NOW];",
            engine="local",
        )
        out = folder / f"{topic}.jsonl"
        query.local(
            sink=ps.jsonl(out), checkpoint=folder / f"of {topic}", available_now=True
        ).await_termination()
        lines = map(json.loads, out.read_text(encoding="utf-8").splitlines())
        found += [(topic, *(line[name] for name in names)) for line in lines]
    return sorted(row for row in found if row[4] != LAST)


def theirs(frame: DataFrame) -> DataFrame:
    """The records of a frame of Spark's source in the columns of ours."""
    time = "date_format(timestamp, \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'\")"
    x = "CAST(get_json_object(CAST(value AS STRING), '$.x') AS BIGINT) AS x"
    key = "CAST(key AS STRING) AS key"
    return frame.selectExpr("topic", "partition", "offset", f"{time} AS time", key, "headers", x)


def rows_of(found: Sequence[Row]) -> list[tuple[Any, ...]]:
    rows = ((*row[:5], shown(row.headers), row.x) for row in found)
    return sorted(row for row in rows if row[4] != LAST)


def shown(headers: Sequence[Row] | None) -> str | None:
    """Headers as our column has them: by name, a list of those that have the same."""
    by_name: dict[str, list[str]] = {}
    for each in headers or ():
        by_name.setdefault(each.key, []).append(each.value.decode())
    made = {name: texts if len(texts) > 1 else texts[0] for name, texts in by_name.items()}
    return json.dumps(made) if made else None


def read_by(reader: Any, cluster: Cluster, topics: Sequence[str]) -> DataFrame:
    """A frame of Spark's source of some topics."""
    reader = reader.format("kafka").option("kafka.bootstrap.servers", cluster.servers)
    reader = reader.option("kafka.isolation.level", "read_committed")
    reader = reader.option("startingOffsets", "earliest").option("includeHeaders", "true")
    return theirs(reader.option("subscribe", ",".join(topics)).load())


def streamed(spark: SparkSession, frame: DataFrame, folder: Path) -> list[Row]:
    """All rows of a stream of Spark's."""
    rows: list[Row] = []
    writer = frame.writeStream.foreachBatch(lambda batch, _: rows.extend(batch.collect()))
    writer = writer.option("checkpointLocation", str(folder / "of spark"))
    writer.trigger(availableNow=True).start().awaitTermination()
    return rows


def fill_plain(cluster: Cluster) -> None:
    """Records of all sorts in four partitions, and transactions among them."""
    cluster.make("plain")
    headers = [(), (("h", b"1"),), (("h", b"1"), ("h", b""), ("other", b"2"))]
    keys = [None, b"", b"k", "\u00df".encode()]
    times = [0, 1, NEW_YEAR, NEW_YEAR + 999, None]
    records = [
        Sent(value(n), n % 4, keys[n % 3 + n % 2], headers[n % 3], times[n % 5]) for n in range(60)
    ]
    send(cluster.servers, "plain", records[:30])
    for number, commits in enumerate((True, False, True, False, False)):
        numbers = range(1000 + 10 * number, 1010 + 10 * number)
        made = [Sent(value(n), n % 2, b"t", (), NEW_YEAR + n) for n in numbers]
        send_in_transaction(cluster.servers, "plain", made, commits=commits)
    send(cluster.servers, "plain", records[30:])
    last = [Sent(value(9999), part) for part in range(2)]
    send_in_transaction(cluster.servers, "plain", last, commits=False)


def fill_compacted(cluster: Cluster) -> None:
    """Records of which compaction has left those that came last, and gaps between these."""
    make_compacted(cluster, "compacted")
    numbers = range(40)
    many = [Sent(value(n), n % 2, f"k{n % 6}".encode(), (), NEW_YEAR + n) for n in numbers]
    send(cluster.servers, "compacted", many)

    def is_compacted() -> bool:
        # Only what is behind the last segment is compacted, so one more is begun each time.
        send(
            cluster.servers,
            "compacted",
            [Sent(value(-1), part, LAST.encode()) for part in range(2)],
        )
        return sum(record.key != LAST.encode() for record in cluster.read("compacted")) == 6

    wait_until(is_compacted)


def test_spark_reads_the_same_records(tmp_path: Path, spark: SparkSession) -> None:
    cluster = Cluster()
    fill_plain(cluster)
    fill_compacted(cluster)
    topics = ["plain", "compacted"]

    mine = ours(cluster, topics, tmp_path)
    batch = read_by(spark.read, cluster, topics)
    assert rows_of(batch.collect()) == mine
    reader = spark.readStream.option("maxOffsetsPerTrigger", 60)
    stream = read_by(reader, cluster, topics)
    assert rows_of(streamed(spark, stream, tmp_path)) == mine
    plain = [row for row in mine if row[0] == "plain"]
    assert sorted(row[-1] for row in plain) == [*range(60), *range(1000, 1010), *range(1020, 1030)]
    kept = sorted(row[-1] for row in mine if row[0] == "compacted")
    assert kept == [*range(34, 40)]


def test_a_join_of_sparks_topics_survives_a_killed_driver(
    tmp_path: Path, spark: SparkSession
) -> None:
    cluster = Cluster()
    wanted = fill(cluster)
    killed = FrameRun(tmp_path, Crash("after the spool's list", 2), cluster.servers)
    assert killed.exit_code() == -signal.SIGKILL
    finish_topics(spark, cluster.servers, tmp_path)
    direct = ps.sql(script(cluster), engine="local")
    direct.local(
        sink=ps.jsonl(tmp_path / "direct.jsonl"), checkpoint=tmp_path / "d", available_now=True
    ).await_termination()
    found = {
        name: Counter(
            (row["ax"], row["bx"])
            for row in map(json.loads, (tmp_path / name).read_text().splitlines())
        )
        for name in ("results.jsonl", "direct.jsonl")
    }
    assert found["results.jsonl"] == found["direct.jsonl"] == wanted
