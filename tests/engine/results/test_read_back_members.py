"""Queries of a script read back by their names, each result once, or an error that lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock as ps
from penstock.engine.results.content import content_of
from penstock.errors import CheckpointError, SinkError, UsageError
from support.engines.read_back import (
    Follower,
    counted,
    run_several,
    script,
    table_of,
    write_streams,
)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    write_streams(folder)
    return folder


def test_each_query_is_read_while_the_script_runs_and_afterwards(
    streams: Path, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    followers = [Follower(checkpoint, query=name) for name in ("pairs", "counts")]

    def follow(report: ps.Report) -> None:
        for each in followers:
            each.catch_up()

    reports = run_several(streams, tmp_path, report=follow)
    for follower in followers:
        follower.catch_up()
        assert follower.visits >= 3
    pairs, changes = followers
    assert len(pairs.rows) == reports[-1].members["pairs"].total_results > 50
    assert counted(pairs.rows) == counted(table_of(checkpoint, query="PAIRS"))
    assert counted(changes.rows) == counted(table_of(checkpoint, query="counts", changes=True))
    assert {row["_change"] for row in changes.rows} == {"upsert", "delete"}
    assert 0 < len(table_of(checkpoint, query="counts")) < len(changes.rows)


def test_reports_plans_and_state_are_of_a_query_or_of_all(streams: Path, tmp_path: Path) -> None:
    reports = run_several(streams, tmp_path)
    checkpoint = tmp_path / "checkpoint"
    whole, one = (table_of(checkpoint, "reports", query=name) for name in (None, "pairs"))
    assert [row["batch"] for row in whole] == [row["batch"] for row in one]
    assert one[-1]["total_results"] == reports[-1].members["pairs"].total_results
    assert whole[-1]["total_results"] > one[-1]["total_results"]
    (plan,) = table_of(checkpoint, "plans", query="pairs")
    assert plan["plan"] == "a: b; b: a"
    assert {row["module"] for row in table_of(checkpoint, "state", query="pairs")} == {"a@0", "b@0"}


def test_which_query_is_meant_must_be_said(streams: Path, tmp_path: Path) -> None:
    run_several(streams, tmp_path)
    checkpoint = str(tmp_path / "checkpoint")
    for name in (None, "none"):
        with pytest.raises(UsageError) as caught:
            content_of(checkpoint, query=name)
        assert (caught.value.hint or "").endswith("counts, near, pairs")
    with pytest.raises(SinkError, match="noop, keeps none"):
        content_of(checkpoint, query="near").schema  # noqa: B018
    single = str(tmp_path / "single")
    with ps.sql(script(streams), engine="local").local(sink="noop", checkpoint=single) as started:
        started.available_now()
    with pytest.raises(UsageError, match="of one query, and none is named pairs"):
        content_of(single, query="pairs")


def test_a_script_without_a_batch_has_no_queries_yet(streams: Path, tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "script.json").write_text("{}")
    with pytest.raises(CheckpointError, match="no batch"):
        content_of(str(tmp_path / "checkpoint"), query="pairs")
