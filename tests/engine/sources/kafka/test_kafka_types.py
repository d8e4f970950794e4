"""DECIMALs, nested columns and zones in the values of records."""

from __future__ import annotations

import json
from pathlib import Path

import penstock as ps
from support.kafka.cluster import Cluster


def test_records_have_decimals_nested_columns_and_a_zone(tmp_path: Path) -> None:
    cluster = Cluster()
    value = {"ts": "2026-07-01 12:00:00", "price": 1.005, "meta": {"city": "Graz", "n": 1}}
    cluster.send("a", 0, {**value, "tags": ["x"]}, {**value, "price": "2.50", "tags": None})
    query = ps.sql(
        f"""CREATE STREAM a (ts TIMESTAMP, price DECIMAL(6, 2), meta STRUCT<city: STRING, n: INT>,
        tags ARRAY<STRING>, kafka_offset BIGINT) WITH (format = 'kafka', topic = 'a',
        servers = '{cluster.servers}', timestamp = 'ts', timezone = 'Europe/Vienna');
        SELECT a.ts, a.price, a.meta.city, GET(a.tags, 0) AS tag, a.kafka_offset FROM a [NOW]""",
        engine="local",
    )
    out = tmp_path / "out.jsonl"
    query.local(
        sink=ps.jsonl(out), checkpoint=tmp_path / "state", available_now=True
    ).await_termination()
    rows = [tuple(json.loads(line).values()) for line in out.read_text().splitlines()]
    moment = "2026-07-01T10:00:00.000000Z"
    assert sorted(rows, key=str) == [
        (moment, 1.01, "Graz", "x", 0),
        (moment, 2.5, "Graz", None, 1),
    ]
