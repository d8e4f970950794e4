"""The charts of a run: a value of the log for each batch, and nothing where nothing is known."""

from __future__ import annotations

from penstock.engine.reports.parts import InputReport
from penstock.engine.reports.run_head import RunHead
from penstock.watch.charts.run_charts import (
    backlog_chart,
    delay_chart,
    kept_chart,
    phase_chart,
    rate_chart,
    run_charts,
)
from penstock.watch.log_view import HISTORY, LogView
from support.engines.reported import made

HEAD = RunHead("SELECT 1", "local", "noop", trigger=2.0, delay=5.0)
REPORTS = (
    made(
        3,
        plan="(a b)",
        phases={"wait": 1.0, "feed": 0.25},
        delay=4.0,
        at=10.0,
        inputs={"a": InputReport(10, rate=10.0, predicted_rate=1.0)},
    ),
    made(
        4,
        plan="(b a)",
        phases={"feed": 0.5, "commit": 0.125},
        backlog={"a": 2, "b": 3},
        at=12.0,
        inputs={
            "a": InputReport(10, rate=11.0, keep=0.5),
            "b": InputReport(10, rate=20.0),
        },
    ),
)
LOG = LogView("x", True, HEAD, REPORTS)


def test_curves_have_a_value_for_each_batch() -> None:
    chart = rate_chart(LOG)
    assert (chart.batches, chart.ats, chart.marks) == ((3, 4), (10.0, 12.0), (4,))
    assert [(each.name, each.values, each.is_expected, each.hue) for each in chart.curves] == [
        ("a", (10.0, 11.0), False, 0),
        ("a, expected", (1.0, None), True, 0),
        # What was expected of b nobody has said: there is no such curve.
        ("b", (None, 20.0), False, 1),
    ]
    assert [each.values for each in kept_chart(LOG).curves] == [(1.0, 0.5), (None, 1.0)]
    assert [each.values for each in backlog_chart(LOG).curves] == [(None, 5)]
    assert backlog_chart(LogView("x", reports=REPORTS[:1])).curves == ()


def test_phases_stand_on_each_other_below_the_trigger() -> None:
    chart = phase_chart(LOG)
    assert chart.is_stacked
    assert [(each.name, each.values, each.is_expected) for each in chart.curves] == [
        ("feed", (0.25, 0.5), False),
        ("commit", (0.0, 0.125), False),
        ("trigger", (2.0, 2.0), True),
    ]


def test_delays_stand_beside_the_wanted_one() -> None:
    found = {each.name: each.values for each in delay_chart(LOG).curves}
    assert found["delay"] == (4.0, None)
    assert found["wanted delay"] == (5.0, 5.0)


def test_a_page_shows_the_last_batches_and_a_report_all() -> None:
    long = LogView("x", reports=tuple(made(number) for number in range(HISTORY + 5)))
    assert rate_chart(long.recent).batches == tuple(range(5, HISTORY + 5))
    assert all(len(chart.batches) == HISTORY + 5 for chart in run_charts(long))
