"""The warm-up: which plans are worth measuring, and the regimes of a scenario."""

from __future__ import annotations

from penstock.bench.drift.cases.warm_up import BATCHES, hopeful, short
from penstock.bench.drift.streams import steps, waves
from penstock.bench.drift.streams.spans import spans_of


def took(*seconds: float) -> list[float]:
    """What a plan took: so long for each batch of a regime, and much for the first one."""
    return [part for each in seconds for part in (9.0, *[each] * (BATCHES - 1))]


def test_plans_that_win_somewhere_or_in_all_are_measured() -> None:
    spans = spans_of(steps.swapped_rates(steps.STAR3, steps.Size(3, 2_000.0)))
    cpu = {
        "first": took(1.0, 9.0),
        "second": took(9.0, 1.0),
        "robust": took(3.0, 3.0),
        "hopeless": took(9.0, 9.0),
    }
    assert hopeful(cpu, spans) == ["first", "second", "robust"]


def test_a_wave_turns_between_two_regimes() -> None:
    scenario = waves.square(waves.Size(1.5, 100.0, 2_000.0))
    first, second = spans_of(scenario)
    assert (first.batches, second.batches) == (30, 15)
    assert first.regime != second.regime
    few = short(scenario, (first, second))
    assert few.batches == 2 * BATCHES
    assert list(few.regimes())[BATCHES] == second.regime


def test_streams_that_stay_have_one_regime() -> None:
    (span,) = spans_of(waves.stationary(waves.Size(1, 100.0), 1))
    assert span.batches == 10
