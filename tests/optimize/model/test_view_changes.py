"""How often a view is expected to change, against what runs on the local engine tell."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import PlanError
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.view_changes import view_changes

START = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS, WARM = 40, 15


def script(select: str, keys: int, groups: int, rate: int) -> str:
    """The query over streams whose values are equally frequent."""
    return select + "".join(
        f";\nCREATE STREAM {name} (k BIGINT, g BIGINT, v BIGINT, ts TIMESTAMP) WITH ("
        f"format='synthetic', timestamp='ts', rate={rate}, arrivals='poisson', seed={seed}, "
        f"duration='{SECONDS} seconds', start='2026-01-01 00:00:00', "
        f"values='k: uniform(0, {keys}); g: uniform(0, {groups}); v: uniform(0, 100000)')"
        for seed, name in enumerate("ABC")
    )


def asked(name: str, folder: Path) -> ps.ContinuousQuery:
    """One of the settings, with the number of keys and groups given."""
    select, keys, groups, rate = SETTINGS[name]
    path = folder / "stats.toml"
    counts = f"distinct = {{k = {keys}, g = {groups}}}\n"
    used = [alias for alias in "ABC" if f"{alias} [" in select]
    path.write_text("".join(f"[streams.{alias}]\n{counts}" for alias in used), encoding="utf-8")
    return ps.sql(script(select, keys, groups, rate), stats=path, engine="local")


def told(query: ps.ContinuousQuery, folder: Path) -> float:
    """Changes/s of a run once its windows are full."""
    out = folder / "out.jsonl"
    query.local(sink=ps.jsonl(out), checkpoint=str(folder / "ckpt")).available_now()
    rows = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    times = [datetime.fromisoformat(row["_time"]) - START for row in rows]
    full = [time for time in times if WARM < time.total_seconds() <= SECONDS - 1]
    return len(full) / (SECONDS - 1 - WARM)


SETTINGS = {
    "few groups, each told at every evaluation": (
        "SELECT A.g, SUM(B.v) AS s FROM A [RANGE 10 SECONDS], B [RANGE 10 SECONDS] "
        "WHERE A.k = B.k GROUP BY A.g EVERY 1 SECOND", 20, 10, 20,
    ),
    "many groups, a few of them touched": (
        "SELECT A.g, SUM(B.v) AS s FROM A [RANGE 10 SECONDS], B [RANGE 10 SECONDS] "
        "WHERE A.k = B.k GROUP BY A.g EVERY 1 SECOND", 200, 5000, 20,
    ),
    "the key itself is the group": (
        "SELECT A.k, SUM(B.v) AS s FROM A [RANGE 5 SECONDS], B [RANGE 10 SECONDS] "
        "WHERE A.k = B.k GROUP BY A.k EVERY 2 SECONDS", 100, 10, 20,
    ),
    "groups of both sides": (
        "SELECT A.g, B.g AS h, COUNT(*) AS n FROM A [RANGE 5 SECONDS], B [RANGE 5 SECONDS] "
        "WHERE A.k = B.k GROUP BY A.g, B.g EVERY 1 SECOND", 10, 30, 20,
    ),
    "whenever a window changes": (
        "SELECT A.g, SUM(B.v) AS s FROM A [RANGE 5 SECONDS], B [RANGE 5 SECONDS] "
        "WHERE A.k = B.k GROUP BY A.g", 20, 40, 10,
    ),
    "blocks": (
        "SELECT A.g, COUNT(*) AS n FROM A [TUMBLE 5 SECONDS] GROUP BY A.g", 10, 1000, 40,
    ),
    "nothing leaves": (
        "SELECT A.g, SUM(B.v) AS s FROM A [UNBOUNDED], B [RANGE 1 SECOND] "
        "WHERE A.k = B.k GROUP BY A.g EVERY 1 SECOND", 2000, 200, 20,
    ),
    "the last rows": (
        "SELECT A.g, SUM(B.v) AS s FROM A [ROWS 50], B [ROWS 50] "
        "WHERE A.k = B.k GROUP BY A.g EVERY 1 SECOND", 50, 100, 10,
    ),
    "a total": (
        "SELECT SUM(A.v) AS s FROM A [RANGE 5 SECONDS] EVERY 1 SECOND", 10, 10, 20,
    ),
    "three streams": (
        "SELECT A.g, COUNT(*) AS n FROM A [RANGE 4 SECONDS], B [RANGE 4 SECONDS], "
        "C [RANGE 4 SECONDS] WHERE A.k = B.k AND B.k = C.k GROUP BY A.g EVERY 1 SECOND",
        50, 500, 15,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_changes_are_as_expected_within_a_factor_of_two(name: str, tmp_path: Path) -> None:
    query = asked(name, tmp_path)
    expected = query.decision.chosen.estimate.changes
    assert expected is not None
    found = told(query, tmp_path)
    assert found / 2 <= expected <= found * 2


def test_a_join_has_no_changes() -> None:
    select = "SELECT A.g FROM A [NOW], B [NOW] WHERE A.k = B.k"
    query = ps.sql(script(select, 10, 10, 10))
    assert query.decision.chosen.estimate.changes is None
    assert "changes_rate" not in json.loads(query.explain("json"))["chosen"]


def test_changes_are_at_the_most_every_group_at_every_evaluation(tmp_path: Path) -> None:
    query = asked("few groups, each told at every evaluation", tmp_path)
    chosen = json.loads(query.explain("json"))["chosen"]
    assert chosen["changes_rate"] == pytest.approx(10.0)
    assert chosen["output_rate"] == pytest.approx(2 * 20 * 200 / 20)


@pytest.mark.parametrize(
    ("clause", "most"),
    [
        ("ORDER BY n LIMIT 3", 2 * 3),
        ("QUALIFY ROW_NUMBER() OVER (PARTITION BY A.k ORDER BY COUNT(*)) = 1", 2 * 20),
    ],
)
def test_no_more_changes_than_first_rows_come_and_go(
    clause: str, most: int, tmp_path: Path
) -> None:
    counted = "SELECT A.k, A.g, COUNT(*) AS n FROM A [NOW] GROUP BY A.k, A.g"
    text = script(f"{counted} {clause} EVERY 1 SECOND", 20, 1000, 500)
    stats = tmp_path / "stats.toml"
    stats.write_text("[streams.A]\ndistinct = {k = 20, g = 1000}\n", encoding="utf-8")
    query = ps.sql(text, stats=stats)
    assert query.decision.chosen.estimate.changes == pytest.approx(most)
    with pytest.raises(PlanError, match="first rows of a view do not go with shedding"):
        assert ps.sql(text, stats=stats, shed=True).decision


def test_a_view_that_is_shed_changes_less(tmp_path: Path) -> None:
    whole = asked("many groups, a few of them touched", tmp_path).decision.chosen.estimate
    known = asked("many groups, a few of them touched", tmp_path).known
    shed = view_changes(Problem(known.query, known), {"A": 0.5, "B": 0.5})
    assert shed is not None
    assert whole.changes is not None
    assert whole.changes / 8 < shed < whole.changes / 2
