"""Operators of a batch: what goes in, comes out and is in reach is what a count by hand says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.engine.reports.parts import OperatorReport
from penstock.engine.reports.report import Report
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from support.aggregates.counted import ALIASES, FILTER, THETA, Counted, Flow
from support.engines.runs import Place, Runner, planned, run_local, tree

# Few enough for every tuple to be looked at, so that all counts are exact in one partition.
SMALL = Counted.drawn(seed=1, sizes=(30, 40, 20), batches=5, keys=8, reach=1.5)
LARGE = Counted.drawn(seed=2, sizes=(500, 700, 300), batches=4, keys=40, reach=1.2)
# A batch that is longer than the windows.
LONG = Counted.drawn(seed=3, sizes=(900, 900, 900), batches=3, keys=60, reach=0.1)
# Combinations in reach of a probe from which on the estimate of their number is a good one.
MANY = 100_000


def probe(report: Report, driver: str, target: str) -> OperatorReport:
    (found,) = [
        o for o in report.operators if (o.driver, o.operator, o.kind) == (driver, target, "probe")
    ]
    return found


def orders_of(plan: Plan) -> dict[str, list[str]]:
    assert isinstance(plan, MultiwayJoin)
    return {order.driver: [probe.target for probe in order.probes] for order in plan.orders}


def pairs(
    counted: Counted, reports: Sequence[Report], plan: Plan, first: int = 0
) -> list[tuple[OperatorReport, Flow]]:
    """Every probe as reported, beside what it is by hand; those that nothing came to are not."""
    found = []
    for number, report in list(enumerate(reports[: len(counted.batches)]))[first:]:
        for driver, order in orders_of(plan).items():
            flows = counted.flows(number, driver, order)
            for target, flow in zip(order, flows, strict=True):
                if flow.went_in:
                    found.append((probe(report, driver, target), flow))
    return found


@pytest.mark.parametrize("partitions", [1, 3])
def test_probes_tell_what_goes_in_and_comes_out(
    tmp_path: Path, run: Runner, partitions: int
) -> None:
    query = SMALL.query(tmp_path)
    plan = planned(query)
    reports = run(query, Place(tmp_path / "run"), plan=plan, partitions=partitions)
    both = pairs(SMALL, reports, plan)
    assert len(both) > 20
    for told, flow in both:
        assert (told.went_in, told.came_out) == (flow.went_in, flow.came_out)
        assert told.met is not None
        assert told.seconds > 0.0
        if partitions == 1:
            assert told.met == pytest.approx(flow.met)


@pytest.mark.parametrize("partitions", [1, 3])
def test_filters_and_conditions_are_told_one_by_one(
    tmp_path: Path, run: Runner, partitions: int
) -> None:
    query = SMALL.query(tmp_path)
    plan = planned(query)
    reports = run(query, Place(tmp_path / "run"), plan=plan, partitions=partitions)
    for number, report in enumerate(reports[: len(SMALL.batches)]):
        told = {(o.driver, o.operator): o for o in report.operators if o.kind == "filter"}
        first = told["a", FILTER]
        assert (first.went_in, first.came_out) == SMALL.filtered(number)
        assert first.met is None
        for driver, order in orders_of(plan).items():
            last = SMALL.flows(number, driver, order)[-1]
            if last.came_out:
                theta = told[driver, THETA]
                assert (theta.went_in, theta.came_out) == (last.came_out, last.passed)


@pytest.mark.parametrize("partitions", [1, 4])
@pytest.mark.parametrize("counted", [LARGE, LONG], ids=["short", "long"])
def test_selectivities_are_near_the_truth(
    tmp_path: Path, counted: Counted, partitions: int
) -> None:
    query = counted.query(tmp_path)
    plan = planned(query)
    reports = run_local(query, Place(tmp_path / "run"), plan=plan, partitions=partitions)
    # In the first batch nobody knows how keys are spread over partitions.
    both = pairs(counted, reports, plan, first=0 if partitions == 1 else 1)
    for told, flow in both:
        assert (told.went_in, told.came_out) == (flow.went_in, flow.came_out)
        # Where few are in reach, even fewer of them are looked at.
        error = 0.06 if flow.met > MANY else 0.5
        assert told.met == pytest.approx(flow.met, rel=error)
    for driver, order in orders_of(plan).items():
        for target in order:
            mine = [(t, f) for t, f in both if (t.driver, t.operator) == (driver, target)]
            found, true = sum(t.met or 0.0 for t, _ in mine), sum(f.met for _, f in mine)
            assert found == pytest.approx(true, rel=0.04 if true > MANY else 0.3)


@pytest.mark.parametrize("partitions", [1, 3])
def test_inner_results_are_met_while_all_their_members_live(
    tmp_path: Path, partitions: int
) -> None:
    query = LARGE.query(tmp_path, where="a.k = b.k AND b.m = c.m")
    plan = tree(query, (("a", "b"), "c"))
    reports = run_local(query, Place(tmp_path / "run"), plan=plan, partitions=partitions)
    for driver, target in (("c", "(a b)"), ("(a b)", "c")):
        told = [probe(report, driver, target) for report in reports[: len(LARGE.batches)]]
        met = sum(each.met or 0.0 for each in told)
        assert sum(each.came_out for each in told) / met == pytest.approx(1 / 40, rel=0.15)


@pytest.mark.parametrize("partitions", [1, 3])
def test_without_keys_all_that_is_in_reach_is_found(tmp_path: Path, partitions: int) -> None:
    query = SMALL.query(tmp_path, where="a.x < b.x AND b.x < c.x")
    plan = planned(query)
    reports = run_local(query, Place(tmp_path / "run"), plan=plan, partitions=partitions)
    for number, report in enumerate(reports[: len(SMALL.batches)]):
        told = [o for o in report.operators if o.kind == "probe"]
        assert [o.met for o in told] == pytest.approx([o.came_out for o in told], rel=0.02)
        for driver, order in orders_of(plan).items():
            size = len(SMALL.batches[number][driver]["x"])
            assert probe(report, driver, order[0]).went_in == size


@pytest.mark.parametrize("window", ["ROWS 100", "UNBOUNDED", "TUMBLE 500 MILLISECONDS"])
def test_other_windows_have_their_reach_too(tmp_path: Path, window: str) -> None:
    query = LARGE.query(tmp_path, window, where="a.k = b.k AND b.m = c.m")
    reports = run_local(query, Place(tmp_path / "run"), partitions=2)
    told = [o for r in reports for o in r.operators if {o.driver, o.operator} == {"a", "b"}]
    met = sum(each.met or 0.0 for each in told)
    assert sum(each.came_out for each in told) / met == pytest.approx(1 / 40, rel=0.1)


def test_drivers_are_those_of_the_plan(tmp_path: Path) -> None:
    query = SMALL.query(tmp_path)
    reports = run_local(query, Place(tmp_path / "run"))
    told = {(o.driver, o.route) for report in reports for o in report.operators}
    assert told == {(alias, 0) for alias in ALIASES}
