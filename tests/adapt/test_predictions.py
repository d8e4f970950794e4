"""Predictions: the estimate of the running plan as it is, drop boxes and views included."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.adapt.predictions import Predictions
from penstock.cql import parse
from penstock.engine.reports.parts import ModuleReport, OperatorReport
from penstock.engine.reports.report import Report
from penstock.figure import Figure
from penstock.plan.drops import DropBoxes
from penstock.plan.text.parse import forced_plan
from penstock.stats.guess import complete

STREAMS = """
CREATE STREAM a (ts BIGINT, k INT) WITH (format='csv', path='a', timestamp='ts', unit='s');
CREATE STREAM b (ts BIGINT, k INT) WITH (format='csv', path='b', timestamp='ts', unit='s');
"""
JOINED = STREAMS + "SELECT a.k FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k"
COUNTED = STREAMS + (
    "SELECT a.k, COUNT(*) AS n FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k "
    "GROUP BY a.k EVERY 1 SECOND"
)
REPORT = Report(0, 0.0, {}, {}, {}, 0, 0, None, 0)


def predictions(script: str, *kept: tuple[str, float], trigger: float | None = None) -> Predictions:
    """Of a hundred tuples/s of each stream."""
    query = parse(script)
    known = complete(query)
    rates = {alias: Figure(100.0, "measured") for alias in query.aliases}
    plan = replace(forced_plan(query, "a: b; b: a"), drops=DropBoxes(kept))
    return Predictions(plan, replace(known, rates=rates), trigger)


def test_drop_boxes_shrink_all_that_is_expected() -> None:
    whole, half = predictions(JOINED), predictions(JOINED, ("a", 0.5))
    assert half.whole.output_rate == pytest.approx(0.5 * whole.whole.output_rate)
    assert whole.whole.state == pytest.approx(2_000.0)
    assert half.whole.state == pytest.approx(1_500.0)
    assert half.whole.utilization < whole.whole.utilization


def test_drop_boxes_shrink_the_window_and_what_is_found_there() -> None:
    probe = OperatorReport("b", 0, "a", "probe", 10, 10)
    report = replace(REPORT, operators=(probe,), modules={"a@0": ModuleReport(1, 1)})
    whole, half = predictions(JOINED).told(report), predictions(JOINED, ("a", 0.5)).told(report)
    assert whole.modules["a@0"].predicted == pytest.approx(1_000.0)
    assert half.modules["a@0"].predicted == pytest.approx(500.0)
    assert half.operators[0].predicted == pytest.approx(0.5 * (whole.operators[0].predicted or 0))


def test_of_a_view_the_changes_are_expected() -> None:
    joined, counted = predictions(JOINED).whole, predictions(COUNTED).whole
    assert 0.0 < counted.output_rate < joined.output_rate


def test_the_delay_of_the_oldest_data_is_expected() -> None:
    found = predictions(JOINED, trigger=2.0).whole
    assert found.delay == pytest.approx(2.0 * (1.0 + found.utilization))
    assert predictions(JOINED).whole.delay is None


def test_drop_boxes_make_the_delay_shorter() -> None:
    whole = predictions(JOINED, trigger=1.0).whole.delay
    half = predictions(JOINED, ("a", 0.5), trigger=1.0).whole.delay
    assert whole is not None
    assert half is not None
    assert half < whole
