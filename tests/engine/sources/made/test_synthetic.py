"""Synthetic streams: made again alike, at the rate and with the values that were asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.engine.expressions.arrow_types import schema_of
from penstock.engine.sources.made.synthetic import Synthetic
from penstock.engine.sources.read import event_micros
from penstock.errors import Caret, SourceError
from penstock.query import DataType, Field, Source

T = DataType
START = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
SECOND = 1_000_000
FIELDS = (
    Field("ts", T.TIMESTAMP),
    Field("k", T.BIGINT),
    Field("v", T.DOUBLE),
    Field("word", T.STRING),
    Field("small", T.TINYINT),
    Field("flag", T.BOOLEAN),
    Field("day", T.DATE),
    Field("seen", T.TIMESTAMP),
    Field("short", T.FLOAT),
)


def source(
    rate: float | None = 1000.0, fields: tuple[Field, ...] = FIELDS, **options: Any
) -> Source:
    unit = options.pop("unit", None)
    name = options.pop("name", "s")
    places = options.pop("places", {})
    pairs = tuple(options.items())
    return Source(
        name,
        fields,
        "synthetic",
        timestamp="ts",
        rate=rate,
        unit=unit,
        options=pairs,
        places=places,
    )


def made(
    stream: Source, blocks: int | None = None, columns: Sequence[str] | None = None
) -> tuple[pa.Table, np.ndarray[Any, Any]]:
    """All tuples of a stream, or of its first blocks, and their arrival numbers."""
    generator = Synthetic.of(stream)
    last = generator.blocks if blocks is None else blocks
    assert last is not None
    names = columns or [field.name for field in stream.fields]
    batches, numbers = zip(*generator.generate(0, last, names), strict=True)
    return pa.Table.from_batches(batches), np.concatenate(numbers)


def times(table: pa.Table) -> np.ndarray[Any, Any]:
    times: np.ndarray = table["ts"].cast(pa.int64()).to_numpy() - START
    return times


@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
def test_columns_have_their_declared_types_and_times_do_not_go_back(arrivals: str) -> None:
    stream = source(arrivals=arrivals, rows=5000)
    table, numbers = made(stream)
    assert table.schema == schema_of(stream.fields)
    assert table.num_rows == len(numbers) == 5000
    assert sum(column.null_count for column in table.columns) == 0
    assert (np.diff(times(table)) >= 0).all()
    assert (np.diff(numbers) > 0).all()


def test_constant_arrivals_come_at_exact_times() -> None:
    table, _ = made(source(rate=3.0, rows=1000), columns=["ts"])
    assert times(table).tolist() == [i * SECOND // 3 for i in range(1000)]


def test_a_duration_ends_the_stream_exactly() -> None:
    table, _ = made(source(rate=7.0, duration=10 * SECOND + 1), columns=["ts"])
    assert table.num_rows == 71
    poisson = source(rate=5000.0, arrivals="poisson", duration=1_234_567)
    assert times(made(poisson)[0]).max() < 1_234_567
    longer = source(rate=5000.0, arrivals="poisson", duration=2 * SECOND)
    prefix = times(made(longer)[0])
    assert times(made(poisson)[0]).tolist() == prefix[prefix < 1_234_567].tolist()


def test_the_earlier_of_rows_and_duration_ends_the_stream() -> None:
    assert made(source(rate=100.0, rows=50, duration=SECOND))[0].num_rows == 50
    assert made(source(rate=100.0, rows=500, duration=SECOND))[0].num_rows == 100


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([0.02, 3.7, 1234.5, 30_000.0]),
    st.sampled_from(["constant", "poisson"]),
    st.lists(st.integers(0, 12), max_size=4),
)
def test_any_split_of_the_blocks_gives_the_same_tuples(
    rate: float, arrivals: str, cuts: list[int]
) -> None:
    stream = source(rate=rate, arrivals=arrivals, values="k: sequence(), v: normal(0, 1)")
    names = ["ts", "k", "v", "word"]
    whole, numbers = made(stream, 12, names)
    edges = [0, *sorted(cuts), 12]
    parts = [
        part
        for first, last in pairwise(edges)
        for part in Synthetic.of(stream).generate(first, last, names)
    ]
    assert pa.Table.from_batches([batch for batch, _ in parts]).equals(whole)
    assert np.array_equal(np.concatenate([n for _, n in parts]), numbers)
    assert np.array_equal(whole["k"].to_numpy(), np.arange(len(whole)))


def test_a_column_is_the_same_whatever_else_is_asked_for() -> None:
    alone, _ = made(source(rows=3000), columns=["v"])
    together, _ = made(source(rows=3000))
    assert alone.column_names == ["v"]
    assert alone["v"].equals(together["v"])


def test_seed_and_name_tell_streams_apart() -> None:
    def values(**options: Any) -> list[Any]:
        values: list[Any] = made(source(rows=100, **options), columns=["k"])[0]["k"].to_pylist()
        return values

    assert values(seed=1) == values(seed=1)
    assert values(seed=1) != values(seed=2)
    assert values(name="a") != values(name="b")


def test_arrival_numbers_are_block_and_index() -> None:
    stream = source(rate=20_000.0, duration=300_000)
    generator = Synthetic.of(stream)
    assert (generator.block_micros, generator.blocks) == (100_000, 3)
    _, numbers = made(stream)
    assert numbers.tolist() == [(b << 24) + i for b in range(3) for i in range(2000)]


def test_blocks_hold_about_a_thousand_tuples_within_bounds() -> None:
    lengths = {rate: Synthetic.of(source(rate=rate)).block_micros for rate in (1e6, 1000.0, 1.0)}
    assert lengths == {1e6: 100_000, 1000.0: SECOND, 1.0: SECOND}


def test_an_endless_stream_has_blocks_as_time_passes() -> None:
    endless = Synthetic.of(source(rate=1000.0))
    assert endless.blocks is None
    assert [endless.blocks_by(t) for t in (0.0, 0.99, 1.0, 3600.5)] == [0, 0, 1, 3600]
    assert Synthetic.of(source(rate=1000.0, rows=1500)).blocks_by(100.0) == 2


def test_a_bigint_time_is_in_its_unit_and_start_is_kept() -> None:
    fields = (Field("ts", T.BIGINT), Field("k", T.INT))
    stream = source(100.0, fields, unit="ms", start="2024-05-06 07:08:09+02:00", rows=3)
    table, _ = made(stream)
    begin = int(datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC).timestamp() * 1000)
    assert table["ts"].to_pylist() == [begin, begin + 10, begin + 20]
    micros = event_micros(stream, table.to_batches()[0])
    assert micros.tolist() == [(begin + 10 * i) * 1000 for i in range(3)]


def within(sample: np.ndarray[Any, Any], mean: float, variance: float) -> bool:
    return bool(abs(sample.mean() - mean) <= 5 * math.sqrt(variance / len(sample)))


ROWS = 40_000


def drawn(values: str, column: str) -> np.ndarray[Any, Any]:
    table, _ = made(source(rate=50_000.0, rows=ROWS, values=values), columns=[column])
    found: np.ndarray = table[column].to_numpy()
    return found


def test_uniform() -> None:
    whole, real = drawn("k: uniform(-5, 5)", "k"), drawn("v: uniform(-5, 5)", "v")
    assert set(whole.tolist()) == set(range(-5, 5))
    assert within(whole, -0.5, 99 / 12)
    assert within(real, 0.0, 100 / 12)
    assert real.min() >= -5
    assert real.max() < 5


def test_zipf() -> None:
    sample = drawn("k zipf(1.2, 50)", "k")
    weights = np.arange(1, 51) ** -1.2
    chances = weights / weights.sum()
    for value in (0, 1, 10, 49):
        hits = (sample == value).astype(float)
        assert within(hits, chances[value], chances[value] * (1 - chances[value]))
    assert sample.max() <= 49


def test_poisson_and_normal() -> None:
    assert within(drawn("k = poisson(3.5)", "k").astype(float), 3.5, 3.5)
    sample = drawn("v: normal(10, 2)", "v")
    assert within(sample, 10, 4)
    assert within((sample - 10) ** 2, 4, 32)


def test_constants_choices_and_text() -> None:
    values = "k: constant(7); word: choice('a', 'b, c', 'it\\'s'), v: constant(2.5)"
    table, _ = made(source(rows=300, values=values), columns=["k", "word", "v"])
    assert set(table["k"].to_pylist()) == {7}
    assert set(table["word"].to_pylist()) == {"a", "b, c", "it's"}
    assert set(table["v"].to_pylist()) == {2.5}
    words = made(source(rows=300, values="word: zipf(1, 3)"), columns=["word"])[0]["word"]
    assert set(words.to_pylist()) == {"k0", "k1", "k2"}


def test_poisson_arrivals_have_poisson_counts_and_exponential_gaps() -> None:
    stream = source(rate=2000.0, arrivals="poisson", duration=60 * SECOND)
    moments = times(made(stream, columns=["ts"])[0])
    counts = np.bincount(moments // 100_000, minlength=600)
    assert within(counts, 200, 200)
    # The variance of a Poisson count is its mean; that estimate has about 2·200²/n of variance.
    assert within((counts - 200.0) ** 2, 200, 2 * 200**2 + 200)
    gaps = np.diff(moments)
    assert within(gaps, 500, 500**2)
    assert within((gaps > 500).astype(float), math.exp(-1), 0.25)


def test_rows_end_a_poisson_stream_exactly_also_beyond_one_group_of_blocks() -> None:
    stream = source(rate=0.5, arrivals="poisson", rows=6000, values="k: sequence()")
    generator = Synthetic.of(stream)
    assert generator.blocks is not None
    assert generator.blocks > 4096
    table, _ = made(stream, columns=["ts", "k"])
    assert table["k"].to_pylist() == list(range(6000))
    (last, _), *_ = generator.generate(generator.blocks - 1, generator.blocks + 5, ["k"])
    assert last["k"].to_pylist()[-1] == 5999


@pytest.mark.parametrize(
    ("rate", "options", "message", "hint"),
    [
        (None, {}, "needs a rate from", "add rate = 1000"),
        (0.0, {}, "needs a rate from", "add rate = 1000"),
        (1e12, {}, "needs a rate from", "add rate = 1000"),
        (1.0, {"arrivals": "bursts"}, "cannot have bursts arrivals", "'constant' or 'poisson'"),
        (1.0, {"start": "soon"}, "cannot start at 'soon'", "start = '2026"),
        (1.0, {"values": "q: uniform(0, 1)"}, "there is no column q", "column: distribution"),
        (1.0, {"values": "ts: uniform(0, 1)"}, "ts is the event time", "column: distribution"),
        (1.0, {"values": "k: gamma(1)"}, "there is no distribution gamma", "uniform(a, b)"),
        (1.0, {"values": "k: uniform(5, 5)"}, "must be uniform(a, b) with a < b", "uniform"),
        (1.0, {"values": "k: uniform(0, 0.5)"}, "needs whole bounds", "uniform"),
        (1.0, {"values": "k: uniform(x, 1)"}, "x is neither a number nor 'text'", "uniform"),
        (1.0, {"values": "k: zipf(1, 0)"}, "k must be zipf(s, n)", "uniform"),
        (1.0, {"values": "k: poisson('a')"}, "k must be poisson(mean)", "uniform"),
        (1.0, {"values": "k: sequence(1)"}, "k must be sequence()", "uniform"),
        (1.0, {"values": "k: choice('a')"}, "'a' is not a value for k, which is BIGINT", "uniform"),
        (1.0, {"values": "small: constant(1000)"}, "do not fit small", "uniform"),
        (1.0, {"values": "k: constant(1, 2)"}, "must be constant(v)", "uniform"),
        (1.0, {"values": "k uniform"}, "cannot read 'k uniform'", "uniform"),
        (1.0, {"values": "k: sequence(), k: sequence()"}, "column k is given twice", "uniform"),
    ],
)
def test_mistakes_are_named_with_a_hint(
    rate: float | None, options: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(SourceError) as caught:
        Synthetic.of(source(rate=rate, **options))
    assert caught.value.message.startswith("stream s ")
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_mistake_in_the_values_has_their_place() -> None:
    text = "CREATE STREAM s (k INT) WITH (values = 'q: sequence()')"
    place = Caret(text, text.index("'q"), len(text) - 1)
    with pytest.raises(SourceError) as caught:
        Synthetic.of(source(values="q: sequence()", places={"values": place}))
    assert caught.value.place == place
