"""Servers of Spark Connect that are killed, and clients that go away: nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.cli.main import app
from penstock.errors import EngineError
from support.engines.read_back import FILES, counted, script, table_of, write_streams
from support.sessions.connect_server import Server
from support.sessions.frame_runs import JOIN, file_frame, pairs_found, write_pairs
from support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "CREATE TABLE t WITH (format = 'dataframe');"


def start(spark: SparkSession, folder: Path, **more: Any) -> ps.Run:
    """The same call for every server: streams of two DataFrames, and a table of a third."""
    frames = {name: file_frame(spark, str(folder / name)) for name in "ab"}
    frames["t"] = spark.range(0, 300, 2).withColumnRenamed("id", "k")
    text = TABLE + JOIN.replace("WHERE", ", t WHERE t.k = a.k AND")
    return ps.sql(text, streams=frames).start(
        spark, sink=ps.jsonl(folder / "results.jsonl"), checkpoint=folder / "checkpoint", **more
    )


def test_a_killed_server_leaves_each_result_once(tmp_path: Path) -> None:
    from pyspark.sql.connect.client.retries import DefaultPolicy

    write_pairs(tmp_path)
    with Server(tmp_path / "log") as server:
        spark = server.session()
        # By itself a client asks a server that does not answer again for ten minutes.
        spark.client.set_retry_policies([DefaultPolicy(max_retries=3)])
        run = start(spark, tmp_path, available_now=True)
        wait_until(lambda: len(run.reports) >= 2)
        server.kill()
        with (
            pytest.warns(UserWarning, match="RETRIES_EXCEEDED"),
            pytest.raises(EngineError, match="the Spark Connect server has gone"),
        ):
            run.await_termination()
        assert not run.is_active
    before = len(pairs_found(tmp_path))
    with (
        Server(tmp_path / "log") as server,
        start(server.session(), tmp_path, available_now=True) as again,
    ):
        again.await_termination()
    assert pairs_found(tmp_path) == Counter((n, n) for n in range(0, 300, 2))
    assert before < 150


CLIENT = """
import sys
import penstock as ps
from pyspark.sql import SparkSession
url, text, folder = sys.argv[1:]
ps.sql(text).start(
    SparkSession.builder.remote(url).getOrCreate(),
    sink=f"parquet:{folder}/results", checkpoint=f"{folder}/checkpoint", trigger=0.2)
"""


def told(command: str, folder: Path) -> str:
    """What a command says of a query."""
    done = CliRunner().invoke(app, [command, str(folder / "checkpoint")])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_query_outlives_its_client(tmp_path: Path) -> None:
    write_streams(tmp_path)
    moved = [tmp_path / name / f"{FILES - 1}.jsonl" for name in "ab"]
    for path in moved:
        path.rename(tmp_path / f"{path.parent.name}.later")
    with Server(tmp_path / "log") as server:
        arguments = [server.url, script(tmp_path), str(tmp_path)]
        subprocess.run([sys.executable, "-c", CLIENT, *arguments], check=True)
        for path in moved:
            (tmp_path / f"{path.parent.name}.later").rename(path)
        checkpoint = tmp_path / "checkpoint"

        def read() -> int:
            return sum(row["read"] for row in table_of(checkpoint, "reports"))

        wait_until(lambda: (checkpoint / "query.json").exists() and read() == 2 * 4 * FILES)
        assert "running" in told("status", tmp_path)
        told("stop", tmp_path)
        wait_until(lambda: "running" not in told("status", tmp_path))
    assert counted(table_of(checkpoint)).total() > 0
