"""The page about Kafka: its queries run as they stand, and its table has every option."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pytest

import penstock as ps
from penstock.cql.declare.options import FORMATS, OPTIONS
from penstock.cql.script import parse
from penstock.query.secret import is_reference
from support.kafka.cluster import Cluster
from support.kafka.sending import Sent, send
from support.paths import ROOT

PAGE = (ROOT / "docs" / "kafka.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
SCHEMA = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0]
BIDS: list[dict[str, Any]] = [
    {"auction": 7, "price": 10.5, "at": 1_767_225_600_000},
    {"auction": 8, "price": None, "at": 1_767_225_601_000},
]


def filled() -> Cluster:
    """The topics of the page, with two bids in each."""
    cluster, schema = Cluster(), json.loads(SCHEMA)
    cluster.send("bids", 0, *BIDS)
    auction = Sent(b'{"id": 7, "seller": "Ann"}', part=1, millis=BIDS[0]["at"])
    send(cluster.servers, "auctions", [auction])
    cluster.send("rows", 0, b"7;NA;10.5;2026-01-01 00:00:00", b'8;"a;b";NA;2026-01-01 00:00:01')
    for bid in BIDS:
        stream = BytesIO(b"\x00\x00\x00\x00\x01")
        stream.seek(5)
        fastavro.schemaless_writer(stream, schema, bid)
        cluster.send("records", 2, stream.getvalue())
    return cluster


WANTED = {
    "auctions": [[10.5, "Ann"]],
    "subscribe": [[8, None]],
    "csv": [[7, None, 10.5], [8, "a;b", None]],
    "avro": [[7, 10.5], [8, None]],
}


@pytest.mark.parametrize("told_by", WANTED)
def test_a_query_of_the_page_runs(
    told_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bid.avsc").write_text(SCHEMA, encoding="utf-8")
    (query,) = [each for each in QUERIES if told_by in each]
    assert "localhost:9092" in query
    cluster = filled()
    text = query.replace("localhost:9092", cluster.servers)
    out = tmp_path / "out.jsonl"
    run = ps.sql(text, engine="local").local(
        sink=ps.jsonl(out), checkpoint=tmp_path / "state", available_now=True
    )
    run.await_termination()
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    assert [list(json.loads(line).values()) for line in lines] == WANTED[told_by]


def test_the_query_with_a_password_keeps_it_elsewhere() -> None:
    (query,) = [each for each in QUERIES if "kafka.sasl.password" in each]
    client = dict(parse(query).sources["bid"].client)
    assert client["security.protocol"] == "SASL_SSL"
    assert is_reference(str(client["sasl.password"]))
    assert len(QUERIES) == len(WANTED) + 1


def test_every_option_is_in_the_table() -> None:
    table = PAGE.split("## Options")[1].split("```")[0]
    some = [option for option in OPTIONS.values() if option.formats != FORMATS]
    own = [option.name for option in some if "kafka" in option.formats]
    assert len(own) > 15
    assert [name for name in own if f"`{name}`" not in table] == []
