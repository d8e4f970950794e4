"""The loop around the delay: where its poles are, and that nothing winds up."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.adapt.shedding.controller import B0, B1, A, DelayController
from penstock.adapt.shedding.queue import Standing


def test_the_closed_loop_has_a_double_pole_at_seven_tenths() -> None:
    loop = np.polyadd(np.polymul([1.0, -1.0], [1.0, A]), [B0, B1])
    assert np.roots(loop) == pytest.approx([0.7, 0.7], abs=1e-6)


def led(
    target: float, trigger: float, first: float, limit: float | None, batches: int
) -> list[float]:
    """The delays when each batch takes what it may; the first one took `first` seconds."""
    controller = DelayController(target, trigger)
    took, left, delays = first, 0.0, []
    for _ in range(batches):
        waiting = left + max(trigger, took)
        taken = waiting if limit is None else min(waiting, limit)
        now = Standing(waiting, took, taken, taken)
        took = controller.wanted(now)
        controller.order(now, took)
        left = waiting - taken
        delays.append(waiting + took)
    return delays


@pytest.mark.parametrize("trigger", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("first", [0.5, 2.5, 20.0])
@pytest.mark.parametrize("limit", [None, 4.0, 6.0])
def test_the_delay_comes_to_its_target(trigger: float, first: float, limit: float | None) -> None:
    delays = led(5.0, trigger, first, limit, 60)
    assert delays[-10:] == pytest.approx([5.0] * 10, rel=0.05)


def test_batches_do_not_take_turns() -> None:
    """Were the delay itself led, long and short batches would take turns for ever."""
    delays = np.array(led(5.0, 0.2, 4.0, None, 40))
    assert np.abs(np.diff(delays[20:])).max() < 0.05


def test_nothing_winds_up_while_there_is_little_to_do() -> None:
    controller = DelayController(5.0, 1.0)
    idle = Standing(1.0, 0.2, 1.0, 1.0)
    for _ in range(100):
        controller.wanted(idle)
        controller.order(idle, 0.2)
    # A burst: without the note of what was ordered it would be let in for many batches.
    assert controller.wanted(Standing(5.0, 5.0, 5.0, 5.0)) < 2.5


def test_data_that_waits_already_leaves_little_time() -> None:
    controller = DelayController(5.0, 1.0)
    assert controller.wanted(Standing(5.0, 5.0, 5.0, 5.0)) == pytest.approx(1.25)
