"""Servers of Spark Connect that are killed, and clients that go away: nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def withheld(folder: Path, file: str) -> Iterator[None]:
    """Have a file of each stream come only after something was done."""
    for name in "ab":
        (folder / name / file).rename(folder / f"{name}.later")
    yield
    for name in "ab":
        (folder / f"{name}.later").rename(folder / name / file)


def check_orphan(url: str, folder: Path) -> None:
    """A query goes on when its client has gone, is told of, and is stopped from outside."""
    write_streams(folder)
    with withheld(folder, f"{FILES - 1}.jsonl"):
        arguments = [url, script(folder), str(folder)]
        subprocess.run([sys.executable, "-c", CLIENT, *arguments], check=True)
    checkpoint = folder / "checkpoint"

    def read() -> int:
        return sum(row["read"] for row in table_of(checkpoint, "reports"))

    wait_until(lambda: (checkpoint / "query.json").exists() and read() == 2 * 4 * FILES)
    assert "runs on spark" in told("status", folder)
    told("stop", folder)
    wait_until(lambda: "runs on spark" not in told("status", folder))
    local = ps.sql(script(folder), engine="local")
    with local.local(
        sink=f"parquet:{folder}/wanted", checkpoint=folder / "local", available_now=True
    ) as run:
        run.await_termination()
    assert counted(table_of(checkpoint)) == counted(table_of(folder / "local"))


def test_clients_may_go_and_a_killed_server_leaves_each_result_once(tmp_path: Path) -> None:
    from pyspark.sql.connect.client.retries import DefaultPolicy

    write_pairs(tmp_path)
    (tmp_path / "orphan").mkdir()
    with Server(tmp_path / "log") as server:
        spark = server.session()
        check_orphan(server.url, tmp_path / "orphan")
        # By itself a client asks a server that does not answer again for ten minutes.
        spark.client.set_retry_policies([DefaultPolicy(max_retries=3)])
        with withheld(tmp_path, "5.parquet"):
            run = start(spark, tmp_path, trigger=0.1)
            wait_until(lambda: len(run.reports) >= 2)
            server.kill()
        with (
            pytest.warns(UserWarning, match="RETRIES_EXCEEDED"),
            pytest.raises(EngineError, match="the Spark Connect server has gone"),
        ):
            run.await_termination()
        assert not run.is_active
    assert 0 < pairs_found(tmp_path).total() < 150
    with (
        Server(tmp_path / "log") as server,
        start(server.session(), tmp_path, available_now=True) as again,
    ):
        again.await_termination()
    assert pairs_found(tmp_path) == Counter((n, n) for n in range(0, 300, 2))
