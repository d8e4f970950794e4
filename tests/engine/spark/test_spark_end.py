"""How a run on Spark ends: in order, after a kill of its JVM, by signals; one message each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import TYPE_CHECKING, Any

import pytest

import penstock as ps
from penstock.engine.spark.handle import SparkRun
from penstock.errors import UsageError
from support.waiting import PATIENCE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PENSTOCK = Path(sys.executable).with_name("penstock")
SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
SELECT a.ts AS a FROM a [NOW]
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.csv").write_text("ts,k\n1,1\n2,2\n")
    path = tmp_path / "query.cql"
    path.write_text(SCRIPT.format(folder=tmp_path))
    return path


class Started:
    """A run as a process of its own, in a group of its own, as a terminal starts it."""

    def __init__(self, *arguments: object):
        command = [str(PENSTOCK), "run", *map(str, arguments)]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.said = ""

    def wait_for(self, text: str) -> None:
        assert self.process.stderr is not None
        while text not in self.said:
            line = self.process.stderr.readline()
            assert line, f"it ended: {self.said}"
            self.said += line

    def end(self) -> int:
        """Its exit code; all that it said is in `said`."""
        _, rest = self.process.communicate(timeout=PATIENCE)
        self.said += rest
        return self.process.returncode


@pytest.fixture
def start(script: Path) -> Iterator[Callable[..., Started]]:
    started: list[Started] = []

    def start(*arguments: object) -> Started:
        started.append(Started(script, *arguments))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()


def java_of(pid: int) -> int:
    """The JVM that a process has started."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if "java" in Path(f"/proc/{child}/exe").resolve().name:
            return int(child)
    raise AssertionError("it has no JVM")


@pytest.mark.spark
def test_a_query_has_ended_only_when_nobody_uses_the_session_any_more(
    spark: SparkSession, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is told that it has ended may stop the session: a late call would fail."""
    ended: list[str] = []

    class Slow:
        """Spark's handle, on a machine that is busy just after it has stopped the query."""

        def __init__(self, streaming: Any):
            self._streaming = streaming

        def __getattr__(self, name: str) -> Any:
            return getattr(self._streaming, name)

        def stop(self) -> None:
            self._streaming.stop()
            # Nothing tells that a caller goes on too early but that it does so meanwhile.
            time.sleep(1)
            ended.append("stop")

    begin = SparkRun.begin
    monkeypatch.setattr(SparkRun, "begin", lambda run, streaming: begin(run, Slow(streaming)))
    run = ps.sql(script.read_text()).start(
        spark, sink="noop", checkpoint=tmp_path / "checkpoint", available_now=True
    )
    assert run.await_termination()
    assert ended == ["stop"]


@pytest.mark.spark
def test_a_batch_that_spark_begins_while_it_stops_is_no_error(
    spark: SparkSession, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Busy:
        """Spark's handle, on a machine that is busy while it stops: it says that the query has
        ended, and begins another batch of it before it has."""

        def __init__(self, streaming: Any):
            self._streaming = streaming
            self._is_stopped = Event()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._streaming, name)

        def stop(self) -> None:
            self._is_stopped.set()

        def awaitTermination(self, seconds: float) -> bool:  # noqa: N802
            if current_thread() is main_thread():
                return bool(self._streaming.awaitTermination(seconds))
            return self._is_stopped.wait(seconds)

    begin = SparkRun.begin
    monkeypatch.setattr(SparkRun, "begin", lambda run, streaming: begin(run, Busy(streaming)))
    run = ps.sql(script.read_text()).start(
        spark, sink="noop", checkpoint=tmp_path / "checkpoint", available_now=True
    )
    assert run.await_termination()
    assert run.exception is None


@pytest.mark.spark
@pytest.mark.slow
def test_a_killed_jvm_is_one_error(start: Callable[..., Started], tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    run = start("--sink", "noop", "--checkpoint", checkpoint, "--trigger", "100ms")
    run.wait_for("batch 0")
    os.kill(java_of(run.process.pid), signal.SIGKILL)
    assert run.end() == 1
    _, _, said = run.said.partition("error: ")
    assert said.startswith("Spark's Java process has ended in the middle of the run\nhint: ")
    assert "run again on this checkpoint" in said
    assert len(said.splitlines()) == 2, run.said


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_spark_starts_ends_at_once(
    number: signal.Signals, start: Callable[..., Started]
) -> None:
    run = start("--sink", "noop", "--trigger", "100ms")
    run.wait_for("starting Spark")
    os.killpg(run.process.pid, number)
    assert run.end() == 130
    last = run.said.splitlines()[-1]
    assert last == "stopped at once; without --checkpoint nothing of it can go on"
    assert "Traceback" not in run.said


def test_what_can_be_refused_is_refused_before_spark_starts(
    start: Callable[..., Started], script: Path, tmp_path: Path
) -> None:
    checkpoint, results = tmp_path / "checkpoint", tmp_path / "results"
    common = ("--available-now", "--sink", f"jsonl:{results}")
    made = start(*common, "--checkpoint", checkpoint, "--engine", "local", "--drain")
    assert made.end() == 0
    for more, message in {
        ("--checkpoint", checkpoint): "was made by --engine local",
        ("--checkpoint", tmp_path / "new"): "already holds results",
        ("--overwrite", "--checkpoint", tmp_path / "a" / "1.csv"): "as a checkpoint",
    }.items():
        run = start(*common, *more)
        assert run.end() == 1
        assert message in run.said
        assert "starting Spark" not in run.said
    script.write_text(script.read_text().replace("/a'", "/nowhere'"))
    run = start("--sink", "noop", "--available-now")
    assert run.end() == 1
    assert "nowhere" in run.said
    assert "starting Spark" not in run.said


def test_the_same_from_python(script: Path, tmp_path: Path) -> None:
    query = ps.sql(script.read_text())
    place: dict[str, Any] = {"sink": "noop", "checkpoint": tmp_path / "checkpoint"}
    query.check(**place)
    assert not (tmp_path / "checkpoint").exists()
    run = query.local(**place)
    with pytest.raises(ps.PenstockError, match="in use by another run"):
        query.check(**place, engine="local")
    run.available_now(drain=True)
    with pytest.raises(ps.PenstockError, match="made by --engine local"):
        query.check(**place)
    with pytest.raises(ps.PenstockError, match="is closed"):
        query.check(**place, engine="local")
    with pytest.raises(ps.PenstockError, match="belongs to another query"):
        ps.sql(script.read_text().replace("a.ts AS a", "a.k AS a")).check(**place, engine="local")


@pytest.mark.parametrize("spark", [None, "local[2]", object()])
def test_what_is_no_session(spark: Any, script: Path, tmp_path: Path) -> None:
    query = ps.sql(script.read_text())
    with pytest.raises(UsageError, match="is not a Spark session"):
        query.start(spark, sink="noop", checkpoint=tmp_path / "checkpoint")
