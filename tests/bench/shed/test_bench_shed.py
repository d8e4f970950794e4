"""The shedding benchmark: delays by hand, results as predicted, and its figures as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.bench.drift.cases.capacity import Capacity
from penstock.bench.drift.cases.following import Setting
from penstock.bench.shed.run import WINDOW, Shed, delays, probe
from penstock.bench.shed.text import document, shed_text
from penstock.experiments.sliding_windows.on_spark import shed_claims

SHED = Shed(2.0, 1000.0, 0.5, 1.0, (0.5, 0.75, 0.5), predicted=100.0, measured=98.0, whole=2.1)
LATE = Shed(5.0, 3000.0, 0.2, 1.0, (1.5, 1.5, 1.5), predicted=100.0, measured=90.0)


def test_a_batch_waits_for_its_tuples_and_for_the_one_before() -> None:
    assert delays([0.5, 2.5, 0.25, 0.25], 1.0) == [0.5, 2.5, 1.75, 1.0]
    assert delays([], 1.0) == []


def test_who_keeps_up_is_never_late() -> None:
    assert (SHED.keeps_up, LATE.keeps_up) == (True, False)
    assert SHED.load == pytest.approx(1.75 / 3)
    hiccup = Shed(2.0, 1000.0, 0.5, 1.0, (0.1, 2.5, 0.1), predicted=1.0, measured=1.0)
    assert hiccup.load < 1.0
    assert not hiccup.keeps_up


def test_boxes_leave_the_results_that_the_planner_predicts(tmp_path: Path) -> None:
    """Of 48,000 tuples of each stream: chance makes a hundredth or so."""
    capacity = Capacity(probe, WINDOW, 2.0, Setting(tmp_path, progress=lambda what: None))
    kept = {"A": 0.5, "B": 0.25}
    (reports,) = capacity.runs(6_000.0, [kept], 3)
    assert len(reports) == 3
    measured = sum(report.results for report in reports) / 6.0
    assert measured == pytest.approx(capacity.predicted(6_000.0, kept), rel=0.05)
    assert capacity.predicted(6_000.0, {}) == pytest.approx(6_000.0**2 * 2 * WINDOW / 20 / 200)


def test_the_figures_for_programs_and_people() -> None:
    made = document([SHED, LATE], "spark")
    assert made["keeps_up"] is False
    assert made["kept_vs_predicted"] == 0.9
    assert [each["times_capacity"] for each in made["loads"]] == [2.0, 5.0]
    text = shed_text(made)
    assert "does not keep up, with 0.900 of the results predicted at least: less than 0.95" in text
    assert "2.5 s: late" in text
    assert "2.10" in text
    alone = shed_text(document([SHED], "local"))
    assert alone.endswith("keeps up, with 0.980 of the results predicted at least: enough\n")


def test_a_capacity_that_was_found_on_a_busy_machine_is_told() -> None:
    idle = replace(SHED, whole=0.6)
    assert (SHED.is_as_meant, LATE.is_as_meant, idle.is_as_meant) == (True, True, False)
    assert "loads are not what was meant" in shed_text(document([idle], "local"))
    assert "what was meant" not in shed_text(document([SHED], "local"))


def test_claims_are_judged_by_load() -> None:
    keeps_up, results = shed_claims([SHED, LATE])
    assert (keeps_up.verdict, results.verdict) == ("partly", "partly")
    assert all(claim.verdict == "holds" for claim in shed_claims([SHED]))
