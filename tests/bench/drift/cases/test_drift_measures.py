"""The arithmetic of the drift benchmark, on reports and runs that are made up."""

from __future__ import annotations

import pytest

from penstock.bench.drift.cases.burst import Burst, Seen
from penstock.bench.drift.cases.calm import Beside
from penstock.bench.drift.cases.contenders import best_static, clairvoyant, typical
from penstock.bench.drift.cases.measures import (
    batches_to_notice,
    batches_to_settle,
    most_switches_an_edge,
    switches,
    worst,
)
from penstock.bench.drift.cases.trace import Answer, Trace
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report

OLD, NEW = "old", "new"


def reports(count: int, **changes: Change) -> list[Report]:
    """Reports of so many batches, with changes by their batch: `at_3=…`."""
    return [
        Report(
            number,
            seconds=0.0,
            read={},
            late={},
            malformed={},
            results=0,
            state_tuples=0,
            frontier=None,
            total_results=0,
            changes=(changes[f"at_{number}"],) if f"at_{number}" in changes else (),
        )
        for number in range(count)
    ]


def trace(*cpu: float, answer: int = 0) -> Trace:
    return Trace(cpu, (), (), Answer(answer, answer))


def test_a_change_is_noticed_in_the_batch_that_says_so() -> None:
    drift = Change("drift", "the rate of A has moved")
    assert batches_to_notice(reports(9, at_5=drift), 5) == 1
    assert batches_to_notice(reports(9, at_7=drift), 5) == 3
    assert batches_to_notice(reports(9, at_4=drift), 5) is None
    assert batches_to_notice(reports(9, at_6=Change("order", "stop")), 5) is None


def test_plans_have_settled_when_only_good_ones_follow() -> None:
    def settled(text: str) -> float | None:
        return batches_to_settle(list(text), 2, len(text), lambda plan: plan == "+")

    assert settled("--++++") == 0
    assert settled("++--++") == 2
    assert settled("+++-+-+") == 4
    assert settled("++++--") is None
    assert settled("++") is None


def test_switches_are_counted_between_batches() -> None:
    plans = [OLD, OLD, NEW, NEW, OLD]
    assert switches(plans) == 2
    assert switches([]) == 0
    assert most_switches_an_edge(plans, [2, 4]) == 1
    assert most_switches_an_edge(plans, [1]) == 2


def test_never_is_worse_than_any_number_of_batches() -> None:
    assert worst([3, 1, 2]) == 3
    assert worst([3, 1, 2], is_less_better=False) == 1
    assert worst([3, None]) is None
    assert worst([]) is None


def test_the_clairvoyant_takes_the_best_plan_of_each_stretch() -> None:
    cpu = {OLD: [1.0, 1.0, 1.0, 9.0, 9.0], NEW: [9.0, 9.0, 3.0, 1.0, 1.0]}
    found = clairvoyant(cpu, [2])
    assert (found.plans, found.since, found.work) == ((OLD, NEW), (0, 3), 5.0)
    assert best_static(cpu) == (OLD, 21.0)


def test_the_clairvoyant_keeps_a_plan_that_is_always_the_best() -> None:
    found = clairvoyant({OLD: [1.0, 1.0, 1.0], NEW: [2.0, 2.0, 2.0]}, [1])
    assert (found.plans, found.work) == ((OLD, OLD), 3.0)
    assert clairvoyant({OLD: [1.0, 2.0]}, []).work == 3.0


def test_batches_are_typical_by_their_medians() -> None:
    assert typical([[1.0, 9.0], [2.0, 2.0], [9.0, 1.0]]) == [2.0, 2.0]


def test_overhead_is_of_typical_batches_and_the_median_over_scenarios() -> None:
    def late(*cpu: float) -> Trace:
        return trace(9.0, 1.0, 1.0, 1.0, *cpu)

    alone = ((late(1.0, 1.0),) * 3, (late(2.0, 2.0),), (late(1.0, 1.0),))
    followed = (
        (late(1.0, 1.2), late(1.0, 9.0), late(9.0, 1.2)),
        (late(2.0, 2.04),),
        (late(9.0, 9.0),),
    )
    found = Beside(followed, alone)
    assert found.overhead == pytest.approx(0.1)
    assert found.switches == 0
    assert found.is_exact
    assert not Beside(((trace(1.0, answer=1),),), ((trace(1.0, answer=2),),)).is_exact


def passed(*delays: float, kept: tuple[float, ...] = ()) -> Burst:
    """A burst from 0 s on with a batch a second, then seconds in which so much is kept."""
    during = [Seen(n, 0.5, delay, n, {"A": 0.1 * n}) for n, delay in enumerate(delays, 1)]
    end = float(len(delays))
    after = [Seen(end + n, 0.5, 1.0, end + n, {"A": 1.0, "B": k}) for n, k in enumerate(kept, 1)]
    return Burst([*during, *after], 10.0, 0.0, end)


def test_a_delay_has_settled_when_its_mean_stays_near_the_target() -> None:
    assert passed(10, 11, 9, 10, 10).settle_batches == 0
    assert passed(2, 15, 9, 10, 10, 11, 12).settle_batches == 2
    assert passed(*(2, 10, 10, 10, 10, 10, 15, 10, 10, 10, 10)).settle_batches == 1
    assert passed(2, 4, 6, 8, 10, 12, 14, 16, 18).settle_batches is None
    assert passed(10, 15, 15, 15, 10, 10, 10, 10, 10).settle_batches == 4
    assert passed(10, 10, 10, 10).settle_batches is None


def test_overshoot_is_the_part_above_the_target() -> None:
    assert passed(2, 15, 9).overshoot == pytest.approx(0.5)
    assert passed(2, 9, 9).overshoot == 0.0


def test_the_last_half_tells_what_was_kept_and_how_busy_it_was() -> None:
    found = passed(10, 10, 10, 10, 10, 10)
    assert [round(each["A"], 1) for each in found.kept_by(1.5)] == [0.4, 0.5]
    assert found.busy == pytest.approx(0.5)
    assert passed(10).kept_by(1.5) == [{"A": 0.1}]


def test_shedding_is_over_when_all_is_kept_and_stays_so() -> None:
    assert passed(10, kept=(0.5, 0.7, 1.0, 1.0)).clear_batches == 2
    assert passed(10, kept=(1.0, 1.0)).clear_batches == 0
    assert passed(10, kept=(1.0, 0.9)).clear_batches is None
