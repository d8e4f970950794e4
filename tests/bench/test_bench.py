"""The benchmarks: the data, the rivals' equality, the arithmetic and the figures' shape."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock.api import sql
from penstock.bench.data import ensure_data, link_prefix, read_stream, rechunk, tuples_of
from penstock.bench.joins import long_window
from penstock.bench.workload import ALIASES, CHAIN3, JOIN3, SPARSE3, Workload
from penstock.cli.main import app
from penstock.duration import MICROS
from penstock.engine.sinks.sink import parquet
from penstock.query import TimeWindow

TINY = replace(JOIN3, rate=60, distinct=150, seconds=6, window=2, step=MICROS)
CHAIN = replace(CHAIN3, rate=60, distinct=60, seconds=4, window=2, step=MICROS)


# Data


def test_every_machine_makes_the_same_tuples(tmp_path: Path) -> None:
    folders = [ensure_data(TINY, tmp_path / name) for name in ("one", "two")]
    one, two = ([[*read_stream(f, a)] for a in ALIASES] for f in folders)
    assert one == two
    # Known values, so that figures of different versions speak of the same data.
    assert tuples_of(TINY, 0, 0)["k"].to_pylist()[:4] == [63, 77, 43, 17]


def test_files_are_ordered_by_time_of_event_and_of_change(tmp_path: Path) -> None:
    folder = ensure_data(TINY, tmp_path)
    for alias in ALIASES:
        events = [t for table in read_stream(folder, alias) for t in table["ts"].to_pylist()]
        assert events == sorted(events)
        changes = [path.stat().st_mtime for path in sorted((folder / alias).iterdir())]
        assert changes == sorted(set(changes))
        assert len(changes) == TINY.files


def test_data_that_is_there_is_used_again_and_other_data_is_not(tmp_path: Path) -> None:
    folder = ensure_data(TINY, tmp_path)
    marker = folder / "A" / "marker"
    marker.touch()
    assert ensure_data(replace(TINY, window=1), tmp_path) == folder
    assert marker.exists()
    assert ensure_data(replace(TINY, distinct=3), tmp_path) != folder


def test_a_prefix_is_the_same_files(tmp_path: Path) -> None:
    folder = ensure_data(TINY, tmp_path / "all")
    prefix = link_prefix(folder, 2, tmp_path / "prefix")
    for alias in ALIASES:
        linked = sorted((prefix / alias).iterdir())
        assert [path.samefile(folder / alias / path.name) for path in linked] == [True, True]


def test_rechunking_keeps_the_tuples_and_their_order(tmp_path: Path) -> None:
    folder = ensure_data(TINY, tmp_path / "all")
    few = rechunk(folder, [4, 1, 1], tmp_path / "few")
    for alias in ALIASES:
        before, after = ([*read_stream(f, alias)] for f in (folder, few))
        assert len(after) == 3
        assert [r for t in before for r in t.to_pylist()] == [
            r for t in after for r in t.to_pylist()
        ]


@pytest.mark.parametrize("workload", [JOIN3, SPARSE3, CHAIN3], ids=lambda w: w.name)
def test_workloads_are_those_that_were_agreed(workload: Workload) -> None:
    assert workload.tuples == 3 * 20_000 * 60
    assert workload.files == 12
    query = sql(workload.cql(Path("it's here"))).query
    assert [item.window for item in query.inputs] == [TimeWindow(10 * MICROS)] * 3
    assert {item.source.option("max_files") for item in query.inputs} == {1}
    assert len(query.equalities) == 2


# The command


def test_too_little_data_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["bench", "join3", "--seconds", "20", "--data", str(tmp_path)])
    assert str(done.exception) == (
        "20 s of data are 4 batches, of which the first 4 are warm-up\nhint: give more --seconds"
    )
    assert list(tmp_path.iterdir()) == []


def test_wrong_usage_is_told_apart() -> None:
    for arguments in (["nothing"], ["latency", "--repeat", "2"], ["join3", "--repeat", "0"]):
        assert CliRunner().invoke(app, ["bench", *arguments]).exit_code == 2


def test_the_command_prints_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = partial(long_window.long_window_benchmark, tail=3)
    monkeypatch.setattr(long_window, "long_window_benchmark", short)
    arguments = ["bench", "long-window", "--seconds", "15", "--format", "json"]
    done = CliRunner().invoke(app, [*arguments, "--data", str(tmp_path)])
    assert json.loads(done.stdout)["window_s"] == 15
    assert "making 4,500 tuples" in done.stderr


# On Spark


@pytest.mark.spark
@pytest.mark.parametrize(
    "workload", [replace(TINY, seconds=4), CHAIN], ids=lambda workload: workload.name
)
def test_spark_itself_computes_the_same_join(
    workload: Workload, spark: Any, tmp_path: Path
) -> None:
    from penstock.bench.native import native_join

    folder = ensure_data(workload, tmp_path)
    joined = native_join(spark, workload, folder)
    writer = joined.writeStream.format("memory").queryName(f"native_{workload.name}")
    writer = writer.option("checkpointLocation", str(tmp_path / "native"))
    writer.trigger(availableNow=True).start().awaitTermination()
    query = sql(workload.cql(folder))
    out, checkpoint = tmp_path / "results", str(tmp_path / "checkpoint")
    query.local(sink=parquet(out), checkpoint=checkpoint).available_now()
    ours, theirs = spark.read.parquet(str(out)), spark.table(f"native_{workload.name}")
    assert ours.columns == theirs.columns
    rows = [Counter(map(tuple, frame.collect())) for frame in (ours, theirs)]
    assert rows[0] == rows[1]
    assert rows[0].total() > 100
