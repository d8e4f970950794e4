"""What a batch sheds by is in the checkpoint before it runs: run again, it sheds the same."""

from __future__ import annotations

import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.cql import parse
from penstock.duration import Duration
from penstock.engine.local import open_run
from penstock.engine.places.place import Place as Folder
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import Sink, jsonl
from penstock.engine.state import manifest as manifests
from penstock.engine.state.plan_log import PlanLog
from penstock.engine.state.store import Store
from penstock.errors import CheckpointError
from penstock.plan.default_plan import default_plan
from penstock.plan.drops import DropBoxes
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.query import Query
from support.engines.crashes import Crash, Run, exit_code
from support.engines.soak import results, script, write_input

BEFORE = DropBoxes((("a", 0.4), ("b", 0.7)), seed=3)
AFTER = DropBoxes((("b", 0.5), ("c", 0.8)), seed=9)
BATCHES = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("input")
    write_input(made, BATCHES, Random(5))
    return made


def unkilled(run: Run, changed: int) -> tuple[Counter[Any], dict[str, int]]:
    """What comes out, and what is shed, if the boxes change at a batch and nothing is killed."""
    plans = [replace(run, drops=BEFORE).plan(0), replace(run, drops=AFTER).plan(0)]
    started = open_run(
        plans[changed == 0],
        RunOptions(
            sink=Sink.named(run.sink),
            checkpoint=run.checkpoint,
            report=lambda report: started.replan(plans[report.batch + 1 >= changed]),
        ),
    )
    started.available_now(drain=True)
    return results(Sink.named(run.sink)), total_shed(run.checkpoint)


def total_shed(checkpoint: str) -> dict[str, int]:
    made = manifests.latest(Store(Folder.of(checkpoint)))
    assert made is not None
    return {alias: count for alias, count in made.total_shed.items() if count}


@pytest.mark.parametrize(
    ("point", "call", "changed"),
    [
        # Killed in batch 0, which is run again with the boxes that it had.
        ("before a chunk", 0, 1),
        ("after a chunk", 1, 1),
        ("after the results are staged", 0, 1),
        ("before the commit", 0, 1),
        # Killed when it was final: the next batch has other boxes.
        ("after the commit", 0, 1),
        ("in the sweep", 0, 1),
        # Killed in a later batch, which had nothing new to follow.
        ("before the commit", 1, 2),
        ("before the commit", 2, 3),
    ],
)
def test_a_batch_that_is_run_again_sheds_the_same(
    point: str, call: int, changed: int, folder: Path, tmp_path: Path
) -> None:
    run = Run(script("common", folder), str(tmp_path / "checkpoint"), jsonl(tmp_path / "out").name)
    first = replace(run, drops=BEFORE, crash=Crash(point, call))
    assert exit_code(first) == -signal.SIGKILL
    assert exit_code(replace(run, drops=AFTER)) == 0
    clean = replace(
        run, checkpoint=str(tmp_path / "clean"), sink=jsonl(tmp_path / "clean.out").name
    )
    wanted, shed = unkilled(clean, changed)
    assert results(Sink.named(run.sink)) == wanted
    assert total_shed(run.checkpoint) == shed
    assert shed
    assert len(list((tmp_path / "checkpoint" / "plans").iterdir())) <= 2


def test_a_restart_that_keeps_boxes_goes_on_with_the_last_ones(
    folder: Path, tmp_path: Path
) -> None:
    run = Run(script("common", folder), str(tmp_path / "checkpoint"), "noop", drops=BEFORE)
    options = RunOptions(sink=Sink.named("noop"), checkpoint=run.checkpoint)
    open_run(run.plan(0), options).available_now()
    plain = replace(run, drops=AFTER).plan(0)
    with open_run(plain, options) as again:
        assert again.pipeline.plan.drops == AFTER
    with open_run(plain, replace(options, delay=Duration.of_seconds(5))) as again:
        assert again.pipeline.plan.drops == replace(BEFORE, may_shed=True)


def test_records_say_what_batches_follow(folder: Path, tmp_path: Path) -> None:
    query = common(folder)
    store = Store(Folder.of(tmp_path))
    plans = PlanLog(store)
    one = replace(default_plan(query), drops=BEFORE)
    other = forced_plan(query, "((a b) c)")
    plans.keep(0, one, "it began")
    plans.keep(1, one)
    plans.keep(2, other, "it is better")
    found = PlanLog(store).of(2)
    assert found is not None
    assert (found.plan, found.reason) == (render_plan(other), "it is better")
    assert found.drops == other.drops
    assert PlanLog(store).of(3) is None
    assert PlanLog(store, begun=3).of(3) == found
    plans.forget(before=1)
    assert store.names("plans") == ["plans/000000000000.json", "plans/000000000002.json"]
    plans.forget(before=2)
    assert store.names("plans") == ["plans/000000000002.json"]


def common(folder: Path) -> Query:
    return parse(script("common", folder))


def test_a_batch_that_is_run_again_sheds_as_before_and_only_that_one(
    folder: Path, tmp_path: Path
) -> None:
    """Whatever plan and boxes the next run was started with, it may join by that plan."""
    run = Run(script("common", folder), str(tmp_path / "checkpoint"), "noop", drops=BEFORE)
    options = RunOptions(sink=Sink.named("noop"), checkpoint=run.checkpoint)
    with open_run(run.plan(0), options) as begun:
        begun._feed.freeze()
        begun._feed.serve(0, {})
        begun.pipeline._turn(0)
    other = replace(forced_plan(common(folder), "((a b) c)"), drops=AFTER)
    followed = []
    with open_run(other, replace(options, available_now=True)) as again:
        again.pipeline.on_report(lambda report: followed.append(again.pipeline.plan))
        again.await_termination()
    assert [plan.drops for plan in followed][:2] == [BEFORE, AFTER]
    assert {render_plan(plan) for plan in followed} == {"((a b) c)"}


def test_a_damaged_record_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "000000000000.json").write_text('{"plan": 3')
    with pytest.raises(CheckpointError, match=r"plan log .* is damaged"):
        PlanLog(Store(Folder.of(tmp_path)))
