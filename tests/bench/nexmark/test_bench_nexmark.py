"""The benchmark of Nexmark: the same events for all rivals, the same rows from all of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from penstock.bench.joins.flink import find_flink
from penstock.bench.nexmark import run
from penstock.bench.nexmark.data import Events, ensure_events
from penstock.bench.nexmark.figures import document
from penstock.bench.nexmark.flink import rows_of, run_flink
from penstock.bench.nexmark.process_tree import Usage
from penstock.bench.nexmark.queries import QUERIES
from penstock.bench.nexmark.query import NexmarkQuery
from penstock.bench.nexmark.rival import Data, Ended, Failure, Finish, Task, each_run
from penstock.bench.nexmark.rows import Fingerprint, compared, fingerprint, our_rows, told_by
from penstock.bench.nexmark.run import LITTLE, QUICK, Outcome, Run, Size, run_nexmark
from penstock.bench.nexmark.text import nexmark_text
from penstock.errors import PenstockError
from penstock.query.made.nexmark import STREAMS
from penstock.query.view import CHANGE, TIME
from support.nexmark.nexmark_joins import EXAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TINY = Events(rate=100, seconds=40, step=20)
SMALL = replace(LITTLE, step=10)
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
            "flink-heap": {"q3": [ran("q3", 8.0)] * 3, "q20": [ran("q20", 2.0, flink_rows)] * 3},
        },
    )


def test_ratios_compare_the_same_format_and_sparks_faster_state() -> None:
    made = document(outcome())
    assert made["state_formats"] == {"q3": "rocksdb-v4", "q20": "hdfs-v2"}
    assert made["backends"] == {"q3": "flink-heap", "q20": "flink-heap"}
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
    assert made["wrong"] == ["q20: flink-heap gives other rows than penstock"]
    assert "WRONG q20" in nexmark_text(made)


def test_rivals_that_are_not_there_leave_no_ratio() -> None:
    found = outcome()
    runs = {name: several for name, several in found.runs.items() if name != "flink-heap"}
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
    asked = example.index("CREATE VIEW") if "CREATE VIEW" in example else example.index("SELECT")
    assert QUERIES[name].cql.split() == example[asked:].split()


def test_an_unknown_query_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PenstockError, match="no query q99"):
        run_nexmark(Size(queries=("q3", "q99")), tmp_path, lambda _: None)


def test_a_query_that_fails_is_told_and_ends_no_other() -> None:
    def ask(query: NexmarkQuery) -> Finish:
        if query.name == "q4":
            raise ValueError("no\nmore of it")
        return Finish(query.name, 0.0, 1.0, 1.0, ROWS)

    found = list(each_run((QUERIES["q4"], QUERIES["q5"]), ask))
    assert found == [Failure("q4", "ValueError: no"), Finish("q5", 0.0, 1.0, 1.0, ROWS)]


def test_a_query_that_penstock_does_not_end_is_wrong() -> None:
    found = outcome()
    runs = {name: {"q3": several["q3"]} for name, several in found.runs.items()}
    made = document(replace(found, runs=runs))
    assert made["wrong"] == ["q20: penstock did not come to its end"]
    assert made["queries"]["q20"] == dict.fromkeys(("penstock", "penstock_csv", "spark", "flink"))


def test_changes_of_flink_leave_the_rows_that_are_not_taken_back() -> None:
    lines = ['["+", 10, 5.0]', '["+", 11, 1.0]', '["-", 10, 5.0]', '["+", 10, 7.5]']
    assert sorted(rows_of(QUERIES["q4"], lines)) == [(10, 7.5), (11, 1.0)]
    told = ['{"auction": 7, "n": 3, "told": "2026-01-01 00:00:02"}'] * 2
    assert rows_of(QUERIES["q5"], told) == [(7, 3, datetime(2026, 1, 1, 0, 0, 2))] * 2


def change(time: int, kind: str, auction: int, n: int) -> dict[str, Any]:
    at = datetime(2026, 1, 1, 0, 0, time)
    return {"auction": auction, "n": n, TIME: at, CHANGE: kind}


def test_a_view_is_compared_at_each_tick_also_where_nothing_changes(tmp_path: Path) -> None:
    changes = [
        change(2, "upsert", 1, 5),
        change(6, "delete", 1, 5),
        change(6, "upsert", 2, 4),
        change(8, "delete", 2, 4),
    ]
    pq.write_table(pa.Table.from_pylist(changes), tmp_path / "0.parquet")
    found = our_rows(QUERIES["q5"], tmp_path)
    assert [(auction, n, at.second) for auction, n, at in found] == [
        (1, 5, 2),
        (1, 5, 4),
        (2, 4, 6),
    ]
    assert compared(QUERIES["q5"], found, 4_000) == fingerprint(found[:2])


def test_of_formats_of_state_the_faster_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {"penstock": 1.0, "hdfs-v2": 4.0, "rocksdb-v4": 3.0}

    def contender(name: str, task: Task) -> list[Ended]:
        failed = [Failure("q3", "no")] if name == "penstock" and has_q3(task) else []
        rest = [query.name for query in task.queries if query.name == "q20" or not failed]
        return [*failed, *(Finish(each, 0.0, 0.0, seconds[name], ROWS) for each in rest)]

    def has_q3(task: Task) -> bool:
        return "q3" in [query.name for query in task.queries]

    rivals = {name: partial(contender, name) for name in seconds}
    monkeypatch.setattr(run, "contenders", lambda size, absent: rivals)
    lines: list[str] = []
    size = Size(TINY, repeat=3, queries=("q3", "q20"))
    found = run_nexmark(size, tmp_path, lines.append)
    assert {name: len(runs["q20"]) for name, runs in found.runs.items()} == {
        "penstock": 3,
        "hdfs-v2": 1,
        "rocksdb-v4": 3,
    }
    assert found.absent == {"penstock q3": "no"}
    assert "q3" not in found.runs["penstock"]
    assert "rocksdb-v4, run 2 of 3: q20 1,333 events/s in 3.0 s, 0.0 s of CPU" in lines


@pytest.mark.spark
def test_rivals_on_spark_give_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    from penstock.bench.nexmark.native import run_spark
    from penstock.bench.nexmark.ours import run_ours

    data = Data(SMALL, ensure_events(SMALL, tmp_path))
    names = ("q5", "q7", "q8", "q9", "q23")
    task = Task(tuple(QUERIES[name] for name in names), data, data)
    ours = finished(run_ours("parquet", task, spark, str(tmp_path / "ours")))
    native = finished(run_spark(task, spark, str(tmp_path / "native")))
    assert [each.rows for each in ours] == [each.rows for each in native]
    assert all(each.rows.count for each in ours)
    assert ours[-1].results == native[-1].results == ours[-1].rows.count
    texts = run_ours("csv", replace(task, queries=(QUERIES["q8"],)), spark, str(tmp_path / "csv"))
    assert finished(texts)[0].rows == ours[2].rows


@pytest.mark.spark
@pytest.mark.slow
def test_flink_gives_the_rows_of_penstock(spark: SparkSession, tmp_path: Path) -> None:
    from penstock.bench.nexmark.ours import run_ours

    python = find_flink()
    if python is None:
        pytest.skip("there is no Flink; make flink")
    data = Data(SMALL, ensure_events(SMALL, tmp_path))
    task = Task(tuple(each for each in QUERIES.values() if each.flink is not None), data, data)
    ours = finished(run_ours("parquet", task, spark, str(tmp_path / "ours")))
    flink = finished(run_flink(python, task))
    assert [each.rows for each in flink] == [each.rows for each in ours]


def finished(runs: list[Ended]) -> list[Finish]:
    """The runs, none of which may have failed."""
    assert [each for each in runs if isinstance(each, Failure)] == []
    return [each for each in runs if isinstance(each, Finish)]
