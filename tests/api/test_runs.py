"""Runs: the same names on both engines, and a `with` block that stops what it was given."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.engine.run.pipeline import Pipeline
from penstock.engine.state.hold import is_held
from penstock.errors import CheckpointError, SourceError, UsageError
from penstock.plan.text.parse import render_plan
from support.waiting import wait_until

SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
SELECT a.ts AS a, b.ts AS b FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k
"""
RESULTS = 3 * 3

Start = Callable[..., ps.Run]


@pytest.fixture
def text(tmp_path: Path) -> str:
    for name in "ab":
        (tmp_path / name).mkdir()
        for number in (1, 2, 3):
            (tmp_path / name / f"{number}.csv").write_text(f"ts,k\n{number},1\n")
    return SCRIPT.format(folder=tmp_path)


@pytest.fixture(params=["local", pytest.param("spark", marks=pytest.mark.spark)])
def start(request: pytest.FixtureRequest, text: str, tmp_path: Path) -> Start:
    """A run of the script on either engine, with more options."""
    query = ps.sql(text, engine=request.param)
    common: dict[str, Any] = {"sink": "noop", "checkpoint": tmp_path / "checkpoint"}
    if request.param == "local":
        return lambda **more: query.local(**common | more)
    spark: SparkSession = request.getfixturevalue("spark")
    return lambda **more: query.start(spark, **common | more)


def is_free(run: Any) -> bool:
    """Whether another run may have the checkpoint."""
    return not is_held(run.pipeline.checkpoint.store)


def test_a_run_reads_all_there_is_and_ends(start: Start) -> None:
    seen: list[ps.Report] = []
    with start(available_now=True, report=seen.append) as run:
        assert isinstance(run, ps.Run)
        assert run.await_termination() is True
        assert not run.is_active
        assert run.await_termination(0) is True
    assert run.exception is None
    assert [*run.reports] == seen
    assert run.last_report is not None
    assert run.last_report.total_results == RESULTS
    assert is_free(run)


def has_all(run: ps.Run) -> bool:
    """Whether a run has found all results; a local one works while it is waited for."""
    assert run.await_termination(0.2) is False
    return run.last_report is not None and run.last_report.total_results >= RESULTS


def test_a_run_goes_on_until_its_block_ends(start: Start) -> None:
    with start(trigger="10 ms") as run:
        assert run.last_report is None or run.last_report.batch >= 0
        wait_until(lambda: has_all(run))
        assert run.is_active
    assert not run.is_active
    assert run.await_termination() is True
    assert is_free(run)


def test_a_report_may_stop_its_run(start: Start) -> None:
    run: ps.Run
    seen: list[ps.Report] = []

    def stop(report: ps.Report) -> None:
        seen.append(report)
        run.stop()

    with start(trigger="10 ms", report=stop) as run:
        assert run.await_termination() is True
    assert [report.batch for report in seen] == [0]
    assert run.exception is None
    assert is_free(run)


def test_drain_closes_the_checkpoint(start: Start) -> None:
    with start(available_now=True, drain=True) as run:
        run.await_termination()
    with pytest.raises(CheckpointError, match="is closed"):
        start(available_now=True)


def test_the_error_that_ends_a_run_is_kept_and_raised_once(start: Start, tmp_path: Path) -> None:
    (tmp_path / "b" / "2.csv").write_text("ts,k\n2,many\n")
    with start(available_now=True) as run:
        with pytest.raises(SourceError, match="many") as caught:
            run.await_termination()
        assert run.exception is caught.value
        assert not run.is_active
        assert is_free(run)


def test_an_error_of_the_block_goes_before_that_of_the_run(start: Start) -> None:
    run = start(trigger="10 ms")
    with pytest.raises(ZeroDivisionError), run:
        raise ZeroDivisionError
    assert is_free(run)


def test_drain_goes_with_available_now(start: Start, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="drain goes with available_now"):
        start(drain=True)
    assert not (tmp_path / "checkpoint").exists()


def test_a_run_that_has_ended_takes_no_other_plan(start: Start) -> None:
    with start(available_now=True) as run:
        run.replan("(a b)")
        run.await_termination()
        with pytest.raises(UsageError, match="this run has ended"):
            run.replan("(b a)")
    assert run.exception is None


def test_a_report_cannot_wait_for_its_own_run(start: Start) -> None:
    run: ps.Run
    said: list[UsageError] = []

    def wait(_: ps.Report) -> None:
        with pytest.raises(UsageError, match="inside its own batch") as caught:
            run.await_termination(0)
        said.append(caught.value)

    with start(available_now=True, drain=True, report=wait) as run:
        assert run.await_termination() is True
    assert len(said) == len(run.reports) == 4


