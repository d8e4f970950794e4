"""The benchmark of Nexmark: the same events for all rivals, the same rows from all of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from penstock.bench.joins.flink import find_flink
from penstock.bench.nexmark.data import Events, ensure_events
from penstock.bench.nexmark.figures import document
from penstock.bench.nexmark.flink import run_flink
from penstock.bench.nexmark.process_tree import Usage
from penstock.bench.nexmark.queries import QUERIES
from penstock.bench.nexmark.rival import Data, Finish, Task
from penstock.bench.nexmark.rows import Fingerprint, fingerprint, told_by
from penstock.bench.nexmark.run import QUICK, Outcome, Run, Size, run_nexmark
from penstock.bench.nexmark.text import nexmark_text
from penstock.errors import PenstockError
from penstock.query.made.nexmark import STREAMS
from support.nexmark.nexmark_joins import EXAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TINY = Events(rate=100, seconds=40, step=20)
ROWS = Fingerprint(7, 123)


def ran(query: str, seconds: float, rows: Fingerprint = ROWS, **more: Any) -> Run:
    return Run(Finish(query, 0.0, seconds, seconds, rows, **more), Usage(2 * seconds, 100.0))


def outcome(flink_rows: Fingerprint = ROWS) -> Outcome:
    """Three runs of each on 600,000 events: ours take 1 s, over CSV 2 s."""
    told: dict[str, Any] = {"results": 9, "state_tuples": 50, "batch_s": 0.5}
    one = {"q3": [ran("q3", 1.0, **told)] * 3, "q20": [ran("q20", s, **told) for s in (1, 9, 1)]}
    return Outcome(
        replace(QUICK, queries=("q3", "q20"), formats=("hdfs-v2", "rocksdb-v4"), repeat=3),
        {
            "penstock": one,
            "penstock_csv": {query: [ran(query, 2.0, **told)] * 3 for query in one},
            "hdfs-v2": {"q3": [ran("q3", 10.0, **told)] * 3, "q20": [ran("q20", 4.0, **told)] * 3},
            "rocksdb-v4": {query: [ran(query, 5.0, **told)] * 3 for query in one},
            "flink": {"q3": [ran("q3", 8.0)] * 3, "q20": [ran("q20", 2.0, flink_rows)] * 3},
        },
    )


def test_ratios_compare_the_same_format_and_sparks_faster_state() -> None:
    made = document(outcome())
    assert made["state_formats"] == {"q3": "rocksdb-v4", "q20": "hdfs-v2"}
    assert made["ratios_vs_spark"] == {"q3": 5.0, "q20": 4.0}
    assert made["ratios_vs_flink"] == {"q3": 4.0, "q20": 1.0}
    assert made["geomean_vs_spark"] == pytest.approx(20**0.5, abs=1e-3)
    assert made["geomean_vs_flink"] == 2.0
    assert made["wrong"] == []
    q3 = made["queries"]["q3"]
    assert set(q3) == {"penstock", "penstock_csv", "spark", "flink"}
    ours = q3["penstock"]
    assert ours is not None
    assert (ours["events_per_s"], ours["cpu_s"], ours["peak_mib"]) == (600_000, 2.0, 100)


def test_other_rows_are_told() -> None:
    made = document(outcome(Fingerprint(7, 124)))
    assert made["wrong"] == ["q20: flink gives other rows than penstock"]
    assert "WRONG q20" in nexmark_text(made)


def test_rivals_that_are_not_there_leave_no_ratio() -> None:
    found = outcome()
    runs = {name: several for name, several in found.runs.items() if name != "flink"}
    made = document(replace(found, runs=runs, absent={"flink": "not here"}))
    assert made["geomean_vs_flink"] is None
    assert made["queries"]["q3"]["flink"] is None
    text = nexmark_text(made)
    assert "flink: not here" in text
    assert "penstock / spark: 4.47 × (q3 5.00, q20 4.00)" in text


def test_a_fingerprint_is_of_rows_in_any_order_however_times_are_held() -> None:
    aware = datetime(2026, 1, 1, 0, 0, 20, tzinfo=UTC)
    rows = [(1, "a", aware), (2, None, aware), (2, None, aware)]
    naive = [(n, text, at.replace(tzinfo=None)) for n, text, at in reversed(rows)]
    assert fingerprint(rows) == fingerprint(naive)
    assert fingerprint(rows) != fingerprint(rows[:2])
    assert fingerprint([(1, "ab")]) != fingerprint([(1, "ba")])
    assert told_by(rows, 20_000) == rows
    assert told_by(rows, 19_999) == []


def test_a_block_that_no_event_comes_after_is_not_compared() -> None:
    assert Events(rate=100, seconds=40, step=20).last_block_ms == 30_000
    assert Events(rate=100, seconds=45, step=15).last_block_ms == 40_000


def read_lines(path: Path, like: pa.Table, *, has_heading: bool) -> pa.Table:
    """A CSV file, with the columns and types of a table."""
    options = csv.ReadOptions() if has_heading else csv.ReadOptions(column_names=like.column_names)
    types = csv.ConvertOptions(column_types=like.schema)
    return csv.read_csv(path, options, convert_options=types)


def without_zones(rows: pa.Table) -> pa.Table:
    columns = [
        c.cast(pa.timestamp("us")) if pa.types.is_timestamp(c.type) else c for c in rows.columns
    ]
    return pa.table(columns, rows.column_names)


def test_all_files_hold_the_same_events(tmp_path: Path) -> None:
    folder = ensure_events(TINY, tmp_path)
    for kind, stream in STREAMS.items():
        files = sorted((folder / "parquet" / kind).iterdir())
        whole = without_zones(pa.concat_tables(pq.read_table(path) for path in files))
        assert len(whole) == stream.among(TINY.count)
        cut_alike = sorted((folder / "csv" / kind).iterdir())
        assert [path.stem for path in cut_alike] == [path.stem for path in files]
        texts = [read_lines(path, whole, has_heading=True) for path in cut_alike]
        assert pa.concat_tables(texts).equals(whole)
        halves = sorted((folder / "flink" / kind).iterdir())
        assert len(halves) == 2
        both = [read_lines(path, whole, has_heading=False).to_pylist() for path in halves]
        assert sorted(map(repr, both[0] + both[1])) == sorted(map(repr, whole.to_pylist()))


@pytest.mark.parametrize("name", QUERIES)
def test_the_benchmark_asks_what_the_example_asks(name: str) -> None:
    example = (EXAMPLES / f"{name}.cql").read_text()
    select = example[example.index("SELECT") :].rstrip().removesuffix(";")
    assert QUERIES[name].cql.split() == select.split()


def test_an_unknown_query_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PenstockError, match="no query q99"):
        run_nexmark(Size(queries=("q3", "q99")), tmp_path, lambda _: None)


@pytest.mark.spark
def test_rivals_on_spark_give_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    from penstock.bench.nexmark.native import run_spark
    from penstock.bench.nexmark.ours import run_ours

    data = Data(TINY, ensure_events(TINY, tmp_path))
    task = Task((QUERIES["q8"], QUERIES["q23"]), data, data)
    ours = run_ours("parquet", task, spark, str(tmp_path / "ours"))
    native = run_spark(task, spark, str(tmp_path / "native"))
    assert [each.rows for each in ours] == [each.rows for each in native]
    assert all(each.rows.count for each in ours)
    assert ours[1].results == native[1].results == ours[1].rows.count
    texts = run_ours("csv", replace(task, queries=(QUERIES["q8"],)), spark, str(tmp_path / "csv"))
    assert texts[0].rows == ours[0].rows


@pytest.mark.spark
@pytest.mark.slow
def test_flink_gives_the_rows_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    from penstock.bench.nexmark.native import run_spark

    python = find_flink()
    if python is None:
        pytest.skip("there is no Flink; make flink")
    data = Data(TINY, ensure_events(TINY, tmp_path))
    task = Task(tuple(QUERIES.values()), data, data)
    flink, native = run_flink(python, task), run_spark(task, spark, str(tmp_path / "native"))
    assert [each.rows for each in flink] == [each.rows for each in native]
