"""Samples of large sources: tuples from all of the data, the same ones every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.query import Query
from penstock.query.keys import key_classes
from penstock.sampling.analyze import analyze
from penstock.sampling.sample import Sample, take_samples
from penstock.sampling.strips import REACH, STRIPS, starts, strips_of
from penstock.stats.statistics import group_text

ROWS = 40_000
"""Of each stream, in forty seconds: in the second half its tuples are others."""


def write(folder: Path, name: str, format: str, files: int, rows: int = ROWS) -> None:
    """A stream whose column x is below 0.5 in its first half alone, with keys that drift."""
    (folder / name).mkdir(parents=True)
    at = np.arange(rows)
    columns = {
        "ts": at * 1_000,
        "k": at // 4,
        "x": np.where(at < rows // 2, 0.25, 0.75),
        "kind": pa.array(np.where(at < rows // 2, "old", "new")),
    }
    table = pa.table(columns)
    for number in range(files):
        part = table.slice(number * rows // files, rows // files)
        path = folder / name / f"{number:04}.{format}"
        if format == "parquet":
            pq.write_table(part, path)
        else:
            pyarrow.csv.write_csv(part, path)


def query_of(folder: Path, format: str, where: str = "") -> Query:
    streams = "".join(
        f"CREATE STREAM {name} (ts BIGINT, k BIGINT, x DOUBLE, kind STRING) WITH "
        f"(format='{format}', path='{folder}/{name}', timestamp='ts', unit='us');\n"
        for name in "ab"
    )
    select = "SELECT a.k AS k FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.k = b.k"
    return parse(f"{streams}{select}{where}")


def sampled(query: Query, rows: int) -> dict[str, Sample]:
    return take_samples(query, rows, lambda name, count: None)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("files", [1, 5, 400])
def test_samples_are_from_all_of_the_data(format: str, files: int, tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path, name, format, files)
    query = query_of(tmp_path, format, " AND a.x < 0.5")
    samples = sampled(query, 8_000)
    times = samples["a"].rows.column("ts").to_numpy()
    eighths = np.bincount(times // (ROWS * 1_000 // STRIPS), minlength=STRIPS)
    assert len(times) <= 8_000
    # The last strip may be cut off by the end.
    assert eighths[:-1].min() > 500
    assert eighths[-1] > 200
    assert (np.diff(times) > 0).all()
    again = sampled(query, 8_000)
    assert all(again[name].rows == samples[name].rows for name in "ab")


@pytest.mark.parametrize("files", [1, 400])
def test_figures_are_those_of_all_of_the_data(files: int, tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path, name, "parquet", files)
    query = query_of(tmp_path, "parquet", " AND a.x < 0.5 AND a.kind <> 'none'")
    known = analyze(query, rows=8_000)
    rate = known.streams["a"].rate
    assert rate is not None
    assert rate.value == pytest.approx(1_000, rel=0.01)
    selectivity = known.conditions["a.x < 0.5"].selectivity
    assert selectivity is not None
    # The first 8,000 tuples would say that all pass.
    assert selectivity.value == pytest.approx(0.5, abs=0.05)
    assert "a: 8 stretches of the data, spread over all of it." in known.notes
    training = known.training["a"]
    place = training.operators.index("a.x < 0.5")
    passing = np.average([y[place] for y in training.yields], weights=training.weights)
    assert passing == pytest.approx(0.5, abs=0.05)


def test_keys_that_drift_are_compared_within_a_strip(tmp_path: Path) -> None:
    """A key has four tuples, and a strip a thousand: each tuple matches four of them."""
    for name in "ab":
        write(tmp_path, name, "parquet", 40)
    known = analyze(query_of(tmp_path, "parquet", " AND a.x > 0"), rows=8_000)
    classes = key_classes(known.query)
    found = {group_text(classes, g): f.value for g, f in known.groups.items()}
    assert found["a.k = b.k"] == pytest.approx(4 / 1_000, rel=0.05)
    # A window of a second has a thousand tuples of b.
    training = known.training["a"]
    place = training.operators.index("b")
    mean = np.average([y[place] for y in training.yields], weights=training.weights)
    assert mean == pytest.approx(4.0, rel=0.1)


def test_what_is_read_is_bounded(tmp_path: Path) -> None:
    """Of one file, however large, only so many rows are passed over."""
    write(tmp_path, "a", "csv", 1)
    source = query_of(tmp_path, "csv").sources["a"]
    for rows in (100, 1_000, 10_000):
        strips = strips_of(source, rows)
        assert len(strips) == STRIPS
        assert all(0 <= strip.skip <= REACH * rows for strip in strips)
        assert strips[0].skip == 0


@pytest.mark.parametrize("rows", [8, 1_000, 999_999])
def test_strips_do_not_overlap(rows: int) -> None:
    places = list(starts(rows, 1_000_000.0))
    assert places[0] == 0.0
    assert places == list(starts(rows, 1_000_000.0))
    gaps = np.diff(places)
    assert (gaps >= min(rows / STRIPS, 1_000_000 - places[-1]) - 1).all()


def test_a_small_source_is_read_whole(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path, name, "parquet", 3, rows=900)
    samples = sampled(query_of(tmp_path, "parquet"), 900)
    assert (len(samples["a"].rows), samples["a"].is_whole, len(samples["a"].spans)) == (
        900,
        True,
        1,
    )


def test_rows_of_a_table_are_from_all_of_it(tmp_path: Path) -> None:
    write(tmp_path, "a", "parquet", 1, rows=100)
    pq.write_table(pa.table({"id": np.arange(50_000)}), tmp_path / "t.parquet")
    query = parse(f"""
CREATE STREAM a (ts BIGINT, k BIGINT) WITH (format='parquet', path='{tmp_path}/a', timestamp='ts',
  unit='us');
CREATE TABLE t (id BIGINT) WITH (format='parquet', path='{tmp_path}/t.parquet');
SELECT a.k AS k FROM a [NOW], t WHERE a.k = t.id
""")
    table = sampled(query, 1_000)["t"]
    ids = table.rows.column("id").to_numpy()
    assert (table.count, table.is_whole) == (50_000, True)
    assert 400 < len(ids) <= 1_000
    assert ids.mean() == pytest.approx(25_000, rel=0.1)
    assert (np.diff(ids) > 0).all()


def test_a_long_synthetic_stream_is_sampled_to_its_end() -> None:
    query = parse("""
CREATE STREAM a (ts TIMESTAMP, k BIGINT) WITH (format='synthetic', rate=1000, rows=100000,
  timestamp='ts', values='k: sequence()');
SELECT a.k AS k FROM a [NOW] WHERE a.k > 0
""")
    ids = sampled(query, 4_000)["a"].rows.column("k").to_numpy()
    assert len(np.unique(ids // 12_500)) == STRIPS
    assert len(ids) <= 4_000