def test_a_report_may_stop_its_run_while_that_is_drained(start: Start) -> None:
    run: ps.Run

    def stop(report: ps.Report) -> None:
        if report.batch == 3:
            run.stop()

    with start(available_now=True, drain=True, report=stop) as run:
        assert run.await_termination() is True
        assert run.await_termination() is True
    assert len(run.reports) == 4
    assert is_free(run)


def test_two_may_wait_for_one_drain(start: Start) -> None:
    draining, may_go_on = threading.Event(), threading.Event()

    def report(made: ps.Report) -> None:
        if made.batch == 3:
            draining.set()
            may_go_on.wait()

    with start(available_now=True, drain=True, report=report) as run:
        answers: list[bool] = []
        threads = [
            threading.Thread(target=lambda: answers.append(run.await_termination()))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        draining.wait()
        assert run.await_termination(0.05) is False
        assert not is_free(run)
        stopping = threading.Thread(target=run.stop)
        stopping.start()
        stopping.join(0.1)
        assert stopping.is_alive()
        assert not is_free(run)
        may_go_on.set()
        for thread in (*threads, stopping):
            thread.join()
    assert answers == [True, True]
    assert len(run.reports) == 4
    assert is_free(run)


def test_a_drain_that_fails_is_an_error_every_time(start: Start) -> None:
    def report(made: ps.Report) -> None:
        if made.batch == 3:
            raise ZeroDivisionError

    with start(available_now=True, drain=True, report=report) as run:
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                run.await_termination()
    assert isinstance(run.exception, ZeroDivisionError)
    assert is_free(run)


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spark
def test_a_block_raises_an_error_that_nobody_waited_for(
    text: str, tmp_path: Path, spark: SparkSession
) -> None:
    (tmp_path / "b" / "2.csv").write_text("ts,k\n2,many\n")
    run = ps.sql(text).start(spark, sink="noop", checkpoint=tmp_path / "checkpoint")
    wait_until(lambda: not run.is_active)
    with pytest.raises(SourceError, match="many"), run:
        pass


@pytest.mark.spark
@pytest.mark.parametrize("way", ["all is read", "an error", "its report"])
def test_a_run_that_nobody_waits_for_lets_go_at_its_end(
    way: str, text: str, tmp_path: Path, spark: SparkSession
) -> None:
    def report(_: ps.Report) -> None:
        if way == "its report":
            has_begun.wait()
            run.stop()

    if way == "an error":
        (tmp_path / "b" / "2.csv").write_text("ts,k\n2,many\n")
    has_begun = threading.Event()
    run = ps.sql(text).start(
        spark,
        sink="noop",
        checkpoint=tmp_path / "checkpoint",
        available_now=way == "all is read",
        report=report,
    )
    has_begun.set()
    wait_until(lambda: not run.is_active)
    wait_until(lambda: is_free(run))
    assert (run.exception is not None) == (way == "an error")


@pytest.mark.spark
def test_a_run_that_is_to_be_drained_does_not_let_go_before(
    text: str, tmp_path: Path, spark: SparkSession
) -> None:
    run = ps.sql(text).start(
        spark, sink="noop", checkpoint=tmp_path / "checkpoint", available_now=True, drain=True
    )
    wait_until(lambda: not run.is_active)
    assert isinstance(run, ps.SparkRun)
    run._join_helpers()
    assert not is_free(run)
    assert run.await_termination(0) is True
    assert len(run.reports) == 4
    assert is_free(run)


# ── in this process ───────────────────────────────────────────────────────────────────────────────


def local(text: str, folder: Path, **more: Any) -> ps.LocalRun:
    return ps.sql(text).local(sink="noop", checkpoint=folder / "checkpoint", **more)


def test_a_local_run_can_be_waited_for_in_pieces(text: str, tmp_path: Path) -> None:
    with local(text, tmp_path, available_now=True) as run:
        pieces = 0
        while not run.await_termination(0):
            pieces += 1
    assert pieces == len(run.reports) == 3


def test_a_local_run_is_told_as_before(text: str, tmp_path: Path) -> None:
    run = local(text, tmp_path)
    assert run.is_active
    run.available_now(drain=True)
    assert not run.is_active
    assert run.last_report is not None
    assert run.last_report.total_results == RESULTS


def test_a_local_run_may_be_told_in_a_block(text: str, tmp_path: Path) -> None:
    with local(text, tmp_path) as run:
        run.available_now()
    assert len(run.reports) == 3


def test_another_thread_waits_for_the_batch_that_it_stops(text: str, tmp_path: Path) -> None:
    begun, may_go_on, stopped = threading.Event(), threading.Event(), threading.Event()

    def report(_: ps.Report) -> None:
        begun.set()
        may_go_on.wait()

    def stop() -> None:
        begun.wait()
        threading.Timer(0.1, may_go_on.set).start()
        run.stop()
        assert is_free(run)
        stopped.set()

    run = local(text, tmp_path, trigger=0, report=report)
    thread = threading.Thread(target=stop)
    thread.start()
    assert run.await_termination() is True
    thread.join()
    assert stopped.is_set()
    assert len(run.reports) == 1


def test_a_local_run_that_never_ran_lets_go_of_its_checkpoint(text: str, tmp_path: Path) -> None:
    with local(text, tmp_path), pytest.raises(CheckpointError, match="in use"):
        local(text, tmp_path)
    local(text, tmp_path).available_now()


@pytest.mark.parametrize(
    "again", [lambda run: run.available_now(drain=True), lambda run: run.every(1)]
)
def test_a_local_run_that_has_ended_is_not_run_again(
    again: Callable[[ps.LocalRun], None], text: str, tmp_path: Path
) -> None:
    read, stopped = local(text, tmp_path), None
    read.available_now()
    with local(text, tmp_path) as other:
        for run in (read, stopped := other):
            run.stop()
            with pytest.raises(UsageError, match="this run has ended") as caught:
                again(run)
            assert caught.value.hint is not None
    assert stopped is not None
    assert len(read.reports) == 3
    assert len(stopped.reports) == 0
    assert read.exception is stopped.exception is None
    assert read.await_termination() is stopped.await_termination(0) is True


def test_a_drained_local_run_writes_nothing_more(text: str, tmp_path: Path) -> None:
    run = local(text, tmp_path)
    run.available_now(drain=True)
    manifest = run.pipeline.manifest
    with pytest.raises(UsageError, match="this run has ended"):
        run.available_now(drain=True)
    assert run.pipeline.manifest is manifest


def test_a_local_run_that_failed_says_so_again(text: str, tmp_path: Path) -> None:
    (tmp_path / "b" / "2.csv").write_text("ts,k\n2,many\n")
    run = local(text, tmp_path)
    with pytest.raises(SourceError, match="many") as caught:
        run.available_now()
    for again in (run.available_now, lambda: run.every(1), run.await_termination):
        with pytest.raises(SourceError) as raised:
            again()
        assert raised.value is caught.value


def test_a_local_run_is_not_run_inside_its_batch(text: str, tmp_path: Path) -> None:
    run: ps.LocalRun
    with local(text, tmp_path, report=lambda _: run.available_now(drain=True)) as run:
        with pytest.raises(UsageError, match="inside its own batch"):
            run.available_now()
        assert isinstance(run.exception, UsageError)
    assert len(run.reports) == 1
    assert is_free(run)


def test_waiting_for_another_thread_takes_no_longer_than_asked(text: str, tmp_path: Path) -> None:
    begun = threading.Event()
    with local(text, tmp_path, trigger="10 ms", report=lambda _: begun.set()) as run:
        thread = threading.Thread(target=run.await_termination)
        thread.start()
        begun.wait()
        assert run.await_termination(0.05) is False
        assert run.await_termination(0) is False
        assert thread.is_alive()
        run.stop()
        thread.join()
    assert run.await_termination(1e300) is True


def test_no_plan_is_lost_between_two_batches(text: str, tmp_path: Path) -> None:
    """A plan that comes while the one before it is taken up is the next one."""

    class Slow(Pipeline):
        """Gives another thread its chance between looking for a plan and forgetting it."""

        @property
        def _next_plan(self) -> Any:
            found = self._plan
            if found is not None and not threads:
                threads.append(threading.Thread(target=run.replan, args=("(b a)",)))
                threads[0].start()
                threads[0].join(0.2)
            return found

        @_next_plan.setter
        def _next_plan(self, plan: Any) -> None:
            self._plan = plan

    threads: list[threading.Thread] = []
    with local(text, tmp_path) as run:
        run.pipeline.__class__ = Slow
        run.pipeline.__dict__["_plan"] = run.pipeline.__dict__.pop("_next_plan")
        run.replan("(a b)")
        run.available_now()
        threads[0].join()
    assert render_plan(run.pipeline.plan) == "(b a)"
