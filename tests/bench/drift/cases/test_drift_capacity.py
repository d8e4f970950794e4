"""What this machine can do, by made-up runs: rates of a load, and what the best boxes keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.bench.drift.cases.burst import WINDOW, _probe
from penstock.bench.drift.cases.capacity import PROBES, Capacity, Load
from penstock.bench.drift.cases.following import Setting

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


class Made(Capacity):
    """A machine that takes twice as long as was thought, and makes a result of a pair in a
    million."""

    def _spent(self, rate: float, keep: float, full: int) -> tuple[float, float]:
        return 2.0 * spent(rate, keep), 1e-6 * (keep * rate) ** 2


def test_the_best_boxes_are_found_by_runs_with_them(tmp_path: Path) -> None:
    machine = Made(_probe, WINDOW, 1.5, Setting(tmp_path, progress=lambda what: None))
    rate = LOAD.rate(5.0)
    found = machine.best_results(LOAD, rate)
    best = max(k for k in range(1, 1000) if 2.0 * spent(rate, k / 1000) <= 1.0) / 1000
    assert found == pytest.approx(1e-6 * (best * rate) ** 2, rel=0.03)


def test_boxes_are_tried_on_a_little_of_the_burst(tmp_path: Path) -> None:
    setting = Setting(tmp_path, progress=lambda what: None)
    machine = Capacity(_probe, WINDOW, 1.0, setting)
    seconds, results = machine._spent(5_000.0, 0.5, 2)
    assert seconds > 0.0
    assert results == pytest.approx(2_500.0**2 * 2 * WINDOW / 20 * 9.5 / 2_000, rel=0.5)
    assert not any(tmp_path.iterdir())
