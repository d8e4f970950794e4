"""Results, reports, plans and state read back from checkpoints: each result once, or an error."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.engine.places.place import Place
from penstock.engine.results import pieces
from penstock.engine.results.columns import read_columns
from penstock.engine.results.content import content_of
from penstock.engine.state.store import Store
from penstock.errors import CheckpointError, PenstockError, SinkError, UsageError
from support.engines.crashes import Crash, Run, exit_code
from support.engines.read_back import (
    FILES,
    JOIN,
    VIEW,
    Follower,
    counted,
    script,
    table_of,
    write_streams,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    write_streams(folder)
    return folder


def sink_in(folder: Path, kind: str) -> str:
    return f"{kind}:{folder / 'results'}{'.jsonl' if kind == 'jsonl' else ''}"


def run(
    folder: Path,
    place: Path,
    *,
    select: str = JOIN,
    kind: str = "parquet",
    drain: bool = True,
    report: Any = None,
    plan: str | None = None,
) -> list[ps.Report]:
    """A run over all files in this process."""
    sink = kind if kind in ("noop", "console") else sink_in(place, kind)
    query = ps.sql(script(folder, select), engine="local", plan=plan)
    with query.local(
        sink=sink,
        checkpoint=place / "checkpoint",
        available_now=True,
        drain=drain,
        report=report,
        # What is in the state is the plan's, which nobody else shall change.
        replan="off",
        partitions=2,
    ) as started:
        started.await_termination()
    return list(started.reports)


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_a_running_query_is_read_batch_by_batch_and_as_a_table(
    folder: Path, tmp_path: Path, kind: str
) -> None:
    follower = Follower(tmp_path / "checkpoint")
    reports = run(folder, tmp_path, kind=kind, report=lambda report: follower.catch_up())
    follower.catch_up()
    assert follower.visits >= FILES
    assert len(follower.rows) == reports[-1].total_results > 50
    assert counted(follower.rows) == counted(table_of(tmp_path / "checkpoint"))
    names = {row["name"] for row in follower.rows}
    assert names == {None, "plain", 'with "quotes", commas', "two\nlines", "ü"}
    assert max(row["the z"] for row in follower.rows) > 2**33


def test_both_kinds_of_sink_give_the_same_rows_in_the_same_types(
    folder: Path, tmp_path: Path
) -> None:
    found = []
    for kind in ("parquet", "jsonl"):
        run(folder, tmp_path / kind, kind=kind)
        found.append(counted(table_of(tmp_path / kind / "checkpoint")))
    assert found[0] == found[1]


def test_large_results_are_read_in_pieces(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("parquet", "jsonl"):
        run(folder, tmp_path / kind, kind=kind)
        checkpoint = tmp_path / kind / "checkpoint"
        whole = counted(table_of(checkpoint))
        with monkeypatch.context() as patched:
            patched.setattr(pieces, "_PIECE_BYTES", 50)
            assert len(content_of(str(checkpoint)).table()) > 4
            assert counted(table_of(checkpoint)) == whole
        assert len(content_of(str(checkpoint)).table()) == 1


@pytest.mark.parametrize(
    ("point", "kind"),
    [
        ("before the commit", "parquet"),
        ("after the commit", "parquet"),
        ("in publishing files", "parquet"),
        ("in the sweep", "parquet"),
        ("after the commit", "jsonl"),
        ("in publishing lines", "jsonl"),
    ],
)
def test_a_reader_of_a_killed_writer_gets_each_result_once(
    folder: Path, tmp_path: Path, point: str, kind: str
) -> None:
    checkpoint = tmp_path / "checkpoint"
    job = Run(script(folder), str(checkpoint), sink_in(tmp_path, kind))
    follower = Follower(checkpoint)
    for call in (1, 2):
        assert exit_code(replace(job, crash=Crash(point, call))) == -9
        follower.catch_up()
    assert exit_code(job) == 0
    follower.catch_up()
    run(folder, tmp_path / "undisturbed", kind=kind)
    assert counted(follower.rows) == counted(table_of(tmp_path / "undisturbed" / "checkpoint"))


def test_a_view_is_a_table_of_its_rows_and_a_stream_of_its_changes(
    folder: Path, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    follower = Follower(checkpoint)

    def check(report: ps.Report) -> None:
        follower.catch_up()
        assert shown(table_of(checkpoint)) == after(follower.rows)

    reports = run(folder, tmp_path, select=VIEW, report=check)
    assert len(follower.rows) == reports[-1].total_results > 10
    assert {row["_change"] for row in follower.rows} == {"upsert", "delete"}
    assert counted(table_of(checkpoint, changes=True)) == counted(follower.rows)
    assert table_of(checkpoint) == [], "all windows are empty once it has been drained"


def after(changes: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """The rows that changes lead to, by group."""
    rows: dict[int, tuple[Any, ...]] = {}
    for row in changes:
        rows.pop(row["k"], None)
        if row["_change"] == "upsert":
            rows[row["k"]] = (row["k"], row["n"], row["z"])
    return Counter(rows.values())


def shown(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter((row["k"], row["n"], row["z"]) for row in rows)


def test_the_rows_of_a_view_are_there_after_a_drain_whatever_its_sink(
    folder: Path, tmp_path: Path
) -> None:
    select = "SELECT COUNT(*) AS n FROM a [UNBOUNDED] EVERY 1 SECOND"
    run(folder, tmp_path, select=select, kind="noop")
    [row] = table_of(tmp_path / "checkpoint")
    assert (row["n"], row["_time"], row["_change"]) == (4 * FILES, None, "upsert")
    with pytest.raises(SinkError, match=r"its sink, noop, keeps none\nhint: .* parquet:DIR"):
        Follower(tmp_path / "checkpoint").catch_up()


def test_results_that_were_kept_nowhere_are_refused(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path, kind="noop")
    with pytest.raises(SinkError, match="its sink, noop, keeps none"):
        _ = content_of(str(tmp_path / "checkpoint")).schema


def test_results_that_somebody_removed_are_missed(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path)
    checkpoint, parts = tmp_path / "checkpoint", sorted((tmp_path / "results").glob("*.parquet"))
    parts[1].unlink()
    with pytest.raises(SinkError, match=r"has \d+ of the \d+ results of batches 0 to \d+"):
        table_of(checkpoint)


def test_a_shortened_file_is_missed(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path, kind="jsonl")
    lines = (tmp_path / "results.jsonl").read_bytes()
    (tmp_path / "results.jsonl").write_bytes(lines[:1000])
    with pytest.raises(SinkError, match=r"results\.jsonl lacks results that were there"):
        table_of(tmp_path / "checkpoint")


def test_results_in_two_sinks_are_refused(folder: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    query = ps.sql(script(folder), engine="local")
    follower = Follower(checkpoint)
    with query.local(
        sink=f"parquet:{tmp_path / 'one'}",
        checkpoint=checkpoint,
        report=lambda report: first.stop(),
    ) as first:
        first.await_termination()
    follower.catch_up()
    with query.local(
        sink=f"parquet:{tmp_path / 'two'}", checkpoint=checkpoint, available_now=True
    ) as second:
        second.await_termination()
    with pytest.raises(SinkError, match=r"went to parquet:\S+one up to batch 0, and go to"):
        follower.catch_up()
    late = content_of(str(checkpoint))
    assert late.between(late.latest(), late.latest()) == []


def test_reports_are_rows_and_a_stream(folder: Path, tmp_path: Path) -> None:
    reports = run(folder, tmp_path)
    rows = table_of(tmp_path / "checkpoint", "reports")
    assert [row["batch"] for row in rows] == [report.batch for report in reports]
    assert [row["results"] for row in rows] == [report.results for report in reports]
    assert sum(row["read"] for row in rows) == 2 * 4 * FILES
    assert '"kind": "batch"' in rows[0]["report"]
    follower = Follower(tmp_path / "checkpoint", "reports")
    follower.catch_up()
    follower.catch_up()
    assert follower.rows == rows


def test_plans_are_rows_with_their_reasons(folder: Path, tmp_path: Path) -> None:
    query = ps.sql(script(folder), engine="local")
    other = ps.sql(script(folder), engine="local", plan="(a b)").plan
    with query.local(
        sink="noop",
        checkpoint=tmp_path / "checkpoint",
        available_now=True,
        replan="off",
        report=lambda report: started.replan(other) if report.batch == 1 else None,
    ) as started:
        started.await_termination()
    rows = table_of(tmp_path / "checkpoint", "plans")
    assert [row["batch"] for row in rows] == [0, 2]
    assert rows[0]["plan"] != rows[1]["plan"] == "(a b)"
    assert rows[0]["reason"] == "the query began with it"


def test_state_is_a_row_a_tuple(folder: Path, tmp_path: Path) -> None:
    reports = run(folder, tmp_path, drain=False)
    rows = table_of(tmp_path / "checkpoint", "state")
    assert len(rows) == reports[-1].state_tuples > 0
    assert {row["module"] for row in rows} == {"a@0", "b@0"}
    assert '"a.name":"two\\nlines"' in "".join(row["tuple"] for row in rows)
    assert min(row["time"] for row in rows).year == 2026
    with pytest.raises(UsageError, match="a table, not a stream"):
        Follower(tmp_path / "checkpoint", "state").catch_up()


def test_state_has_lists_of_distinct_values(folder: Path, tmp_path: Path) -> None:
    select = VIEW.replace("COUNT(*)", "COUNT(DISTINCT a.k)")
    run(folder, tmp_path, select=select, drain=False, plan="a: b; b: a")
    rows = table_of(tmp_path / "checkpoint", "state")
    assert any(":[" in row["tuple"] for row in rows)


def test_what_is_no_checkpoint_or_says_nothing_of_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        content_of(str(tmp_path))
    (tmp_path / "query.json").write_text("{}")
    with pytest.raises(CheckpointError, match="does not say which columns"):
        _ = content_of(str(tmp_path)).schema
    (tmp_path / "results.json").write_text('{"view": true}')
    with pytest.raises(CheckpointError, match=r"results\.json is damaged"):
        read_columns(Store(Place.of(tmp_path)))
    with pytest.raises(PenstockError, match="what cannot be 'everything'"):
        content_of(str(tmp_path), "everything")
