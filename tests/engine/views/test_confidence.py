"""Confidence intervals: given where the kept tuples tell enough, and as wide as they must be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.engine.rows.accumulators import as_lists, as_rows
from penstock.engine.rows.sample_weights import as_now_kept
from penstock.engine.views.confidence import Contributions, mean_ends, sum_ends
from penstock.engine.views.estimates import rounded
from penstock.kernels.drop import lots
from penstock.kernels.replicates import (
    EVEN,
    ODD,
    RESULTS_WIDTH,
    TUPLES_WIDTH,
    totals,
    weighed_results,
)
from penstock.plan.drops import DropBoxes
from penstock.query import Query
from support.engines.runs import shown

# ── where nothing can be told ─────────────────────────────────────────────────────────────────────

STREAM = """
CREATE STREAM {name} (ts BIGINT, k INT, x DOUBLE)
  WITH (format='parquet', path='{folder}/{name}', timestamp='ts', unit='s');
"""
SELECT = """
SELECT COUNT(*) AS n, SUM(a.x) AS s, AVG(a.x) AS m, SUM(a.x * b.x) AS p
FROM a [TUMBLE 10 SECONDS], b [TUMBLE 10 SECONDS] WHERE a.k = b.k
"""


def view(folder: Path, values: np.ndarray) -> Query:
    """A join of two streams, of which the first has these values and the other ones."""
    rng = np.random.default_rng(7)
    for name, own in (("a", values), ("b", np.ones(len(values)))):
        (folder / name).mkdir(parents=True)
        keys = pa.array(rng.integers(0, 10, len(own)), pa.int32())
        table = pa.table({"ts": pa.array(np.zeros(len(own), np.int64)), "k": keys, "x": own})
        pq.write_table(table, folder / name / "0.parquet")
    return parse("".join(STREAM.format(name=name, folder=folder) for name in "ab") + SELECT)


@pytest.mark.parametrize("early", [(), ("a", "b")], ids=["late", "early"])
def test_values_that_are_all_zero_tell_nothing_of_others(
    early: tuple[str, ...], tmp_path: Path
) -> None:
    query = view(tmp_path, np.zeros(400))
    (row,) = shown(query, tmp_path, DropBoxes((("a", 0.3), ("b", 0.5)), 1), early=early)
    assert row["n_low"] < row["n"] < row["n_high"]
    assert (row["s"], row["m"], row["p"]) == (0, 0, 0)
    assert {row[f"{name}_{end}"] for name in "smp" for end in ("low", "high")} == {None}


def test_values_that_are_all_alike_tell_no_interval_of_their_mean(tmp_path: Path) -> None:
    query = view(tmp_path, np.full(400, 0.1))
    (row,) = shown(query, tmp_path, DropBoxes((("a", 0.3), ("b", 0.5)), 1))
    assert row["m"] == pytest.approx(0.1)
    assert (row["m_low"], row["m_high"]) == (None, None)
    assert row["s_low"] < row["s"] < row["s_high"]


@pytest.mark.parametrize("sign", [1, -1])
def test_values_of_one_sign_have_the_sum_of_the_kept_as_a_bound(sign: int, tmp_path: Path) -> None:
    values = np.zeros(400)
    values[::40] = sign * np.arange(1, 11)
    query, drops = view(tmp_path, values), DropBoxes((("a", 0.6), ("b", 0.15)), 2)
    (row,) = shown(query, tmp_path / "estimated", drops)
    (kept,) = shown(query, tmp_path / "kept", replace(drops, estimates=False))
    for name in "sp":
        near, far = (f"{name}_low", f"{name}_high")[::sign]
        assert sign * row[near] >= sign * kept[name] * (1 - 1e-5) > 0
        assert sign * row[far] > sign * row[name]
    assert min(sign * row[end] for end in ("m_low", "m_high")) >= 0
    assert row["n_low"] >= kept["n"]


def test_what_was_not_shed_is_certain(tmp_path: Path) -> None:
    """An input that is sampled, of which every tuple is there."""
    values = np.zeros(50)
    query = view(tmp_path, values)
    (row,) = shown(query, tmp_path, DropBoxes((("a", 1 - 1e-9), ("b", 1.0)), 1))
    assert row["n_low"] <= row["n"] <= row["n_high"]
    certain = np.zeros((1, RESULTS_WIDTH))
    certain[0, 0] = 5.0
    with np.errstate(all="ignore"):
        ends = [*sum_ends(certain, np.full(1, 5.0), np.full(1, 9.0))]
        ends += mean_ends(certain, certain, np.full(1, 9.0))
    assert [end.tolist() for end in ends] == [[5.0], [5.0], [1.0], [1.0]]


# ── what tells enough ─────────────────────────────────────────────────────────────────────────────


def sums(values: np.ndarray, weight: float, seed: int = 0) -> np.ndarray:
    """The sums over single tuples with these values."""
    size = len(values)
    others = np.full(size, weight - 1.0)
    about = values[np.newaxis], np.ones(size), others, others[np.newaxis], -1
    tickets = lots(seed, "a", np.arange(size))[np.newaxis]
    ids, weights = np.zeros(size, np.int64), np.full((1, size), weight)
    found: np.ndarray = weighed_results(ids, 1, *about, weights, tickets, ())[0]
    return found


def test_the_interval_of_a_few_is_that_of_poisson_made_wider() -> None:
    """With 1,000 tuples for each kept one, nine of them are Poisson's 9: from 4.1 to 17.1."""
    rows = sums(np.ones(9), 1000.0, seed=4)
    low, high = (end[0] / 1000 for end in sum_ends(rows, np.array([9.0]), np.array([9.0])))
    assert 2.5 < low < 4.2
    assert 17 < high < 24


