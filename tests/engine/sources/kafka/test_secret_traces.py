"""A password in a query on Spark: all that its processes write and show is searched for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.engine.spark.jvm import log_file
from support.kafka.cluster import REAL, Cluster

SECRET, USER = b"Hush-8c1f-0f3d", b"me-77a1-2b9e"
COMMAND = [sys.executable, "-c", "from penstock.cli.main import main; main()"]
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(REAL is not None, reason="with a real broker nothing else is written"),
]


@pytest.fixture
def query(tmp_path: Path) -> Iterator[Path]:
    """A query over a topic and a table of Spark's, each with the password."""
    cluster, folder = Cluster(), tmp_path
    cluster.send("a", 0, *({"ts": f"2026-01-01 00:00:0{n}", "x": n} for n in range(6)))
    (folder / "t").mkdir()
    pq.write_table(pa.table({"x": [1, 2]}), folder / "t" / "1.parquet")
    (folder / "query.cql").write_text(
        "CREATE STREAM a (ts TIMESTAMP, x BIGINT) WITH (format = 'kafka', timestamp = 'ts', "
        f"servers = '{cluster.servers}', topic = 'a', max_rows = 2, "
        f"'kafka.sasl.username' = '{USER.decode()}', 'kafka.sasl.password' = '{SECRET.decode()}');"
        f"CREATE TABLE t (x BIGINT) WITH (format = 'spark:parquet', path = '{folder / 't'}', "
        f"'db.password' = '{SECRET.decode()}');\n"
        "SELECT a.x FROM a [RANGE 1 MINUTE], t WHERE a.x = t.x;",
        encoding="utf-8",
    )
    yield folder / "query.cql"
    del cluster


def having(text: bytes, *folders: Path) -> Iterator[str]:
    """The files with a text; some may be gone before they are read."""
    return Search(text).new_in(*folders)


class Search:
    """A search for a text, again and again, in files that were written to since the last time."""

    def __init__(self, text: bytes):
        self._text = text
        self._seen = dict[Path, tuple[int, int]]()

    def new_in(self, *folders: Path) -> Iterator[str]:
        for path in files_in(*folders):
            with suppress(OSError):
                stat = path.stat()
                state = (stat.st_mtime_ns, stat.st_size)
                if self._seen.get(path) != state and self._text in path.read_bytes():
                    yield str(path)
                self._seen[path] = state


def files_in(*folders: Path) -> Iterator[Path]:
    """All files of folders, in which some may come and go meanwhile; or files themselves."""
    for folder in folders:
        if folder.is_file():
            yield folder
        for place, _, names in os.walk(folder):
            yield from (Path(place, name) for name in names)


def shown(process: psutil.Process) -> Iterator[str]:
    """The command lines of a process and all below it, which any user of the machine can see."""
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.Error):
            yield " ".join(each.cmdline())


def test_a_session_leaves_a_password_in_none_of_its_folders(
    spark: SparkSession, query: Path, tmp_path: Path
) -> None:
    """With Spark's usual settings, while the query runs and when it is done."""
    run_folder = tmp_path / "run"
    local = Path(spark.sparkContext.getConf().get("spark.local.dir", ""))
    assert list(local.glob("**/blockmgr-*"))
    folders = [run_folder, Path(log_file()), local]
    found = set[str]()

    def look(_report: ps.Report) -> None:
        found.update(having(SECRET, *folders))

    with ps.sql(query.read_text(encoding="utf-8")).start(
        spark,
        sink=ps.jsonl(run_folder / "out.jsonl"),
        checkpoint=run_folder / "state",
        available_now=True,
        report=look,
    ) as run:
        run.await_termination()
    assert len(run.reports) > 1
    assert (run_folder / "out.jsonl").read_text().count("x") == 2
    assert [*found, *having(SECRET, *folders)] == []
    assert list(having(USER, run_folder))


def test_a_command_leaves_a_password_nowhere_where_spark_encrypts_its_files(
    query: Path, tmp_path: Path
) -> None:
    """Even with all functions on disk, as large ones are, and with Spark's own log of events."""
    made = {name: tmp_path / name for name in ("run", "events", "local", "temporary", "home")}
    for folder in made.values():
        folder.mkdir()
    settings = {
        "spark.io.encryption.enabled": "true",
        "spark.broadcast.UDFCompressionThreshold": "1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": str(made["events"]),
        "spark.local.dir": str(made["local"]),
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={made['temporary']} "
        "-XX:TieredStopAtLevel=1",
    }
    command = [*COMMAND, "run", str(query)]
    command += ["--available-now", "--master", "local[2]"]
    command += ["--checkpoint", str(made["run"] / "state")]
    command += ["--sink", f"jsonl:{made['run'] / 'out.jsonl'}"]
    command += [part for item in settings.items() for part in ("--conf", "=".join(item))]
    with (tmp_path / "said").open("wb") as said:
        process = psutil.Popen(
            command,
            cwd=made["home"],
            env={**os.environ, "TMPDIR": str(made["temporary"])},
            stdout=said,
            stderr=said,
        )
        found, seen = set[str](), set[str]()
        places = [*made.values(), tmp_path / "said"]
        search = Search(SECRET)
        while process.poll() is None:
            found.update(search.new_in(*places))
            found.update(line for line in shown(process) if SECRET.decode() in line)
            seen.update(str(path) for path in files_in(made["local"]))
            with suppress(psutil.TimeoutExpired):
                process.wait(0.05)  # It has the core to itself meanwhile.
    assert process.wait() == 0, (tmp_path / "said").read_text()
    assert (made["run"] / "out.jsonl").read_text().count("x") == 2
    assert [*found, *having(SECRET, *places)] == []
    assert list(having(USER, made["run"]))
    assert list(having(b"SparkListenerSQLExecutionStart", made["events"]))
    assert [path for path in seen if "broadcast" in path or "pyspark-" in path]
