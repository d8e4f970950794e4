"""Where on the curve of what to keep a batch is to be, when windows hold much already."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.adapt.shedding.forecast import Forecast


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
