"""Reach by some rows of each chunk, beside an exact count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from penstock.duration import MICROS
from penstock.engine.join.reach import Reach
from penstock.engine.rows.columns import TS, UNTIL, hash_name
from penstock.engine.state.store import Chunk
from penstock.kernels.ranges import count_between
from penstock.query import TimeWindow

EXTENT = 10 * MICROS
WINDOW = TimeWindow(extent=EXTENT, slide=1)


def chunks(sizes: Sequence[int], keys: int, seed: int) -> list[Chunk]:
    """Chunks of two seconds each, one after another."""
    rng = np.random.default_rng(seed)
    return [_chunk(rng, size, 2 * place, keys) for place, size in enumerate(sizes)]


def _chunk(rng: np.random.Generator, size: int, second: int, keys: int) -> Chunk:
    hashes = rng.integers(0, keys, size)
    times = rng.integers(second * MICROS, (second + 2) * MICROS, size)
    order = np.lexsort((times, hashes))
    rows = {TS: times[order], hash_name(0): hashes[order]}
    return Chunk.of(pa.RecordBatch.from_pydict(rows), 0)


def met(found: Sequence[Chunk], times: NDArray[np.int64]) -> tuple[float, int]:
    """What is told to be in reach of new tuples, and what is."""
    control = {TS: times, UNTIL: times + EXTENT}
    births = np.concatenate([chunk.times for chunk in found])
    near = np.abs(births[None, :] - times[:, None]) <= EXTENT
    return Reach.of(found, 1.0, 1).met((WINDOW,), control), int(near.sum())


@pytest.mark.parametrize("keys", [20, 10**6])
@pytest.mark.parametrize(
    "sizes", [(9_000,) * 6, (40_000, 700, 700, 3), (3, 90_000), (900,), (600, 0, 0, 2_000)]
)
def test_some_rows_of_each_chunk_stand_for_all(sizes: tuple[int, ...], keys: int) -> None:
    errors = []
    for seed in range(10):
        end = 2 * len(sizes)
        times = np.random.default_rng(seed).integers(end * MICROS, (end + 5) * MICROS, 200)
        told, true = met(chunks(sizes, keys, seed), times)
        errors.append(told / true - 1.0)
    assert np.sqrt(np.mean(np.square(errors))) < 0.08
    assert abs(np.mean(errors)) < 0.04


def test_the_loop_is_compiled_once_whoever_owns_the_times() -> None:
    found = Reach.of(chunks((100, 90), 5, seed=1), 1.0, 1)
    times = np.arange(20_000)
    for owned in (times, pa.array(times).to_numpy(), np.arange(60_000)[::3]):
        found.met((WINDOW,), {TS: owned, UNTIL: owned})
    assert len(count_between.signatures) == 1  # type: ignore[attr-defined]


def test_few_rows_are_counted_one_by_one() -> None:
    found = chunks((100, 0, 90, 60), 5, seed=1)
    times = np.arange(8 * MICROS, 20 * MICROS, MICROS // 4)
    told, true = met(found, times)
    assert told == pytest.approx(true)


def test_without_rows_nothing_is_in_reach() -> None:
    assert met(chunks((0, 0), 5, seed=1), np.arange(3)) == (0.0, 0)


def test_a_chunk_is_thinned_by_a_power_of_two_and_once() -> None:
    (chunk,) = chunks((5_000,), 50, seed=2)
    assert chunk.thinned.stride == 32
    assert chunk.thinned.bounds[TS].tolist() == chunk.times[::32].tolist()
    assert chunk.thinned is chunk.thinned
