"""Changes of a query on its checkpoint: which are possible, and what is said of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.show.decisions import decision_lines
from penstock.cql import parse, parse_script
from penstock.engine.local import open_run, open_script
from penstock.engine.reports.report import Report
from penstock.engine.run.changed.difference import holds_no_more
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import jsonl, noop
from penstock.engine.state import manifest as manifests
from penstock.errors import CheckpointError
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.query import Query
from support.engines.runs import planned
from support.engines.script_runs import plans_of
from support.sharing.forced import forced

STREAMS = """
CREATE STREAM a (ts BIGINT, k BIGINT, v BIGINT, w DOUBLE, note STRING)
  WITH (format = 'csv', path = '{folder}/a', timestamp = 'ts', unit = 's', max_files = 1);
CREATE STREAM b (ts BIGINT, k BIGINT, x BIGINT)
  WITH (format = 'csv', path = '{folder}/b', timestamp = 'ts', unit = 's', max_files = 1);
"""
PAIRS = "SELECT a.v AS v, b.x AS x FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS] WHERE a.k = b.k"
TOTALS = "SELECT k, SUM(v) AS s FROM a [RANGE 20 SECONDS] GROUP BY k EVERY 5 SECONDS"
ROWS = {
    "a": ("ts,k,v,w,note", "1,1,10,5,x 4,2,20,5,y 9,1,30,25,z/12,2,40,15,x 18,1,50,5,y/31,1,1,1,z"),
    "b": ("ts,k,x", "2,1,1 8,2,2/13,1,3 19,2,4/32,1,5"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, (header, text) in ROWS.items():
        (tmp_path / name).mkdir()
        for number, rows in enumerate(text.split("/")):
            hidden = "" if number == 0 else "_"
            path = tmp_path / name / f"{hidden}{number}.csv"
            path.write_text("\n".join([header, *rows.split()]) + "\n")
    return tmp_path


def bring(folder: Path, number: int) -> None:
    """Let the files of another batch be there."""
    for name in ROWS:
        (folder / name / f"_{number}.csv").rename(folder / name / f"{number}.csv")


def asked(folder: Path, select: str) -> Query:
    return parse(STREAMS.format(folder=folder) + select)


def run(folder: Path, select: str, plan: Plan | None = None, **more: Any) -> list[Report]:
    """Run over what is there."""
    query, reports = asked(folder, select), list[Report]()
    options = RunOptions(
        sink=jsonl(folder / "out.jsonl"),
        checkpoint=str(folder / "checkpoint"),
        report=reports.append,
        **more,
    )
    open_run(default_plan(query) if plan is None else plan, options).available_now()
    return reports


def results(folder: Path, since: int = 0) -> list[dict[str, Any]]:
    lines = (folder / "out.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[since:]]


def changed(folder: Path, old: str, new: str, plan: Plan | None = None) -> list[dict[str, Any]]:
    """The results of the second batch, with which the query is another."""
    run(folder, old, plan)
    before = len(results(folder))
    bring(folder, 1)
    run(folder, new, change=True)
    return results(folder, before)


def refusal(folder: Path, old: str, new: str, plan: Plan | None = None) -> str:
    run(folder, old, plan)
    bring(folder, 1)
    written = (folder / "checkpoint" / "query.json").read_bytes()
    columns = (folder / "checkpoint" / "results.json").read_bytes()
    with pytest.raises(CheckpointError) as refused:
        run(folder, new, change=True)
    assert refused.value.hint == "use another --checkpoint to start anew"
    assert (folder / "checkpoint" / "query.json").read_bytes() == written
    assert (folder / "checkpoint" / "results.json").read_bytes() == columns
    # The query that was there goes on as if nothing had been.
    run(folder, old, plan)
    return refused.value.message.partition("cannot go on with this query: ")[2]


def test_a_change_must_be_asked_for(folder: Path) -> None:
    run(folder, PAIRS)
    with pytest.raises(CheckpointError, match="belongs to another query: its outputs differ") as no:
        run(folder, PAIRS.replace("AS x", "AS y"))
    assert no.value.hint is not None
    assert no.value.hint.endswith("or go on with its state by --change")


def test_other_outputs_of_what_is_kept(folder: Path) -> None:
    new = PAIRS.replace("a.v AS v, b.x AS x", "b.x + a.v AS sum")
    assert sorted(row["sum"] for row in changed(folder, PAIRS, new)) == [13, 24, 33, 42, 44, 51, 53]


def test_a_filter_holds_for_what_is_kept_too(folder: Path) -> None:
    found = changed(folder, PAIRS, f"{PAIRS} AND a.v > 20")
    assert sorted((row["v"], row["x"]) for row in found) == [
        (30, 3),
        (40, 2),
        (40, 4),
        (50, 1),
        (50, 3),
    ]


def test_a_window_becomes_shorter(folder: Path) -> None:
    found = changed(folder, PAIRS, PAIRS.replace("b [RANGE 20", "b [RANGE 5"))
    assert sorted((row["v"], row["x"]) for row in found) == [
        (10, 3),
        (20, 4),
        (30, 3),
        (40, 2),
        (40, 4),
        (50, 3),
    ]


def test_the_report_says_what_was_changed_and_kept(folder: Path) -> None:
    run(folder, PAIRS)
    bring(folder, 1)
    (report,) = run(folder, f"{PAIRS} AND a.v > 20", change=True)
    (change,) = report.changes
    assert change.reason == "filter a.v > 20; it goes on with 5 rows of state"
    assert list(decision_lines(report)) == [f"the query was changed: {change.reason}"]
    bring(folder, 2)
    (report,) = run(folder, f"{PAIRS} AND a.v > 20")
    assert report.changes == ()


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (f"{PAIRS} AND a.note = 'x'", "its state lacks a.note, which nothing needed before"),
        (PAIRS.replace("a.v AS v", "a.v AS v, a.w AS w"), "its state lacks a.w, which"),
        (PAIRS.replace("b [RANGE 20", "b [RANGE 30"), "the window of b would hold tuples that"),
        (PAIRS.replace("b [RANGE 20 SECONDS]", "b [UNBOUNDED]"), "the window of b would hold"),
        (PAIRS.replace("b [RANGE 20 SECONDS]", "b [ROWS 2]"), "the window of b would hold"),
        (
            PAIRS.replace("a.k = b.k", "a.v = b.k"),
            "the keys of the join, by which the state is placed, must stay",
        ),
        (PAIRS.replace("a.v AS v", "'t' AS v"), "its results have a column v of another type"),
        ("SELECT a.v AS v FROM a [RANGE 20 SECONDS]", "the inputs must stay: they were a AS a, b"),
        (TOTALS.replace("FROM a", "FROM b").replace("v)", "x)"), "the inputs must stay"),
        (
            "SELECT COUNT(*) AS n FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS] WHERE a.k = b.k",
            "it had no groups or aggregates, and that must stay",
        ),
    ],
)
def test_what_a_join_cannot_become(new: str, said: str, folder: Path) -> None:
    assert refusal(folder, PAIRS, new).startswith(said)


def test_a_filter_is_not_taken_away_but_where_nothing_is_kept(folder: Path) -> None:
    said = refusal(folder, f"{PAIRS} AND a.v > 20", PAIRS)
    assert said == "tuples that a.v > 20 has dropped are not kept"


def test_a_filter_alone_keeps_nothing_and_may_become_any_other(folder: Path) -> None:
    old = "SELECT a.v AS v FROM a [NOW] WHERE a.v > 15"
    new = "SELECT a.note AS note FROM a [NOW] WHERE a.v < 45"
    assert [row["note"] for row in changed(folder, old, new)] == ["x"]


def test_totals_tell_some_more_aggregates(folder: Path) -> None:
    """Tuples of a single stream are not kept, but sums and counts are."""
    old = TOTALS.replace("SUM(v)", "SUM(w)")
    new = old.replace("SUM(w) AS s", "COUNT(*) AS n, AVG(w) AS mean, COUNT(w) AS known")
    found = changed(folder, old, new)
    at: dict[str, list[tuple[Any, ...]]] = {}
    for r in found:
        at.setdefault(r["_time"][14:19], []).append((r["k"], r["n"], r["mean"], r["known"]))
    assert at["00:10"] == [(1, 2, 15.0, 2), (2, 1, 5.0, 1)]
    assert at["00:15"] == [(2, 2, 10.0, 2)]


def test_what_is_kept_of_a_percentile_tells_another(folder: Path) -> None:
    old = TOTALS.replace("SUM(v) AS s", "APPROX_PERCENTILE(w, 0.0) AS s, MAX(w) AS most")
    found = changed(folder, old, old.replace("0.0", "1.0"))
    assert found
    assert [row["s"] for row in found] == [row["most"] for row in found]


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (
            TOTALS.replace("SUM(v) AS s", "SUM(v) AS s, MAX(v) AS most, SUM(w) AS other"),
            "the tuples of a are not kept, and their totals do not tell MAX(a.v), SUM(a.w)",
        ),
        (
            TOTALS.replace("GROUP BY", "WHERE v > 10 GROUP BY"),
            "the tuples of a are not kept: only the totals of what was asked before",
        ),
        (TOTALS.replace("RANGE 20", "RANGE 10"), "the tuples of a are not kept: only the totals"),
        (TOTALS.replace("EVERY 5", "EVERY 10"), "the tuples of a are not kept: only the totals"),
        (TOTALS.replace("EVERY 5", "EVERY 2"), "EVERY may become a multiple of what it was"),
        (TOTALS.replace("GROUP BY k", "GROUP BY k, w"), "the groups must stay: they were a.k"),
    ],
)
def test_what_a_view_cannot_become(new: str, said: str, folder: Path) -> None:
    assert refusal(folder, TOTALS, new).startswith(said)


def test_what_was_aggregated_early_is_not_there_one_by_one(folder: Path) -> None:
    old = (
        "SELECT a.k AS k, SUM(a.v) AS s FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS] "
        "WHERE a.k = b.k GROUP BY a.k EVERY 5 SECONDS"
    )
    plan = planned(asked(folder, old), "a: b; b: a | early a")
    new = old.replace("SUM(a.v) AS s", "SUM(a.v) AS s, MIN(a.v) AS least")
    said = refusal(folder, old, new, plan)
    assert said.startswith("a was aggregated early: of its tuples only the sums of before are kept")


def test_outputs_over_what_was_aggregated_early_may_change(folder: Path) -> None:
    """Its columns are gone, and the sums of them are all that the new outputs read."""
    old = (
        "SELECT b.k AS k, SUM(a.v) AS s FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS] "
        "WHERE a.k = b.k GROUP BY b.k EVERY 5 SECONDS"
    )
    plan = planned(asked(folder, old), "a: b; b: a | early a")
    new = old.replace("SUM(a.v) AS s", "SUM(a.v) AS s, SUM(a.v) + 1 AS more")
    found = [(row["s"], row["more"]) for row in changed(folder, old, new, plan) if row["s"]]
    assert found
    assert all(more == s + 1 for s, more in found)


def test_groups_that_are_shown_are_told_again_with_their_new_columns(folder: Path) -> None:
    old = TOTALS.replace("EVERY 5", "EVERY 10")
    new = old.replace("SUM(v) AS s", "SUM(v) AS s, SUM(v) * 2 AS twice")
    run(folder, old)
    bring(folder, 1)
    run(folder, old)
    before = len(results(folder))
    assert [(r["k"], r["s"]) for r in results(folder)] == [(1, 40), (2, 20)]
    bring(folder, 2)
    run(folder, new, change=True)
    first = [r for r in results(folder, before) if r["_time"][14:19] == "00:20"]
    assert [(r["k"], r["s"], r["twice"]) for r in first] == [(1, 90, 180), (2, 60, 120)]


class KilledError(Exception):
    """A run that dies here."""


def test_a_run_that_dies_before_its_first_batch_is_made_up_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = f"{PAIRS} AND a.v > 20"
    run(folder, PAIRS)
    bring(folder, 1)

    def die(*arguments: Any) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(manifests, "commit", die)
        with pytest.raises(KilledError):
            run(folder, new, change=True)
    before = len(results(folder))
    # It was agreed to once; what is there is still of the query before.
    run(folder, new)
    found = sorted((row["v"], row["x"]) for row in results(folder, before))
    assert found == [(30, 3), (40, 2), (40, 4), (50, 1), (50, 3)]
    bring(folder, 2)
    run(folder, new)
    with pytest.raises(CheckpointError, match="belongs to another query: its filters differ"):
        run(folder, PAIRS)


def test_the_query_of_before_may_come_back_until_a_batch_is_final(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(folder, PAIRS)
    bring(folder, 1)

    def die(*arguments: Any) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(manifests, "commit", die)
        with pytest.raises(KilledError):
            run(folder, f"{PAIRS} AND a.v > 20", change=True)
    before = len(results(folder))
    run(folder, PAIRS)
    assert len(results(folder, before)) == 7
    bring(folder, 2)
    run(folder, PAIRS)


SCRIPT = """
CREATE STREAM pair AS SELECT a.k AS k, a.v AS v, b.x AS x
  FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS] WHERE a.k = b.k;
