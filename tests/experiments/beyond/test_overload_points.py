"""What is read from runs under load, and what the model foresees of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from penstock.bench.drift.cases.burst import Seen
from penstock.bench.drift.cases.capacity import Load
from penstock.experiments.beyond.native_load import seen_of
from penstock.experiments.beyond.overload import PACE, Point, expected, findings_of, point_of

LOAD = Load(0.05, 1e-5, 1e-9)
CALM, FULL = Point(0.5, 100.0, 0.5), Point(2.0, 180.0, 1.1)


def seen(at: float, delay: float, results: int) -> Seen:
    return Seen(at, 0.1, delay, at, {}, results)


def test_a_point_is_of_the_later_half_of_a_run() -> None:
    batches = [seen(1.0, 9.0, 1_000), seen(2.0, 5.0, 1_000), seen(3.0, 2.0, 10), seen(5.0, 3.0, 50)]
    assert point_of(2.0, batches) == Point(2.0, 60.0 / 3.0, 3.0)


def test_a_run_of_one_batch_has_a_point_too() -> None:
    assert point_of(2.0, [seen(2.0, 2.0, 10)]) == Point(2.0, 5.0, 2.0)


def test_below_the_capacity_the_queueing_model_speaks_and_above_it_what_is_left_over() -> None:
    assert expected(0.5, LOAD, 4.0) == pytest.approx(PACE.trigger * 1.5)
    assert expected(3.0, LOAD, 8.0) - expected(3.0, LOAD, 4.0) == pytest.approx(8.0)


@pytest.mark.parametrize(("delay", "verdict"), [(1.1, "holds"), (5.0, "fails")])
def test_a_delay_that_is_not_held_fails_the_claim(delay: float, verdict: str) -> None:
    shed = [CALM, Point(2.0, 180.0, delay)]
    found = findings_of({"with shedding": shed, "without shedding": [CALM, FULL]}, LOAD, 4.0)
    assert found.claims[0].verdict == verdict
    assert found.data.rows


def test_reports_of_spark_are_batches_whose_oldest_data_came_after_the_one_before() -> None:
    def said(second: int, rows: int) -> dict[str, object]:
        return {
            "timestamp": f"2026-01-01T00:00:{second:02d}.000Z",
            "numInputRows": rows,
            "durationMs": {"triggerExecution": 500},
            "sink": {"numOutputRows": rows // 10},
        }

    started = datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC).timestamp()
    found = list(seen_of([said(0, 0), said(2, 100), said(5, 50)], started))
    assert [(each.at, each.delay, each.results) for each in found] == [
        (1.5, 1.5, 10),
        (4.5, 3.5, 5),
    ]
