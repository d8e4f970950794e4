"""What a run of a script says, keeps and refuses."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse_script
from penstock.duration import Duration
from penstock.engine.local import open_run, open_script
from penstock.engine.places.place import Place
from penstock.engine.reports.entries import entry_json, read, written
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.script import joint_packing
from penstock.engine.script.script_pipeline import ScriptPipeline
from penstock.engine.script.script_start import check_script_start
from penstock.engine.sinks.sink import jsonl, noop, parquet
from penstock.engine.sources.read_slice import read_slice
from penstock.engine.state.manifest import latest
from penstock.engine.state.store import Store
from penstock.errors import CheckpointError, PenstockError, UsageError
from penstock.plan.default_plan import default_plan
from penstock.query.script import Script
from support.engines.script_runs import found, opened, plans_of, sinks_of

DECLARED = """
CREATE STREAM a (ts BIGINT, k BIGINT, v STRING)
  WITH (format = 'csv', path = '{folder}/a', timestamp = 'ts', unit = 's', max_files = 1{more});
CREATE STREAM b (ts BIGINT, k BIGINT)
  WITH (format = 'csv', path = '{folder}/b', timestamp = 'ts', unit = 's', max_files = 1);
"""
SEEN = "CREATE VIEW seen AS SELECT k, COUNT(*) AS n FROM a [RANGE 10 s] GROUP BY k EVERY 5 s;"
MET = "SELECT b.ts AS ts, b.k AS k, s.n AS n INTO met FROM b [NOW], seen AS s WHERE b.k = s.k;"
PAIRS = "SELECT a.v AS v, b.ts AS ts INTO pairs FROM a [NOW], b [RANGE 3 s] WHERE a.k = b.k;"


def written_script(folder: Path, *queries: str, more: str = "") -> Script:
    """A script over two streams of two files each."""
    if not (folder / "a").exists():
        for name, files in {
            "a": ["ts,k,v\n1,1,x\n2,2,y\n6,1,z\n", "ts,k,v\n12,1,x\n20,2,w\n"],
            "b": ["ts,k\n5,1\n7,1\n", "ts,k\n12,2\n18,1\n"],
        }.items():
            (folder / name).mkdir()
            for number, text in enumerate(files):
                (folder / name / f"{number}.csv").write_text(text)
    return parse_script(DECLARED.format(folder=folder, more=more) + "\n".join(queries))


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    files = sorted((folder / "results" / name).glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def test_a_stream_meets_a_view_as_it_is(tmp_path: Path) -> None:
    script = written_script(tmp_path, SEEN, MET)
    opened(script, tmp_path).available_now(drain=True)
    # At 5 the view shows one tuple of the key 1; at 15 the tuples of 6 and 12.
    wanted = [{"ts": 5, "k": 1, "n": 1}, {"ts": 7, "k": 1, "n": 1}]
    wanted += [{"ts": 12, "k": 2, "n": 1}, {"ts": 18, "k": 1, "n": 2}]
    assert sorted(rows_of(tmp_path, "met"), key=lambda row: row["ts"]) == wanted


def test_a_script_waits_only_where_no_query_has_results(tmp_path: Path) -> None:
    far = "SELECT COUNT(*) AS n INTO far FROM b [RANGE 3 s] EVERY 100 s;"
    plain = "SELECT v INTO plain FROM a [NOW];"
    both, other = list[Report](), list[Report]()
    for other_query, reports in ((plain, both), (far.replace("far", "farther"), other)):
        folder = tmp_path / f"{len(both)}"
        folder.mkdir()
        script = written_script(folder, far, other_query)
        opened(script, folder, report=reports.append).available_now()
    assert both[0].waiting is None
    assert other[0].waiting is not None
    assert other[0].waiting.reason.startswith("far: ")


def test_reports_tell_of_all_queries(tmp_path: Path) -> None:
    script, reports = written_script(tmp_path, SEEN, MET, PAIRS), list[Report]()
    opened(script, tmp_path, report=reports.append).available_now(drain=True)
    assert [report.batch for report in reports] == [0, 1, 2]
    first = reports[0]
    assert first.read == {"a": 3, "b": 2}
    assert set(first.members) == {"seen", "met", "pairs"}
    assert first.members["met"].read["seen"] == first.members["seen"].results
    assert sum(report.results for report in reports) == reports[-1].total_results
    shown = sum(len(rows_of(tmp_path, name)) for name in ("met", "pairs"))
    assert reports[-1].total_results == shown > 0
    assert {"pack", "seen: round 0", "commit"} <= first.phases.keys()
    assert "seen: " in first.plan
    assert read(written(first)) == first
    assert entry_json(first)["members"]["seen"]["results"] == first.members["seen"].results


def test_a_source_is_read_once_for_all_queries_of_a_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def counted(source: Any, columns: Any, piece: Any, *more: Any) -> Any:
        calls.append(piece.source)
        return read_slice(source, columns, piece, *more)

    monkeypatch.setattr(joint_packing, "read_slice", counted)
    other = "SELECT k, COUNT(*) AS n INTO other FROM a [RANGE 4 s] GROUP BY k EVERY 5 s;"
    script = written_script(tmp_path, PAIRS, other)
    opened(script, tmp_path).available_now(drain=True)
    assert Counter(calls) == {"a": 2, "b": 2}


@pytest.mark.parametrize("malformed", [False, True], ids=["sound", "malformed"])
def test_text_is_read_once_for_all_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, malformed: bool
) -> None:
    """A file with a malformed row is read again: what is wrong with it is told once, as before."""
    calls: list[str] = []

    def counted(source: Any, columns: Any, piece: Any, *more: Any) -> Any:
        calls.append(f"{piece.source}/{Path(piece.path or '').stem}")
        return read_slice(source, columns, piece, *more)

    monkeypatch.setattr(joint_packing, "read_slice", counted)
    again = "SELECT a.v AS v, s.n AS n INTO again FROM a [NOW], seen AS s WHERE a.k = s.k;"
    script = written_script(tmp_path, SEEN, again, more=", malformed = 'drop'")
    if malformed:
        with open(tmp_path / "a" / "1.csv", "a") as file:
            file.write("twenty,1,x\n")
    reports: list[Report] = []
    opened(script, tmp_path, report=reports.append).available_now(drain=True)
    assert sorted(call for call in calls if call.startswith("a/")) == (
        ["a/0", "a/1", "a/1"] if malformed else ["a/0", "a/1"]
    )
    # The tuple of 12 meets what the view shows at 10: those of 1 and 6.
    shown = sorted((row["v"], row["n"]) for row in rows_of(tmp_path, "again"))
    assert shown == [("w", 1), ("x", 2), ("z", 1)]
    assert [report.malformed["a"] for report in reports] == [0, int(malformed), 0]
    assert not list((tmp_path / "checkpoint" / "derived").glob("*"))


def test_a_row_is_malformed_for_all_queries_and_kept_once(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    other = "SELECT b.ts AS ts INTO other FROM b [NOW], seen AS s WHERE b.k = s.k;"
    more = f", malformed = 'keep:{kept}'"
    script = written_script(tmp_path, SEEN, other, PAIRS, more=more)
    (tmp_path / "a" / "1.csv").write_text("ts,k,v\n12,1,x\n20,two,w\n,1,x\n")
    reports: list[Report] = []
    opened(script, tmp_path, report=reports.append).available_now(drain=True)
    assert len(kept.read_text().splitlines()) == 2
    assert [report.malformed["a"] for report in reports] == [0, 2, 0]
    assert [r.members["seen"].malformed["a"] for r in reports] == [0, 2, 0]


def test_a_script_goes_on_where_it_was(tmp_path: Path) -> None:
    script = written_script(tmp_path, SEEN, MET, PAIRS)
    hidden = [tmp_path / name / "1.csv" for name in "ab"]
    for path in hidden:
        os.rename(path, path.with_name("_1.csv"))
    opened(script, tmp_path).available_now()
    for path in hidden:
        os.rename(path.with_name("_1.csv"), path)
    opened(script, tmp_path).available_now(drain=True)
    (tmp_path / "at once").mkdir()
    opened(script, tmp_path / "at once").available_now(drain=True)
    assert found(script, tmp_path) == found(script, tmp_path / "at once")
    with pytest.raises(CheckpointError, match="is closed"):
        opened(script, tmp_path)


def test_queries_come_and_go_and_others_keep_their_state(tmp_path: Path) -> None:
    hidden = [tmp_path / name / "1.csv" for name in "ab"]
    script = written_script(tmp_path, SEEN, MET, PAIRS)
    for path in hidden:
        os.rename(path, path.with_name("_1.csv"))
    opened(script, tmp_path).available_now()
    for path in hidden:
        os.rename(path.with_name("_1.csv"), path)
    new = "SELECT ts, v INTO new FROM a [NOW];"
    changed = written_script(tmp_path, SEEN, MET, new)
    opened(changed, tmp_path).available_now(drain=True)
    assert [row["ts"] for row in rows_of(tmp_path, "new")] == [12, 20]
    assert len(rows_of(tmp_path, "met")) == 4
    manifest = latest(Store(Place.of(tmp_path / "checkpoint")))
    assert manifest is not None
    assert set(manifest.members) == {"seen", "met", "new"}


def test_a_query_that_asks_something_else_is_refused_by_name(tmp_path: Path) -> None:
    opened(written_script(tmp_path, SEEN, MET), tmp_path).available_now()
    other = written_script(tmp_path, SEEN.replace("10 s", "20 s"), MET)
    with pytest.raises(CheckpointError, match="queries/seen belongs to another query"):
        opened(other, tmp_path)
    with pytest.raises(CheckpointError, match="has 1 partitions, not 3"):
        opened(written_script(tmp_path, SEEN, MET), tmp_path, partitions=3)


def test_a_query_that_comes_too_late_is_refused(tmp_path: Path) -> None:
    table = f"CREATE TABLE t (k BIGINT) WITH (format = 'csv', path = '{tmp_path}/b/0.csv');"
    first = f"{table} SELECT a.v AS v INTO one FROM a [NOW], t WHERE a.k = t.k;"
    opened(written_script(tmp_path, SEEN, MET, first), tmp_path).available_now()
    again = first + " SELECT b.ts AS ts INTO two FROM b [NOW], t WHERE b.k = t.k;"
    with pytest.raises(CheckpointError, match="two is new to this checkpoint, and the table t"):
        opened(written_script(tmp_path, SEEN, MET, again), tmp_path)
    met = MET.replace("INTO met", "INTO also")
    with pytest.raises(CheckpointError, match="also is new to this checkpoint, and the view seen"):
        opened(written_script(tmp_path, SEEN, MET, first, met), tmp_path)


def test_checkpoints_of_queries_and_of_scripts_are_told_apart(tmp_path: Path) -> None:
    script = written_script(tmp_path, SEEN, MET)
    query = written_script(tmp_path, PAIRS).members[0].query
    (tmp_path / "one").mkdir()
    alone = RunOptions(sink=parquet(tmp_path / "alone"), checkpoint=str(tmp_path / "checkpoint"))
    opened(script, tmp_path).available_now()
    with pytest.raises(CheckpointError, match="a script of several queries"):
        open_run(default_plan(query), alone)
    alone = replace(alone, checkpoint=str(tmp_path / "one" / "checkpoint"))
    open_run(default_plan(query), alone).available_now()
    with pytest.raises(CheckpointError, match="a single query"):
        opened(script, tmp_path / "one")


def test_sinks_are_checked(tmp_path: Path) -> None:
    script = written_script(tmp_path, SEEN, MET, PAIRS)
    options = RunOptions(sink=noop(), checkpoint=str(tmp_path / "checkpoint"))
    same = jsonl(tmp_path / "results.jsonl")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"met": noop()}, "the results of pairs have no sink"),
        ({"met": noop(), "pairs": noop(), "seen": noop()}, "a sink for seen"),
        ({"met": same, "pairs": same}, "met and pairs have the same sink"),
    ]
    for sinks, message in wrong:
        for check in (
            lambda s: open_script(script, plans_of(script), s, options),
            lambda s: check_script_start(script, s, options, "local"),
        ):
            with pytest.raises(UsageError, match=message):
                check(sinks)
    assert not (tmp_path / "checkpoint").exists()


def test_what_can_be_refused_before_is(tmp_path: Path) -> None:
    script = written_script(tmp_path, SEEN, MET)
    options = RunOptions(sink=noop(), checkpoint=str(tmp_path / "checkpoint"))
    sinks = sinks_of(script, tmp_path)
    check_script_start(script, sinks, options, "local")
    assert not (tmp_path / "checkpoint" / "script.json").exists()
    Path(sinks["met"].place.path).mkdir(parents=True)
    pq.write_table(pa.table({"x": [1]}), Path(sinks["met"].place.path, "x.parquet"))
    with pytest.raises(PenstockError, match="did not write"):
        check_script_start(script, sinks, options, "local")


def test_a_silent_stream_holds_no_query_up(tmp_path: Path) -> None:
    pair = (
        "CREATE STREAM pair AS SELECT a.k AS k FROM a [RANGE 60 s], b [RANGE 60 s] WHERE a.k = b.k;"
    )
    counted = "SELECT k, COUNT(*) AS n INTO counted FROM pair [RANGE 10 s] GROUP BY k EVERY 5 s;"
    script = written_script(tmp_path, pair, counted, more=", idle = '1 hour'")
    os.remove(tmp_path / "a" / "1.csv")
    run = opened(script, tmp_path, trigger=Duration(0))
    batches = run.batches
    assert isinstance(batches, ScriptPipeline)
    assert run.await_termination(0) is False
    seen = batches.silence.last_seen
    seen.update({name: moment - 7200.0 for name, moment in seen.items()})
    assert run.await_termination(0) is False
    run.stop()
    assert batches.manifest.batch == 1
    # Without the first stream `pair` has come to 18, so that 15 is told.
    times = {row["_time"].second for row in rows_of(tmp_path, "counted")}
    assert max(times) == 15


def test_a_plan_is_not_given_to_several_queries(tmp_path: Path) -> None:
    script = written_script(tmp_path, SEEN, MET)
    with opened(script, tmp_path) as run, pytest.raises(UsageError, match="of one query"):
        run.replan("a: b; b: a")


def test_what_leaves_after_the_last_year_is_read_too(tmp_path: Path) -> None:
    """The tick after a tuple of the last second of 9999 is in a year that no source may have."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "0.csv").write_text("ts,k,v\n253402300799,1,x\n")
    told = "SELECT k, n INTO told FROM seen [NOW];"
    script = written_script(tmp_path, SEEN, told, more=", future = 'none'")
    opened(script, tmp_path).available_now(drain=True)
    assert rows_of(tmp_path, "told") == [{"k": 1, "n": 1}]
