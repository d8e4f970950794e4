"""Eddies: the profiles they learn, and the filters they put first."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.engine.routes.eddies import eddy_filters
from penstock.engine.routes.eddies.eddy_filters import REFRESH, EddyFilters
from penstock.engine.routes.eddies.eddy_profile import Buckets, EddyProfile, gain_ratios
from penstock.engine.wire.facts import decode, encode
from penstock.plan.mesh import (
    Eddy,
)
from support.engines.runs import (
    Place,
    planned,
    run_local,
)
from support.plans.screened import (
    ONE,
    TWO,
    Calls,
    screened_query,
    write_kinds,
)
from support.streams.cases import canonical
from support.streams.views import told


@pytest.mark.parametrize("batch", [1, 7, 100])
@pytest.mark.parametrize("select", [ONE, TWO], ids=["filters", "join"])
def test_eddies_give_the_same_rows(batch: int, select: str, tmp_path: Path) -> None:
    write_kinds(tmp_path / "in", 2, 700)
    query = screened_query(tmp_path / "in", select, Calls())
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "eddy")
    run_local(query, plain)
    run_local(query, place, plan=Eddy(query, batch), partitions=2)
    assert canonical(place.results(query)) == canonical(plain.results(query))


def test_eddies_of_rows_windows_count_what_does_not_pass(tmp_path: Path) -> None:
    write_kinds(tmp_path / "in", 2, 200)
    select = ONE.replace("[NOW]", "[ROWS 5]").replace("a.id AS id", "COUNT(*) AS n")
    query = screened_query(tmp_path / "in", f"{select} EVERY 2 SECONDS", Calls())
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "eddy")
    run_local(query, plain)
    run_local(query, place, plan=Eddy(query))
    assert told(place, query) == told(plain, query)
    assert told(place, query).total() > 3


def as_long_as(calls: Calls) -> Callable[[], float]:
    """A clock by which every call of a filter takes a microsecond, on any machine."""
    return lambda: 1e-6 * calls.count.total()


def test_an_eddy_learns_which_filter_stops_which_tuples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_kinds(tmp_path / "in", 2, 3_000)
    counts = {}
    for batch in (0, 1, 100):
        calls = Calls()
        monkeypatch.setattr(eddy_filters, "clock", as_long_as(calls))
        query = screened_query(tmp_path / "in", ONE, calls)
        plan = Eddy(query, batch) if batch else planned(query)
        run_local(query, Place(tmp_path / str(batch)), plan=plan)
        counts[batch] = calls.count.total()
    assert counts[1] < 0.75 * counts[0]
    # A hundred tuples of all kinds are no better off than in any order.
    assert counts[100] < 1.1 * counts[0]


def test_an_eddy_goes_on_with_what_it_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Spark every batch has new tasks: what they have seen comes back to them as facts."""
    write_kinds(tmp_path / "in", 1, REFRESH)
    kinds = [("kind", pa.large_string()), ("x", pa.float64())]
    table = pq.read_table(tmp_path / "in" / "a").select(["kind", "x"]).cast(pa.schema(kinds))
    rows = table.combine_chunks().to_batches()[0]
    calls = Calls()
    monkeypatch.setattr(eddy_filters, "clock", as_long_as(calls))
    query = screened_query(tmp_path / "in", ONE, calls)
    eddy = EddyFilters("a", query.filters, ("kind", "x"), 1)
    screened = eddy.at(0).screen(rows.slice(0, 1_000))
    assert len(eddy.profile) == 0
    eddy.learn(decode(encode(*screened.facts)))
    assert len(eddy.profile) > 500
    assert {table.buckets.attribute for table in eddy.profile.tables()} <= {"kind", "x"}
    cold = calls.count.total()
    calls.count.clear()
    eddy.at(1).screen(rows.slice(1_000, 1_000))
    assert calls.count.total() < 0.9 * cold


def test_the_gain_ratio_finds_the_attribute_that_tells() -> None:
    tells = np.array([[50.0, 0.0, 0.0], [0.0, 50.0, 0.0]])
    is_idle = np.array([[25.0, 25.0, 0.0], [25.0, 25.0, 0.0]])
    is_constant = np.array([[50.0], [50.0]])
    many = np.array([[1.0] * 50 + [0.0] * 50, [0.0] * 50 + [1.0] * 50])
    ratios = gain_ratios([is_idle, tells, is_constant, many])
    assert ratios.argmax() == 1
    assert ratios[1] == pytest.approx(1.0)
    assert ratios[3] == pytest.approx(1.0 / np.log2(100))


def test_buckets_hold_as_many_each_and_know_what_they_do_not_know() -> None:
    column = pa.array([None, math.nan, *np.arange(120.0)])
    buckets = Buckets.of("x", column)
    places = buckets.places(pa.RecordBatch.from_pydict({"x": column}))
    assert places[:2].tolist() == [buckets.size - 1] * 2
    assert set(np.bincount(places[2:]).tolist()) == {10}
    texts = Buckets.of("s", pa.array(["a", "b", None, "b"]))
    seen = pa.RecordBatch.from_pydict({"s": pa.array(["b", "c", None, "a"])})
    assert texts.places(seen).tolist() == [0, 2, 2, 1]


def test_nothing_is_known_of_an_empty_profile() -> None:
    assert EddyProfile.empty([1e-6, 1e-6]).tables() == ()
