"""Shapes of a synthetic stream's rate, against counts of its tuples."""

from __future__ import annotations

import math

import numpy as np
import pytest

import penstock as ps
from penstock.engine.sources.made.rate_shape import RateShape
from penstock.engine.sources.made.synthetic import Synthetic
from penstock.errors import SourceError

RATE = 2_000.0


def made(shape: str | None, arrivals: str = "poisson", seconds: int = 60) -> Synthetic:
    option = "" if shape is None else f", shape = '{shape}'"
    text = f"""CREATE STREAM s (ts TIMESTAMP, k BIGINT) WITH (
      format = 'synthetic', timestamp = 'ts', rate = {RATE}, arrivals = '{arrivals}', seed = 3,
      duration = '{seconds} seconds'{option});
    SELECT * FROM s [RANGE 1 SECOND]"""
    (source,) = ps.sql(text).query.sources.values()
    return Synthetic.of(source)


def by_second(stream: Synthetic) -> np.ndarray:
    blocks = stream.blocks
    assert blocks is not None
    times = [rows.column("ts").cast("int64") for rows, _ in stream.generate(0, blocks, ("ts",))]
    seconds = (np.concatenate([t.to_numpy() for t in times]) - stream.start) // 1_000_000
    return np.bincount(seconds, minlength=60)


def near(counts: np.ndarray, rate: float) -> bool:
    """Whether counts are those of a Poisson stream with that rate, within five deviations."""
    expected = rate * len(counts)
    return bool(abs(counts.sum() - expected) < 5 * math.sqrt(expected))


def test_a_step_stays() -> None:
    counts = by_second(made("step(20 s, 10)"))
    assert near(counts[:20], RATE)
    assert near(counts[20:], 10 * RATE)


def test_a_burst_ends() -> None:
    counts = by_second(made("burst(20 s, 5 s, 0.1)"))
    assert near(np.delete(counts, slice(20, 25)), RATE)
    assert near(counts[20:25], RATE / 10)


def test_a_square_comes_again() -> None:
    counts = by_second(made("square(20 s, 4)"))
    for first in (0, 20, 40):
        assert near(counts[first : first + 10], RATE)
        assert near(counts[first + 10 : first + 20], 4 * RATE)


def test_a_sine_swings_between_both() -> None:
    counts = by_second(made("sine(40 s, 9)"))
    assert near(counts[:1], RATE * (1 + 4 * (1 - np.sinc(1 / 40 * 2))))
    assert near(counts[:40], 5 * RATE)
    assert counts[:40].max() > 8.5 * RATE > counts[:40].min()


def test_a_shape_that_ends_within_a_block_counts_in_part() -> None:
    shape = RateShape.parse("burst(1500 ms, 1 s, 3)")
    assert shape.factors(0, 4, 1_000_000).tolist() == [1.0, 2.0, 2.0, 1.0]


def test_a_block_is_the_same_whoever_makes_it() -> None:
    whole, part = made("square(20 s, 4)"), made("square(20 s, 4)")
    rows = {number: batch for number, (batch, _) in enumerate(whole.generate(0, 60, ("k",)))}
    ((alone, _),) = part.generate(17, 18, ("k",))
    assert alone.equals(rows[17])


def test_rows_are_counted_over_a_shape() -> None:
    text = made("step(2 s, 10)").source
    counts = by_second(made("step(2 s, 10)"))
    assert counts.sum() == sum(len(n) for _, n in Synthetic.of(text).generate(0, 10**6, ()))


def test_without_a_shape_nothing_changed() -> None:
    assert near(by_second(made(None)), RATE)


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("stairs(1 s, 2)", "is none of step"),
        ("step(1 s)", "step has 2 arguments"),
        ("step(soon, 2)", "soon"),
        ("step(-1 s, 2)", "before the start"),
        ("square(0 s, 2)", "longer than 0"),
        ("step(1 s, often)", "is no number"),
        ("step(1 s, 0)", "is not between"),
        ("step(1 s, nan)", "is not between"),
        ("step(1 s, 1000000)", "more than 100,000,000"),
    ],
)
def test_wrong_shapes_are_refused(shape: str, said: str) -> None:
    with pytest.raises(SourceError, match="shape") as error:
        made(shape)
    assert said in str(error.value)
    assert "burst(20 s, 10 s, 5)" in str(error.value)


def test_only_random_arrivals_have_a_shape() -> None:
    with pytest.raises(SourceError, match="only Poisson arrivals") as error:
        made("step(1 s, 2)", arrivals="constant")
    assert "arrivals = 'poisson'" in str(error.value)
