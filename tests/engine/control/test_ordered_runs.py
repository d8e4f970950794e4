"""Runs that are told something from outside: obeyed between batches and while they wait."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock as ps
from penstock.engine.control.order import OrderKind, give, order_names
from penstock.engine.places.place import Place
from penstock.engine.reports.reading import read_reports
from penstock.engine.reports.standing import standing_of
from penstock.engine.state.hold import is_held
from penstock.engine.state.store import Store
from penstock.plan.text.parse import render_plan
from support.engines.reported import answers_in, entries_in, following, script, write_file
from support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return tmp_path / "checkpoint"


def told(checkpoint: str | Path, kind: OrderKind, value: str = "") -> str:
    """Give an order; what it is answered."""
    order = give(Store(Place.of(checkpoint)), kind, value)
    wait_until(lambda: order.name in [answer.order for answer in answers_in(checkpoint)])
    return answers_in(checkpoint)[-1].change.reason


def test_a_run_that_waits_is_stopped(tmp_path: Path, checkpoint: Path) -> None:
    store = Store(Place.of(checkpoint))
    with following(script(tmp_path), checkpoint) as run:
        assert is_held(store)
        assert told(checkpoint, "stop") == "stop: the run ends after batch 2"
        wait_until(lambda: not run.is_active)
    assert not is_held(store)
    assert order_names(store) == []
    assert run.exception is None
    # Another run is not stopped by it.
    for name in "ab":
        write_file(tmp_path, name, 4)
    with following(script(tmp_path), checkpoint) as again:
        assert again.is_active


def test_a_run_is_stopped_between_two_batches(tmp_path: Path, checkpoint: Path) -> None:
    store = Store(Place.of(checkpoint))
    query = ps.sql(script(tmp_path), engine="local")

    def report(made: ps.Report) -> None:
        give(store, "stop")
        run._attendant._inbox._next_look = 0.0  # As if time had passed.

    with query.local(
        sink="noop", checkpoint=checkpoint, available_now=True, drain=True, report=report
    ) as run:
        run.await_termination()
    assert [report.batch for report in run.reports] == [0]
    # Nothing was drained: it goes on.
    with query.local(sink="noop", checkpoint=checkpoint, available_now=True) as run:
        run.await_termination()
    assert [report.total_results for report in run.reports] == [4, 9]


def test_a_plan_is_pinned(tmp_path: Path, checkpoint: Path) -> None:
    with following(script(tmp_path), checkpoint) as run:
        said = told(checkpoint, "pin", "(a b)")
        assert said == "pin (a b): the plan from batch 3 on"
        for name in "ab":
            write_file(tmp_path, name, 4)
        wait_until(lambda: len(run.reports) > 3)
        assert render_plan(run.pipeline.plan) == "(a b)"
        assert run.reports[3].changes[0].reason == said
    assert [*read_reports(checkpoint)][3].changes == run.reports[3].changes
    # It is told of once, however many lines tell of it.
    decisions = standing_of(Store(Place.of(checkpoint)), 0.0).decisions
    orders = [decided.change for decided in decisions if decided.change.kind == "order"]
    assert [order.reason for order in orders] == [said]


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("pin", "(a", "pin (a: refused: "),
        ("pin", "(a c)", "pin (a c): refused: "),
    ],
)
def test_what_cannot_be_done_is_refused(
    kind: OrderKind, value: str, said: str, tmp_path: Path, checkpoint: Path
) -> None:
    with following(script(tmp_path), checkpoint) as run:
        before = run.pipeline.plan
        assert told(checkpoint, kind, value).startswith(said)
        assert run.is_active
        assert run.pipeline.plan == before
    assert answers_in(checkpoint)[0].is_refused


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("replan", "advise", "replan advise: replan is advise"),
        ("shed", "on", "shed on: shedding is on, for a delay of 5 s"),
        ("shed", "off", "shed off: shedding is off: all is kept from the next batch on"),
    ],
)
def test_planning_and_shedding_are_switched(
    kind: OrderKind, value: str, said: str, tmp_path: Path, checkpoint: Path
) -> None:
    with following(script(tmp_path), checkpoint):
        assert told(checkpoint, kind, value) == said
    assert not answers_in(checkpoint)[0].is_refused


def test_orders_from_before_are_refused(tmp_path: Path, checkpoint: Path) -> None:
    store = Store(Place.of(checkpoint))
    give(store, "stop")
    with following(script(tmp_path), checkpoint) as run:
        assert len(run.reports) == 3
    (answer,) = answers_in(checkpoint)
    assert answer.change.reason == "stop: refused: it was given before this run"
    assert run.reports[0].changes == (answer.change,)
    assert order_names(store) == []


def test_a_checkpoint_far_away(tmp_path: Path) -> None:
    """One on a file system without locks, which cannot append."""
    checkpoint = f"mock://host/{tmp_path.name}/ck?x=y"
    with following(script(tmp_path), checkpoint) as run:
        wait_until(lambda: len([*read_reports(checkpoint)]) == 3)
        standing = standing_of(Store(Place.of(checkpoint)), 0.0)
        assert standing.is_running
        assert told(checkpoint, "stop") == "stop: the run ends after batch 2"
        wait_until(lambda: not run.is_active)
    assert not standing_of(Store(Place.of(checkpoint)), 0.0).is_running
    assert len(entries_in(checkpoint)) == 6


@pytest.mark.spark
def test_a_run_on_spark_obeys(spark: SparkSession, tmp_path: Path, checkpoint: Path) -> None:
    query = ps.sql(script(tmp_path))
    options: dict[str, Any] = {"sink": "noop", "checkpoint": checkpoint}
    with query.start(spark, trigger="10 ms", **options) as run:
        wait_until(lambda: len(run.reports) >= 3)
        assert told(checkpoint, "replan", "off") == "replan off: replan is off"
        assert told(checkpoint, "pin", "(a b)") == "pin (a b): the plan from batch 3 on"
        for name in "ab":
            write_file(tmp_path, name, 4)
        # Spark may find one of the files before the other is there.
        wait_until(lambda: run.reports[-1].total_results == 16)
        assert isinstance(run, ps.SparkRun)
        assert render_plan(run.pipeline.plan) == "(a b)"
        last = run.reports[-1].batch
        assert told(checkpoint, "stop") == f"stop: the run ends after batch {last}"
        assert run.await_termination()
        assert not run.is_active
    assert not is_held(Store(Place.of(checkpoint)))
    totals = [report.total_results for report in read_reports(checkpoint)]
    assert (totals[:3], totals[-1]) == ([1, 4, 9], 16)
    # While Spark waits for its trigger nothing of ours is called, and yet it hears.
    for name in "ab":
        write_file(tmp_path, name, 5)
    with query.start(spark, trigger="1 hour", **options) as run:
        wait_until(lambda: len(run.reports) >= 1)
        last = run.reports[-1].batch
        assert told(checkpoint, "stop") == f"stop: the run ends after batch {last}"
        assert run.await_termination()
