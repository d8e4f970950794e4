"""Spans of a scenario: the regimes that it turns between, and how long it is near each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from penstock.bench.drift.streams.scenario import Regime, Scenario


@dataclass(frozen=True)
class Span:
    """A regime, and the batches in which it is the nearest one."""

    regime: Regime
    batches: int


MOST = 2
"""Regimes that are told apart: waves come back to the first ones."""


def spans_of(scenario: Scenario) -> tuple[Span, ...]:
    """The regimes between two turns, each taken in the middle."""
    ends = [0, *scenario.edges, scenario.batches]
    regimes = list(scenario.regimes())
    found: list[tuple[Regime, int]] = []
    for number, (start, end) in enumerate(pairwise(ends)):
        regime, batches = regimes[(start + end) // 2], end - start
        at = next((i for i, each in enumerate(found) if each[0] == regime), number % MOST)
        if at < len(found):
            found[at] = found[at][0], found[at][1] + batches
        else:
            found.append((regime, batches))
    return tuple(Span(*each) for each in found)