@pytest.mark.parametrize(("number", "is_given"), [(1, False), (2, False), (5, True), (40, True)])
def test_only_contributions_count(number: int, is_given: bool) -> None:
    values = np.zeros(1000)
    values[:number] = 3.0
    rows = sums(values, 10.0)
    low, _ = sum_ends(rows, np.array([3.0 * number]), np.array([266.0]))
    assert np.isfinite(low[0]) == is_given


def test_values_over_orders_of_magnitude_need_many_tuples() -> None:
    for size, is_given in ((40, False), (400, True)):
        values = np.random.default_rng(0).lognormal(0, 2, size)
        rows = sums(values, 4.0)
        assert Contributions(rows).spread[0] > 1.25
        low, high = sum_ends(rows, np.array([values.sum()]), np.array([float(min(size, 266))]))
        assert np.isfinite(low[0]) == is_given
        if is_given:
            # The largest may all have been shed, but none can be taken away.
            estimate = totals(rows)[0]
            assert high[0] - estimate > 1.5 * (estimate - low[0])


# ── checkpoints from before ───────────────────────────────────────────────────────────────────────


def test_sums_of_an_earlier_checkpoint_are_read_as_they_are_now() -> None:
    rng = np.random.default_rng(1)
    old = {"=r:s:x": rng.normal(size=(3, 2 + 64)), "=r:n:a": rng.normal(size=(3, 2 + 32))}
    now = as_now_kept(pa.RecordBatch.from_pydict({n: as_lists(r) for n, r in old.items()}))
    of_results, of_tuples = (as_rows(now.column(name)) for name in old)
    assert (of_results.shape[1], of_tuples.shape[1]) == (RESULTS_WIDTH, TUPLES_WIDTH)
    np.testing.assert_array_equal(totals(of_results), totals(old["=r:s:x"]))
    varied = old["=r:s:x"]
    np.testing.assert_allclose(
        Contributions(of_results).first.sum(axis=1), varied[:, 2:34].var(axis=1, ddof=1)
    )
    np.testing.assert_array_equal(of_results[:, EVEN:ODD], varied[:, 34:50])
    assert as_now_kept(now).equals(now)


def test_rounded_ends_enclose_what_they_did_before() -> None:
    """Narrow intervals of large values keep their width; certain ones stay certain."""
    low = np.array([1234547.527, 0.0, -3.0000049, 7.0, 1234549.406, 0.0, 5e15])
    high = np.array([1234551.1, 2e-9, 12.5, 7.0 + 1e-9, 1234549.406, 0.0, 5e15 + 64])
    new_low, new_high = rounded((low, high))
    slack = 1e-6 * (high - low) + 1e-15
    assert (new_low <= low + slack).all()
    assert (new_high >= high - slack).all()
    assert (new_high - new_low <= 1.01 * (high - low)).all()
    assert ((new_high > new_low) == (high > low)).all()
