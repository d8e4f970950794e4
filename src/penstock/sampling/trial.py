"""Conditions tried on sampled tuples: how many pass, and how long it takes to tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import Naming, holds
from penstock.engine.routes.screening import declared_seconds
from penstock.engine.rows.columns import column_name, plain_name
from penstock.errors import EvaluationError
from penstock.figure import Figure
from penstock.query import Condition
from penstock.sampling.estimate import estimate_fraction
from penstock.stats.statistics import GivenCondition

Failed = Callable[[str], None]

_PLACE = "#place"

# Small, because a user's function may take a second a call; the next chunks are twice as large.
_FIRST_CHUNK = 16
_PAIRS = 100_000

# So many times what functions are declared to take: a test of ten functions then still ends.
_PATIENCE = 10.0
_SEED = 1


def try_filters(
    rows: pa.Table, filters: Iterable[Condition], seconds: float, failed: Failed
) -> tuple[pa.Table, dict[str, GivenCondition]]:
    """The tuples that pass all filters, in their order, and each filter's figures.

    Where there is no time for all tuples, those that are tried are from all of the sample.

    Each filter sees what those before it let through, so that their selectivities multiply to that
    of all of them even where they say nearly the same. One that fails lets all through.
    """
    figures = {}
    mixed = np.random.default_rng(_SEED).permutation(len(rows))
    rows = rows.take(pa.array(mixed)).append_column(_PLACE, pa.array(mixed))
    for condition in filters:
        if not len(rows):
            break
        try:
            held, cost = evaluate_for(condition, rows, plain_name, seconds)
        except EvaluationError as error:
            failed(f"{condition} fails on the sample, so its figures are guessed: {error.message}")
            continue
        rows = rows.slice(0, len(held)).filter(pa.array(held))
        selectivity = estimate_fraction(int(held.sum()), len(held))
        figures[str(condition)] = GivenCondition(selectivity, cost)
    return rows.sort_by(_PLACE).drop_columns([_PLACE]), figures


def try_theta(
    rows: Mapping[str, pa.Table], condition: Condition, seconds: float, failed: Failed
) -> GivenCondition:
    """The figures of a predicate over several inputs, from combinations drawn at random."""
    generator = np.random.default_rng(_SEED)
    columns: dict[str, pa.ChunkedArray] = {}
    for alias in sorted(condition.streams):
        drawn = rows[alias].take(pa.array(generator.integers(0, len(rows[alias]), _PAIRS)))
        columns |= {f"{alias}.{name}": drawn.column(name) for name in drawn.column_names}
    try:
        held, cost = evaluate_for(condition, pa.table(columns), column_name, seconds)
    except EvaluationError as error:
        failed(f"{condition} fails on the sample, so its figures are guessed: {error.message}")
        return GivenCondition()
    # Combinations that share a tuple are not independent: no more are than there are tuples.
    independent = min(len(held), *(len(rows[alias]) for alias in condition.streams))
    return GivenCondition(estimate_fraction(int(held.sum()), len(held), independent), cost)


def evaluate_for(
    condition: Condition, rows: pa.Table, name: Naming, seconds: float
) -> tuple[NDArray[np.bool_], Figure]:
    """Which rows pass, of as many as should take so long, and seconds for one of them.

    How many these are follows from what the condition's functions are declared to cost; the clock
    only ends what takes very much longer than that.
    """
    most = min(len(rows), max(_FIRST_CHUNK, seconds / declared_seconds(condition)))
    end = time.perf_counter() + _PATIENCE * seconds
    start, size, best = 0, _FIRST_CHUNK, np.inf
    held: list[NDArray[np.bool_]] = []
    while start < most and (not held or time.perf_counter() < end):
        chunk = rows.slice(start, min(size, int(most) - start))
        began = time.perf_counter()
        held.append(holds(condition.expression, chunk, name).to_numpy(zero_copy_only=False))
        best = min(best, (time.perf_counter() - began) / len(chunk))
        start, size = start + size, size * 2
    return np.concatenate(held), Figure(float(f"{best:.3g}"), "measured")
