"""Runs into a topic that are killed at any moment: who reads what is committed gets all once."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.api import sql
from penstock.engine.sinks.sink import jsonl, kafka
from penstock.engine.state.manifest import newest
from support.engines.crashes import Crash, Run, exit_code, survived
from support.engines.runs import Place, first_files_only, run_local
from support.engines.soak import script, write_input
from support.kafka.cluster import REAL, Cluster

# Made-up brokers show what was never committed.
INSIDE = ["after a record", "before the transaction's end"] if REAL else []
POINTS = ["after the commit", "after the tail is read", *INSIDE, "after the transaction's end"]
IN_DRAIN = ["before the transaction", *INSIDE, "after the transaction's end"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[str]]]:
    """Input of a few batches, and what an undisturbed run writes into a file."""
    folder = tmp_path_factory.mktemp("input")
    write_input(folder, 4, Random(5))
    wanted = {}
    for query in ("common", "view"):
        out = folder / f"{query}.jsonl"
        run = Run(script(query, folder), str(folder / query), jsonl(out).name)
        assert exit_code(run) == 0
        wanted[query] = out.read_text(encoding="utf-8").splitlines()
    return folder, wanted


def values(lines: list[str]) -> Counter[Any]:
    """Results of a file as a topic has them: a deletion is its key."""
    rows = [json.loads(line) for line in lines]
    return Counter(str({"s": row["s"]} if row.get("_change") == "delete" else row) for row in rows)


def told(cluster: Cluster, topic: str) -> Counter[Any]:
    records = cluster.read(topic)
    return Counter(
        str(json.loads(record.key or b"") if record.value is None else record.data)
        for record in records
    )


@pytest.mark.parametrize(
    ("query", "point", "in_drain"),
    [
        *(("common", point, False) for point in POINTS),
        *(("view", point, True) for point in IN_DRAIN),
    ],
)
def test_a_crash_while_a_topic_is_written_is_survived(
    query: str,
    point: str,
    in_drain: bool,
    prepared: tuple[Path, dict[str, list[str]]],
    tmp_path: Path,
) -> None:
    folder, wanted = prepared
    cluster = Cluster()
    cluster.make("results")
    # Others write there too.
    cluster.send("results", 1, {"somebody": "else"})
    sink = kafka(cluster.servers, "results")
    run = Run(script(query, folder), str(tmp_path / "checkpoint"), sink.name)
    codes = survived(run, point, (0, 2, 10**9), in_drain=in_drain)
    assert codes[-1] == 0
    assert set(codes[:-1]) == {-signal.SIGKILL}
    others = Counter([str({"somebody": "else"})])
    assert told(cluster, "results") == values(wanted[query]) + others
    assert len(wanted[query]) > 30


def test_what_others_write_after_a_crash_hides_nothing(
    prepared: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    folder, wanted = prepared
    cluster = Cluster()
    cluster.make("results")
    run = Run(
        script("common", folder),
        str(tmp_path / "checkpoint"),
        kafka(cluster.servers, "results").name,
        Crash("after the transaction's end", 1),
    )
    assert exit_code(run) == -signal.SIGKILL
    for part in range(4):
        cluster.send("results", part, *({"other": number} for number in range(500)))
    assert exit_code(Run(run.text, run.checkpoint, run.sink)) == 0
    found = [record.data for record in cluster.read("results")]
    assert Counter(str(row) for row in found if "other" not in row) == values(wanted["common"])


def test_a_batch_that_is_gone_back_from_is_in_the_topic_once(
    prepared: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    """Its chunks were damaged once it had been published."""
    folder, wanted = prepared
    cluster = Cluster()
    cluster.make("results")
    sink, place = kafka(cluster.servers, "results"), Place(tmp_path)
    query = sql(script("common", folder)).query
    with first_files_only(query, 3):
        run_local(query, place, sink=sink, drain=False)
    one, other = (set(made.chunks()) for made in newest(place.store, 2))
    for chunk in one - other:
        Path(place.store.path(chunk.name)).unlink()
    run_local(query, place, sink=sink)
    assert place.store.exists("went-back")
    assert told(cluster, "results") == values(wanted["common"])
