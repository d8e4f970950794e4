"""A run is known before it is ready: it can be told something then, and it says why it failed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock as ps
from penstock.cli.control.status_text import status_text
from penstock.engine.control.order import give
from penstock.engine.local import LocalRun
from penstock.engine.places.place import Place
from penstock.engine.reports.announce import announced
from penstock.engine.reports.run_head import read_head
from penstock.engine.reports.standing import standing_of, store_of
from penstock.engine.run.handle import head_of
from penstock.engine.run.options import RunOptions
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.sinks.sink import noop
from penstock.engine.sources.feed import Feed
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.state.hold import Hold, is_held
from penstock.engine.state.store import Store
from penstock.errors import CheckpointError, SinkError
from penstock.watch.log_view import log_of
from penstock.watch.verdict import verdict
from support.engines.reported import answers_in, script
from support.waiting import PATIENCE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMMAND = [sys.executable, "-c", "from penstock.cli.main import main; main()"]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return tmp_path / "checkpoint"


def run_once(tmp_path: Path, checkpoint: Path, sink: str = "noop") -> None:
    query = ps.sql(script(tmp_path), engine="local")
    with query.local(sink=sink, checkpoint=checkpoint, available_now=True) as run:
        run.await_termination()


def test_what_is_ordered_while_it_begins_is_obeyed(tmp_path: Path, checkpoint: Path) -> None:
    plan = ps.sql(script(tmp_path), engine="local").plan
    give(Store(Place.of(checkpoint)), "stop")
    held = Checkpoint(str(checkpoint), plan.query, 1, engine="local", is_given=True)
    give(held.store, "pin", "(a b)")
    feed = Feed(plan.query.sources.values(), held.store)
    pipeline = Pipeline(plan, held, noop())
    LocalRun(pipeline, feed, RunOptions(sink=noop(), checkpoint=str(checkpoint))).available_now()
    before, after = answers_in(checkpoint)
    assert (before.change.reason, before.is_refused) == (
        "stop: refused: it was given before this run",
        True,
    )
    assert (after.change.reason, after.is_refused) == ("pin (a b): the plan from batch 0 on", False)


def test_it_is_known_before_it_has_claimed_its_folder(tmp_path: Path, checkpoint: Path) -> None:
    query = ps.sql(script(tmp_path), engine="local").query
    options = RunOptions(sink=noop(), checkpoint=str(checkpoint))
    hold = Hold(str(checkpoint))
    with announced(hold.store, head_of(query, options, "spark")):
        standing = standing_of(store_of(checkpoint), 0.0)
        assert standing.is_running
        assert standing.head is not None
        assert (standing.head.engine, standing.head.process) == ("spark", os.getpid())
    hold.close()
    assert not is_held(hold.store)


def test_who_is_stopped_while_it_begins_had_no_error(tmp_path: Path, checkpoint: Path) -> None:
    query = ps.sql(script(tmp_path), engine="local").query
    options = RunOptions(sink=noop(), checkpoint=str(checkpoint))
    hold = Hold(str(checkpoint))
    with pytest.raises(KeyboardInterrupt), announced(hold.store, head_of(query, options, "spark")):
        raise KeyboardInterrupt
    hold.close()
    standing = standing_of(store_of(checkpoint), 0.0)
    assert "does not run: stopped by the user 20" in status_text(standing, 0.0)
    assert "error" not in status_text(standing, 0.0)
    assert verdict(log_of(standing)) == "was stopped by the user"


@pytest.fixture
def foreign(tmp_path: Path) -> str:
    """A sink that is refused: files of others are in it."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "theirs.parquet").write_bytes(b"theirs")
    return f"parquet:{tmp_path / 'out'}"


def test_a_first_run_that_cannot_begin_says_why(
    tmp_path: Path, checkpoint: Path, foreign: str
) -> None:
    for _ in range(2):
        with pytest.raises(SinkError) as error:
            run_once(tmp_path, checkpoint, foreign)
        head = read_head(Store(Place.of(checkpoint)))
        assert head is not None
        assert head.ended_at is not None
        assert head.error == error.value.message
    run_once(tmp_path, checkpoint)
    head = read_head(Store(Place.of(checkpoint)))
    assert head is not None
    assert head.error is None


def test_a_later_run_that_cannot_begin_is_not_the_last_one(
    tmp_path: Path, checkpoint: Path, foreign: str
) -> None:
    run_once(tmp_path, checkpoint)
    before = read_head(Store(Place.of(checkpoint)))
    with pytest.raises(SinkError):
        run_once(tmp_path, checkpoint, foreign)
    other = ps.sql(script(tmp_path).replace("RANGE 10", "RANGE 11"), engine="local")
    with pytest.raises(CheckpointError, match="another query"):
        other.local(sink="noop", checkpoint=checkpoint)
    assert read_head(Store(Place.of(checkpoint))) == before


def test_only_its_owner_reads_the_text_of_a_query(tmp_path: Path, checkpoint: Path) -> None:
    run_once(tmp_path, checkpoint)
    named = [path for path in checkpoint.rglob("*") if path.is_file()]
    told = [path for path in named if b"CREATE STREAM" in path.read_bytes()]
    assert told == [checkpoint / "reports" / "run.json"]
    assert stat.S_IMODE(told[0].stat().st_mode) == 0o600


@pytest.mark.spark
def test_a_run_is_stopped_while_spark_starts(
    spark: SparkSession, tmp_path: Path, checkpoint: Path
) -> None:
    query = tmp_path / "query.cql"
    query.write_text(script(tmp_path))
    options = ["--master=local[1]", "--sink=noop", f"--checkpoint={checkpoint}", "--trigger=1h"]
    with subprocess.Popen(
        [*COMMAND, "run", str(query), *options], stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stderr is not None
        next(line for line in run.stderr if line.startswith("starting Spark"))
        told = subprocess.run(
            [*COMMAND, "stop", str(checkpoint), "--no-wait"], capture_output=True, text=True
        )
        assert (told.returncode, told.stdout) == (0, "stop: given\n")
        run.stderr.read()
        assert run.wait(timeout=PATIENCE) == 0
    (answer,) = answers_in(checkpoint)
    assert not answer.is_refused
    assert not is_held(Store(Place.of(checkpoint)))