SELECT k, COUNT(*) AS n INTO counted FROM pair [RANGE 20 SECONDS] GROUP BY k EVERY 5 SECONDS;
SELECT p.v AS v, q.x AS x INTO joined
  FROM pair [RANGE 20 SECONDS] AS p, pair [NOW] AS q WHERE p.k = q.k;
"""


def run_script(folder: Path, text: str, **more: Any) -> None:
    script = parse_script(STREAMS.format(folder=folder) + text)
    sinks = {m.name: jsonl(folder / f"{m.name}.jsonl") for m in script.shown}
    options = RunOptions(sink=noop(), checkpoint=str(folder / "checkpoint"), **more)
    open_script(script, plans_of(script), sinks, options).available_now()


def test_queries_of_a_script_are_changed_one_by_one(folder: Path) -> None:
    run_script(folder, SCRIPT)
    bring(folder, 1)
    text = SCRIPT.replace("WHERE p.k = q.k", "WHERE p.k = q.k AND p.v > 20")
    with pytest.raises(CheckpointError, match="its filters differ"):
        run_script(folder, text)
    counted = (folder / "counted.jsonl").read_text()
    joined = len((folder / "joined.jsonl").read_text().splitlines())
    run_script(folder, text, change=True)
    assert (folder / "counted.jsonl").read_text().startswith(counted)
    new = (folder / "joined.jsonl").read_text().splitlines()[joined:]
    assert new
    assert all(json.loads(line)["v"] > 20 for line in new)
    with pytest.raises(CheckpointError, match=r"its state lacks p\.x, which nothing needed before"):
        run_script(folder, text.replace("q.x AS x", "p.x AS x"), change=True)


SHARED = """
SELECT a.k AS k, COUNT(*) AS n INTO one FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS]
  WHERE a.k = b.k GROUP BY a.k EVERY 5 SECONDS;
