"""Reports of a run: every batch tells its inputs, state, phases and plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.plan.drops import DropBoxes
from penstock.plan.text.parse import render_plan
from support.aggregates.counted import ALIASES, FILTER, Counted
from support.engines.runs import Place, Runner, planned, run_local, tree

COUNTED = Counted.drawn(seed=11, sizes=(300, 200, 100), batches=4, keys=20, reach=1.0)
OUTSIDE = {"wait", "feed"}


def test_a_batch_is_measured_on_both_engines(tmp_path: Path, run: Runner) -> None:
    query = COUNTED.query(tmp_path)
    plan, place = planned(query), Place(tmp_path / "run")
    *reports, drained = run(query, place, plan=plan, partitions=2)
    assert len(reports) == len(COUNTED.batches)
    for number, report in enumerate(reports):
        assert report.plan == render_plan(plan)
        assert report.at > 0.0
        assert report.cpu > 0.0
        assert report.busy is not None
        assert 0.0 <= report.busy <= 1.0
        assert report.delay is None
        assert report.backlog == dict.fromkeys(ALIASES, 3 - number)
        assert {"feed", "pack", "round 0", "round 1", "commit", "publish"} <= set(report.phases)
        inside = [s for phase, s in report.phases.items() if phase not in OUTSIDE]
        assert 0.0 < sum(inside) <= report.seconds
        for alias, size in zip(ALIASES, (300, 200, 100), strict=True):
            told = report.inputs[alias]
            assert (told.tuples, told.shed, told.keep) == (size, 0, 1.0)
            assert told.rate == pytest.approx(size, rel=0.1)
            assert told.arrival_rate is not None
        assert set(report.modules) == {"a@0", "b@0", "b@1", "c@1"}
        tuples = sum(module.tuples for module in report.modules.values())
        assert tuples == report.state_tuples
        assert all(module.bytes > 0 for module in report.modules.values())
    assert [report.span is None for report in reports] == [True, False, False, False]
    assert sum(r.span or 0.0 for r in reports) == pytest.approx(3.0, abs=0.1)
    assert all(told.tuples == 0 and told.rate is None for told in drained.inputs.values())


def test_shed_tuples_are_counted_before_the_drop_box(tmp_path: Path) -> None:
    query = COUNTED.query(tmp_path)
    plan = planned(query)
    plan = type(plan)(plan.query, plan.orders, drops=DropBoxes((("a", 0.5),)))
    for report in run_local(query, Place(tmp_path / "run"), plan=plan, drain=False):
        told = report.inputs["a"]
        assert (told.tuples, told.keep) == (300, 0.5)
        assert 100 < told.shed == report.shed["a"] < 200
        (flow,) = [o for o in report.operators if (o.driver, o.operator) == ("a", FILTER)]
        assert flow.went_in == 300 - told.shed


def test_a_rebuild_is_a_phase_of_its_own(tmp_path: Path) -> None:
    query = COUNTED.query(tmp_path)
    place = Place(tmp_path / "run")
    shapes = [tree(query, (("a", "b"), "c")), tree(query, ("a", ("b", "c")))]
    run = open_run(
        shapes[0],
        RunOptions(
            sink=place.sink,
            checkpoint=str(place.checkpoint),
            report=lambda report: run.replan(shapes[(report.batch + 1) % 2]),
        ),
    )
    run.available_now()
    assert ["rebuild" in report.phases for report in run.reports] == [False, True, True, True]
    assert {report.plan for report in run.reports} == {render_plan(shape) for shape in shapes}


def test_numbering_is_a_phase_of_its_own(tmp_path: Path) -> None:
    query = COUNTED.query(tmp_path, "ROWS 10")
    reports = run_local(query, Place(tmp_path / "run"))
    assert all("sequence" in report.phases for report in reports)
