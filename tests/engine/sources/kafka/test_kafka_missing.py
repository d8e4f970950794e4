"""Without the extra `penstock[kafka]`: the command that installs it, wherever it is needed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import PenstockError

COMMAND = "python -m pip install 'penstock[kafka]'"
TOPIC = "CREATE STREAM a (ts BIGINT) WITH (format = 'kafka', servers = 'h:1', topic = 'a', "
FILES = "CREATE STREAM a (ts BIGINT) WITH (format = 'json', path = '{folder}', "


@pytest.mark.parametrize(
    ("absent", "stream", "sink", "what"),
    [
        ("confluent_kafka", TOPIC, "jsonl", "reading from Kafka needs confluent-kafka"),
        ("confluent_kafka", FILES, "kafka", "writing to Kafka needs confluent-kafka"),
        (
            "fastavro",
            TOPIC + "value = 'avro', schema = '{folder}/a.avsc', ",
            "jsonl",
            "reading Avro needs fastavro",
        ),
    ],
)
def test_what_is_missing_is_told_with_the_command_that_installs_it(
    absent: str, stream: str, sink: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, absent, None)
    schema = {"type": "record", "name": "a", "fields": [{"name": "ts", "type": "long"}]}
    (tmp_path / "a.avsc").write_text(json.dumps(schema), encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('{"ts": 1}\n', encoding="utf-8")
    text = (
        stream.format(folder=tmp_path) + "timestamp = 'ts', unit = 's'); SELECT a.ts FROM a [NOW]"
    )
    with pytest.raises(PenstockError, match=f"^{what}, which is not installed") as told:
        ps.sql(text, engine="local").local(
            sink=ps.kafka("h:1", "b") if sink == "kafka" else ps.jsonl(tmp_path / "out"),
            checkpoint=tmp_path / "state",
            available_now=True,
        ).await_termination()
    assert told.value.hint == COMMAND