SELECT a.k AS k, SUM(a.v) AS s INTO two FROM a [RANGE 10 SECONDS], b [RANGE 20 SECONDS]
  WHERE a.k = b.k GROUP BY a.k EVERY 5 SECONDS;
"""


def run_shared(folder: Path, text: str, **more: Any) -> None:
    """Run queries that share their join."""
    planned = forced(parse_script(STREAMS.format(folder=folder) + text))
    assert any(member.takes for member in planned.script.members)
    sinks = {m.name: jsonl(folder / f"{m.name}.jsonl") for m in planned.script.shown}
    options = RunOptions(sink=noop(), checkpoint=str(folder / "checkpoint"), **more)
    open_script(planned.script, planned.plans, sinks, options).available_now()


def test_a_query_that_shares_its_join_keeps_what_it_joins(folder: Path) -> None:
    run_shared(folder, SHARED)
    bring(folder, 1)
    filtered = SHARED.replace("GROUP BY a.k EVERY 5 SECONDS;\nSELECT", "AND a.v > 20 GROUP BY a.k "
                              "EVERY 5 SECONDS;\nSELECT")  # fmt: skip
    with pytest.raises(CheckpointError, match=r"it shares the tuples that are kept with .*two"):
        run_shared(folder, filtered, change=True)
    having = SHARED.replace(
        "EVERY 5 SECONDS;\nSELECT", "HAVING COUNT(*) > 2 EVERY 5 SECONDS;\nSELECT"
    )
    before = len((folder / "one.jsonl").read_text().splitlines())
    run_shared(folder, having, change=True)
    lines = (folder / "one.jsonl").read_text().splitlines()[before:]
    rows = [json.loads(line) for line in lines]
    told = [(row["_time"][17:19], row["_change"], row["k"], row["n"]) for row in rows]
    # One pair of 1 was shown at 5. At 10 there are two, which are too few now, at 15 four.
    assert told == [("10", "delete", 1, 1), ("15", "upsert", 1, 4)]


def test_first_rows_stay_as_they_are_asked_for(folder: Path) -> None:
    old = f"{TOTALS.replace('EVERY', 'ORDER BY s LIMIT 1 EVERY')}"
    said = refusal(folder, old, old.replace("LIMIT 1", "LIMIT 2"))
    assert said.startswith("the first rows of a view are kept as they were asked for")


def window(extent: int | None, slide: int = 1) -> dict[str, int | None]:
    return {"extent": extent, "slide": slide}


@pytest.mark.parametrize(
    ("new", "old", "fits"),
    [
        (window(10), window(10), True),
        (window(9), window(10), True),
        (window(11), window(10), False),
        (window(10), window(None), True),
        (window(None), window(10), False),
        (window(None), window(None), True),
        (window(5, 6), window(10), True),
        (window(5, 7), window(10), False),
        (window(5, 6), window(10, 6), True),
        (window(11, 6), window(10, 6), False),
        (window(0, 11), window(10), True),
        (window(0, 12), window(10), False),
        ({"count": 2}, {"count": 3}, True),
        ({"count": 4}, {"count": 3}, False),
        ({"count": 4}, window(3), False),
        (None, window(3), False),
        (None, None, True),
    ],
)
def test_windows_that_hold_no_more(new: Any, old: Any, fits: bool) -> None:
    assert holds_no_more(new, old) is fits
