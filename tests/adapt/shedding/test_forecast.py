"""Where on the curve of what to keep a batch is to be, when windows hold much already."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.adapt.shedding.forecast import Forecast
from penstock.adapt.shedding.keep_curve import keep_curve
from penstock.adapt.shedding.window_fill import WindowFill
from penstock.adapt.shedding.work_model import WorkModel
from penstock.api import sql
from penstock.cli.demo.site import Site
from penstock.engine.reports.parts import InputReport
from penstock.engine.reports.report import Report
from penstock.plan.text.parse import forced_plan


@dataclass(frozen=True)
class Held(Forecast):
    """Batches in which each second of data takes `fresh` for what comes, and `held` for what the
    windows hold, which is unshed for ten batches."""

    fresh: float = 0.0
    held: float = 0.0

    def seconds(self, position: float, span: float, ahead: float = 0.0) -> float:
        passed = min(1.0, ahead / 10.0)
        kept = 1.0 - position
        return span * (self.fresh * kept + self.held * (1.0 - passed + passed * kept))


def forecast(fresh: float, held: float) -> Held:
    curve: Any = SimpleNamespace(end=1.0)
    nothing: Any = None
    return Held(curve, nothing, nothing, fresh, held)


def test_what_fits_is_kept() -> None:
    assert forecast(1.0, 0.2).position(2.0, 1.0) == 0.0
    assert forecast(1.0, 0.2).position(0.7, 1.0) == pytest.approx(0.5, abs=1e-6)


def test_no_more_is_dropped_than_will_do_once_windows_have_passed() -> None:
    """Nothing helps against what they hold; to keep nothing would lose results and gain no time."""
    position = forecast(0.1, 1.2).position(0.8, 1.0, ahead=2.0)
    assert position == pytest.approx(1.0 - 0.8 / 1.3, abs=1e-6)


def test_all_is_dropped_where_that_makes_the_next_batch_shorter() -> None:
    assert forecast(2.0, 1.2).position(0.8, 1.0, ahead=2.0) == 1.0


def batch(number: int, keep: float) -> Report:
    """A second of the demo's streams."""
    rates = {"bid": 13_800, "auction": 900, "person": 1_800}
    inputs = {alias: InputReport(rate, 0, keep) for alias, rate in rates.items()}
    return cast(Report, SimpleNamespace(batch=number, span=1.0, inputs=inputs))


def test_estimates_are_paid_for_until_windows_have_passed() -> None:
    """Not only by batches that shed: what they kept has weights as long as it is held."""
    query = sql(Site(people=300, seconds=20).rushed(2))
    plan = forced_plan(query.query, "bid: auction person; auction: bid person; person: auction bid")
    curve, nothing = keep_curve(query.known, plan), cast(WorkModel, None)
    shed, whole = WindowFill(query.query), WindowFill(query.query)
    for number in range(3):
        whole.hear(batch(number, 1.0))
        shed.hear(batch(number, 0.5 if number == 1 else 1.0))
    dear, plain = Forecast(curve, shed, nothing), Forecast(curve, whole, nothing)
    assert dear.done(batch(2, 1.0)).load > 1.2 * plain.done(batch(2, 1.0)).load
    assert dear.job(0.0, 1.0).load > 1.2 * plain.job(0.0, 1.0).load
    assert dear.weighed_for == pytest.approx(19.0, abs=0.1), "the window of auctions"
    assert dear.job(0.0, 1.0, ahead=19.5).load == plain.job(0.0, 1.0, ahead=19.5).load
    assert plain.weighed_for == 0.0


def test_what_rows_windows_hold_is_no_reason_to_shed_for_ever() -> None:
    options = "format='csv', path='a', timestamp='ts', unit='s'"
    streams = f"CREATE STREAM a (ts BIGINT, k INT) WITH ({options});"
    query = sql(f"{streams} SELECT COUNT(*) AS n FROM a [ROWS 10] EVERY 1 SECOND").query
    fill = WindowFill(query)
    inputs = {"a": InputReport(100, 50, 0.5)}
    fill.hear(cast(Report, SimpleNamespace(batch=2, span=1.0, inputs=inputs)))
    assert fill.weighed_for == 0.0
    assert fill.weighed(0.0) == frozenset()
