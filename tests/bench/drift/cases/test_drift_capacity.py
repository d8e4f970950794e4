"""What this machine can do, by made-up runs: rates of a load, and what the best boxes keep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.bench.drift.cases.burst import WINDOW, probe
from penstock.bench.drift.cases.capacity import PROBES, Capacity, Kept, Load
from penstock.bench.drift.cases.following import Setting
from penstock.engine.reports.report import Report

START, ROW, PAIR = 0.1, 2e-6, 3e-9
LOAD = Load(START, ROW, PAIR)


def spent(rate: float, keep: float = 1.0) -> float:
    """Seconds for a second, if reading takes three tenths of what a row takes."""
    kept = keep * rate
    return START + ROW * (0.3 * rate + 0.7 * kept) + PAIR * kept * kept


def test_a_parabola_through_the_runs_tells_the_load() -> None:
    found = Load.of([spent(rate) for rate in PROBES])
    assert found.start == pytest.approx(START, rel=0.01)
    assert found.pair == pytest.approx(PAIR, rel=0.01)
    for load in (0.3, 1.0, 5.0):
        assert spent(found.rate(load)) == pytest.approx(load, rel=0.01)


def test_work_that_grows_with_rows_alone_has_no_pairs() -> None:
    found = Load.of([0.0, 0.5, 1.5])
    assert found.rate(3.0) == pytest.approx(3e4, rel=1e-3)


def test_where_starting_is_all_that_takes_time_rates_stay_within_reach() -> None:
    assert Load.of([0.3, 0.3, 0.3]).rate(5.0) == 10.0 * PROBES[-1]
    assert Load.of([0.5, 0.4, 0.5]).rate(0.3) > 0.0


@pytest.mark.parametrize("over", [2.0, 5.0])
def test_what_is_kept_needs_a_second_for_a_second(over: float) -> None:
    rate = LOAD.rate(over)
    assert spent(rate, LOAD.kept(rate, 1.0)) == pytest.approx(1.0)
    assert LOAD.kept(LOAD.rate(0.5), 1.0) == 1.0


def test_results_grow_as_pairs_do() -> None:
    rate, keep = LOAD.rate(5.0), 0.4
    growth = LOAD.growth(rate, keep)
    more = spent(rate, 1.01 * keep) / spent(rate, keep)
    assert more**growth == pytest.approx(1.01**2, rel=1e-3)


def test_boxes_that_never_change_are_as_good_as_themselves(tmp_path: Path) -> None:
    setting = Setting(tmp_path, progress=lambda what: None)
    machine = Capacity(probe, WINDOW, 1.0, setting)
    own, best = machine._race(5_000.0, [[{"A": 0.5, "B": 0.5}] * 4] * 2)
    results = [sum(report.results for report in reports) for reports in (own, best)]
    assert results[0] == results[1]
    assert results[0] / 2 == pytest.approx(2_500.0**2 * 2 * WINDOW / 20 * 9.5 / 2_000, rel=0.5)
    assert not any(tmp_path.iterdir())


class Made(Capacity):
    """A machine on which one in a hundred pairs is a result, and all takes twice as long."""

    def _race(self, rate: float, boxes: Sequence[Sequence[Kept]]) -> list[Sequence[Report]]:
        return [[_made(rate, kept) for kept in each[self._filled :]] for each in boxes]


def _made(rate: float, kept: Kept) -> Report:
    keep = kept["A"]
    results = round(1e-2 * (keep * rate) ** 2)
    return Report(0, 2.0 * spent(rate, keep), {}, {}, {}, results, 0, None, results)


def test_results_are_compared_for_equal_work(tmp_path: Path) -> None:
    machine = Made(probe, WINDOW, 1.5, Setting(tmp_path, progress=lambda what: None))
    rate = LOAD.rate(5.0)
    even = [{"A": 0.4, "B": 0.4}] * 3
    assert machine.kept_vs_best(LOAD, rate, even) == pytest.approx(1.0)
    # Of one batch nearly nothing is kept, though it is read: the others take longer, but not by so
    # much as their results are more.
    uneven = [{"A": 0.01, "B": 0.01}, *even[1:]]
    assert machine.kept_vs_best(LOAD, rate, uneven) < 0.95
