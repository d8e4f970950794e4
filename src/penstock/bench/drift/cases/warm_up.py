"""The warm-up: a few batches of each regime with every plan, which load all code, and tell which
plans cannot win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from penstock.bench.drift.streams.scenario import Scenario, Stretch
from penstock.bench.drift.streams.spans import Span

BATCHES = 3
"""Batches of each regime. By the third one a supervisor has asked for plans, and windows are full
of the regime's tuples."""
HOPELESS = 1.3
"""A plan that takes so many times the work of the best need not be run as a whole: batches of one
regime differ by less."""


def short(scenario: Scenario, spans: Sequence[Span]) -> Scenario:
    """A few batches of each regime, as large as those of the scenario."""
    regimes = tuple(Stretch(span.regime, BATCHES) for span in spans)
    return replace(scenario, name=f"{scenario.name}-short", stretches=regimes, turns=())


def hopeful(cpu: Mapping[str, Sequence[float]], spans: Sequence[Span]) -> list[str]:
    """The plans that may be the best of a regime, or of all, by what short runs took.

    The first batch of each regime still meets tuples of the one before it, or loads code.
    """
    work = {
        name: [sum(each[i * BATCHES + 1 : (i + 1) * BATCHES]) for i in range(len(spans))]
        for name, each in cpu.items()
    }
    whole = {
        name: sum(part * span.batches for part, span in zip(parts, spans, strict=True))
        for name, parts in work.items()
    }
    best = [min(parts) for parts in zip(*work.values(), strict=True)]
    return [
        name
        for name, parts in work.items()
        if whole[name] <= HOPELESS * min(whole.values())
        or any(part <= HOPELESS * least for part, least in zip(parts, best, strict=True))
    ]


def load_training() -> None:
    """Have what trains meshes loaded, which takes a second and which few batches do not do."""
    from penstock.sampling.condense import attributes_in, condense

    numbers = np.arange(200.0)
    condense(attributes_in(pa.table({"x": numbers})), np.column_stack([numbers > 100.0, numbers]))
