"""The policy as a table: what is worth a switch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.adapt.switching.policy import Offer, verdict

FREE = Offer(old_work=1.0, new_work=0.5)
REBUILD = Offer(old_work=1.0, new_work=0.5, rebuild=1.0, largest_window=10.0, regime=10.0)


@pytest.mark.parametrize(
    ("offer", "is_worth_it", "reason"),
    [
        (FREE, True, "50% less work, and nothing to rebuild"),
        (replace(FREE, new_work=0.9), True, "10% less work, and nothing to rebuild"),
        (replace(FREE, new_work=0.92), False, "less than 1.1 times as good"),
        (replace(FREE, new_work=1.5), False, "less than 1.1 times as good"),
        (REBUILD, True, "50% less work: it saves 10 s within 20 s for a rebuild of 1 s"),
        (replace(REBUILD, new_work=0.85), False, "less than 1.2 times as good"),
        (replace(REBUILD, busy=0.03), False, "it saves only 1.5% of the clock for a rebuild"),
        (
            replace(REBUILD, regime=1.0),
            False,
            "it saves only 1 s within 2 s for a rebuild of 1 s",
        ),
        (
            replace(REBUILD, largest_window=1.0, regime=4.0),
            False,
            "it saves only 1 s within 2 s for a rebuild of 1 s",
        ),
        (
            replace(REBUILD, largest_window=1.0, regime=10.0),
            True,
            "50% less work: it saves 2.5 s within 5 s for a rebuild of 1 s",
        ),
        (replace(REBUILD, largest_window=0.0), True, None),
        (
            replace(REBUILD, fill=10.0),
            True,
            "50% less work: it saves 5 s within 20 s for a rebuild of 1 s "
            "that fills itself for 10 s",
        ),
        (
            replace(REBUILD, fill=10.0, regime=5.0),
            False,
            "it saves only 0 s within 10 s for a rebuild of 1 s that fills itself for 10 s",
        ),
        (
            replace(REBUILD, is_behind=True),
            False,
            "what the last rebuild has held up is not read yet",
        ),
        (replace(FREE, is_behind=True, busy=0.001), True, None),
    ],
)
def test_what_is_worth_a_switch(offer: Offer, is_worth_it: bool, reason: str | None) -> None:
    found = verdict(offer, DEFAULT_SETTINGS)
    assert found.is_worth_it is is_worth_it
    assert reason is None or found.reason.endswith(reason)
    assert (found.rule == "worth it") is is_worth_it


@pytest.mark.parametrize(
    ("since_switch", "since_drift", "is_worth_it"),
    [
        (None, 100, True),
        (1, 100, False),
        (9, 100, False),
        (10, 100, True),
        (5, 0, True),  # a drift since
        (1, 1, True),
        (1, 2, False),  # the drift was before the switch: it settles for three batches
        (3, 5, True),
        (3, 12, False),
    ],
)
def test_how_soon_another_switch_may_come(
    since_switch: int | None, since_drift: int, is_worth_it: bool
) -> None:
    offer = replace(FREE, since_switch=since_switch, since_drift=since_drift)
    assert verdict(offer, DEFAULT_SETTINGS).is_worth_it is is_worth_it


def test_a_plan_that_was_taken_back_or_cannot_be_shed_is_refused_with_the_reason() -> None:
    barred = verdict(replace(FREE, barred_until=70), DEFAULT_SETTINGS)
    assert (barred.is_worth_it, barred.rule) == (False, "barred")
    assert barred.reason == "it was taken back, and is not tried again before batch 70"
    shed = verdict(replace(FREE, is_for_all_tuples=True), DEFAULT_SETTINGS)
    assert (shed.is_worth_it, shed.rule) == (False, "shed")
