"""Sums in views: exact, and told where they cannot be."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.errors import EvaluationError
from penstock.plan.drops import DropBoxes
from penstock.query import Query
from support.engines.long_views import one_stream, table_of
from support.engines.runs import (
    Place,
    run_local,
    shown,
)
from support.streams.views import told


def test_sums_of_floats_do_not_drift(tmp_path: Path) -> None:
    """Ten million tuples come and go through a short window, of very different sizes."""
    rng = np.random.default_rng(5)
    ticks, each = 20, 500_000
    batches = [
        table_of(
            np.full(each, tick),
            np.zeros(each, np.int64),
            rng.random(each) * 10.0 ** rng.integers(-8, 12, each),
        )
        for tick in range(ticks)
    ]
    select = "SELECT SUM(x) AS s, COUNT(*) AS n FROM a [RANGE 1 SECOND] EVERY 1 SECOND"
    query = one_stream(tmp_path, batches, select)
    place = Place(tmp_path)
    run_local(query, place)
    found = {time: total for time, _, total, count in told(place, query) if count}
    for tick in range(1, ticks):
        values = [
            x for batch in batches[tick - 1 : tick + 1] for x in batch.column("x").to_pylist()
        ]
        assert found[datetime.fromtimestamp(tick, UTC)] == pytest.approx(
            math.fsum(values), rel=1e-15
        )


def test_a_sum_returns_exactly_to_what_it_was(tmp_path: Path) -> None:
    """A huge value, an infinity and a NaN leave nothing behind."""
    batches = [
        table_of([0, 1, 2, 3], [0] * 4, [0.1, 1e300, math.inf, math.nan]),
        table_of([20, 21], [0] * 2, [0.1, 0.2]),
    ]
    query = one_stream(tmp_path, batches, "SELECT SUM(x) AS s FROM a [RANGE 5 SECONDS]")
    place = Place(tmp_path)
    run_local(query, place)
    sums = sorted((time.timestamp(), total) for time, _, total in told(place, query))
    assert sums[0] == (0.0, 0.1)
    assert sums[-4:] == [(20.0, 0.1), (21.0, 0.1 + 0.2), (25.000001, 0.2), (26.000001, None)]


def test_sums_of_integers_are_exact_and_overflow_is_an_error(tmp_path: Path) -> None:
    big = (1 << 63) - 1
    exact = one_stream(
        tmp_path / "exact",
        [table_of([1, 2, 3, 4], [big, big, -big, -big + 1], [0.0] * 4)],
        "SELECT SUM(v) AS s FROM a [UNBOUNDED] EVERY 10 SECONDS",
    )
    place = Place(tmp_path / "exact")
    run_local(exact, place)
    assert [row[2:] for row in told(place, exact)] == [(1,)]
    over = one_stream(
        tmp_path / "over",
        [table_of([0, 1], [big, 1], [0.0] * 2)],
        "SELECT SUM(v) AS s FROM a [UNBOUNDED]",
    )
    with pytest.raises(EvaluationError, match="which BIGINT does not hold"):
        run_local(over, Place(tmp_path / "over"))


def test_variances_of_large_numbers_that_differ_by_little_have_all_their_digits(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(7)
    numbers = 1e9 + rng.random(2_000) * 1e-3
    query = one_stream(
        tmp_path,
        [table_of([n + 1] * 500, [0] * 500, numbers[500 * n : 500 * (n + 1)]) for n in range(4)],
        "SELECT VARIANCE(x) AS v, STDDEV_POP(x) AS d FROM a [UNBOUNDED] EVERY 10 SECONDS",
    )
    place = Place(tmp_path)
    run_local(query, place)
    exact = [Fraction(float(x)) for x in numbers]
    mean = sum(exact) / len(exact)
    squares = sum((x - mean) ** 2 for x in exact)
    ((_, _, variance, deviation),) = told(place, query)
    assert variance == float(squares / (len(exact) - 1))
    assert deviation == math.sqrt(float(squares / len(exact)))


def decimals(numbers: list[Decimal | None], folder: Path, select: str) -> Query:
    """A query over a stream of DECIMALs, one a second."""
    (folder / "in").mkdir(parents=True)
    values = pa.array(numbers, pa.decimal128(38, 2))
    table = pa.table({"ts": range(len(numbers)), "d": values})
    pq.write_table(table, folder / "in" / "1.parquet")
    options = f"format='parquet', path='{folder / 'in'}', timestamp='ts', unit='s'"
    return parse(f"CREATE STREAM a (ts BIGINT, d DECIMAL(38, 2)) WITH ({options}); {select}")


MOST = Decimal("9" * 36 + ".99")
TOTAL = "SELECT {of} AS s FROM a [UNBOUNDED] EVERY 10 SECONDS"


def test_sums_of_decimals_are_exact_whatever_comes_between(tmp_path: Path) -> None:
    numbers = [MOST, MOST, None, MOST.copy_negate(), Decimal("-0.01")]
    query = decimals(numbers, tmp_path, TOTAL.format(of="SUM(d)"))
    run_local(query, Place(tmp_path))
    *_, (_, _, total) = told(Place(tmp_path), query)
    assert total == Decimal("9" * 36 + ".98")


@pytest.mark.parametrize("of", ["SUM(d)", "AVG(d)"])
def test_a_sum_or_mean_of_decimals_that_does_not_fit_is_an_error(of: str, tmp_path: Path) -> None:
    query = decimals([MOST, MOST], tmp_path, TOTAL.format(of=of))
    name, digits = of[:3], "38, 2" if of == "SUM(d)" else "38, 6"
    with pytest.raises(EvaluationError) as caught:
        run_local(query, Place(tmp_path))
    assert f"{name} does not fit DECIMAL({digits})" in str(caught.value)
    assert f"{name}(CAST(… AS DOUBLE))" in str(caught.value)


def test_sums_of_decimals_are_estimated_where_tuples_are_shed(tmp_path: Path) -> None:
    numbers: list[Decimal | None] = [Decimal(n % 7) / 4 for n in range(2_000)]
    select = "SELECT COUNT(*) AS n, SUM(d) AS s, AVG(d) AS m FROM a [UNBOUNDED] EVERY 1 HOUR"
    query = decimals(numbers, tmp_path, select)
    *_, row = shown(query, tmp_path, DropBoxes((("a", 0.5),), 1))
    exact = sum(float(number or 0) for number in numbers)
    assert row["s_low"] < exact < row["s_high"]
    assert float(row["s"]) == pytest.approx(exact, rel=0.1)
    assert row["s"].as_tuple().exponent == -2
    assert row["m"].as_tuple().exponent == -6
