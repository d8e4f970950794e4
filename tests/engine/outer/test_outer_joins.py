"""Outer, semi and anti joins against the reference, whatever the plan, batches and partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from penstock.cql import parse
from penstock.duration import MICROS
from penstock.errors import CheckpointError, PlanError
from penstock.plan.drops import DropBoxes
from reference import all_alive, in_time, outer_combinations
from support.engines.runs import (
    Place,
    expected,
    first_files_only,
    planned,
    random_plan,
    random_tree,
    run_local,
)
from support.outer.outer_cases import KINDS, outer_case
from support.outer.outer_runs import answers_and_expected, any_plan, replanned_and_expected
from support.outer.outer_text import asked_case
from support.streams.cases import Case, canonical, write_case


@pytest.mark.parametrize("seed", range(120))
def test_results_are_those_of_the_reference(seed: int, tmp_path: Path) -> None:
    rng = Random(f"local {seed}")
    case = outer_case(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path, rng.choice(("parquet", "jsonl")))
    drain = rng.random() < 0.5
    plan = random_plan(query, rng) if rng.random() < 0.5 else None
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == expected(case, query, place.kind, drain)


@pytest.mark.parametrize("seed", range(300, 330))
def test_the_plan_may_change_after_each_batch(seed: int, tmp_path: Path) -> None:
    found, wanted = replanned_and_expected(outer_case(seed), tmp_path, Random(seed))
    assert found == wanted


@pytest.mark.parametrize("seed", range(400, 430))
def test_a_run_goes_on_where_another_stopped(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    case = outer_case(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    count = max(len(batches) for batches in case.batches.values())
    with first_files_only(query, rng.randint(0, count)):
        run_local(query, place, plan=any_plan(query, rng), drain=False, partitions=2)
    run_local(query, place, plan=any_plan(query, rng))
    assert canonical(place.results(query)) == expected(case, query, place.kind)


def test_the_cases_have_all_kinds_of_results() -> None:
    found = Counter(traits for seed in range(160) for traits in _traits(outer_case(seed)))
    for kind in KINDS:
        assert found[kind, "table"] > 0 or kind == "full"
        assert found[kind, "with a partner"] > 50 or kind == "anti"
        assert found[kind, "without"] > 50 or kind == "semi"
    assert found["left", "three inputs"] > 5


def _traits(case: Case) -> Iterator[tuple[str, str]]:
    """What a case is, and what its results are."""
    query = case.query
    assert query.outer is not None
    kind = query.outer.joins[0].kind
    if any(item.is_table for item in query.inputs):
        yield kind, "table"
    if len(query.inputs) > 2:
        yield kind, "three inputs"
    windows = {item.alias: in_time(item, case.batches[item.alias]) for item in query.inputs}
    for each in outer_combinations(query, windows, lambda f: all_alive(query, windows, f)):
        is_paired = kind == "semi" or len(each.found) == len(query.inputs)
        yield kind, "with a partner" if is_paired else "without"


# ── in text ───────────────────────────────────────────────────────────────────────────────────────

ASKED = {
    "a left join": "SELECT a.ts AS t, a.x, b.x AS y FROM a [RANGE 4 SECONDS] LEFT JOIN "
    "b [RANGE 6 SECONDS] ON a.k = b.k AND b.x > 2 AND a.x < 8 WHERE b.x IS NULL OR b.x > a.x",
    "a right join": "SELECT a.ts AS t, b.x FROM a [TUMBLE 10 SECONDS] RIGHT OUTER JOIN "
    "b [RANGE 5 SECONDS SLIDE 2 SECONDS] ON a.k = b.k WHERE b.x > 1",
    "a full join": "SELECT a.ts AS t, a.x, b.ts AS u FROM a [RANGE 3 SECONDS] FULL JOIN b [NOW] "
    "ON a.k = b.k AND a.x <= b.x",
    "EXISTS": "SELECT ts, x FROM a [RANGE 4 SECONDS] WHERE x > 1 AND EXISTS "
    "(SELECT * FROM b [RANGE 3 SECONDS] WHERE b.k = a.k AND b.x > a.x)",
    "IN": "SELECT * FROM a [RANGE 4 SECONDS] WHERE k IN (SELECT k + 1 FROM b [NOW] WHERE b.x > 3)",
    "NOT EXISTS": "SELECT a.ts, a.x FROM a [RANGE 4 SECONDS] JOIN c [UNBOUNDED] ON a.k = c.k WHERE "
    "NOT EXISTS (SELECT 1 FROM b [RANGE 3 SECONDS] WHERE b.k = c.k AND b.x = a.x)",
    "a left join of three": "SELECT a.ts AS t, c.ts AS u, b.x FROM a [RANGE 9 SECONDS] LEFT JOIN "
    "b [RANGE 6 SECONDS] ON a.k = b.k AND a.x > c.x JOIN c [RANGE 8 SECONDS] ON a.k = c.k",
}


@pytest.mark.parametrize("select", ASKED.values(), ids=ASKED)
def test_what_is_asked_in_text_is_answered(select: str, tmp_path: Path) -> None:
    for found, wanted in answers_and_expected(select, tmp_path):
        assert found == wanted
        assert wanted


def test_a_left_join_by_hand(tmp_path: Path) -> None:
    """The bid of 3 s dies at 13 s, and the other stream is at 20 s; that of 12 s may still meet."""
    for name, rows in {"a": [(3, 1), (4, 2), (12, 3)], "b": [(8, 2), (20, 9)]}.items():
        (tmp_path / name).mkdir()
        lines = "".join(f"{ts},{k}\n" for ts, k in rows)
        (tmp_path / name / "0.csv").write_text("ts,k\n" + lines)
    source = "CREATE STREAM {0} (ts BIGINT, k INT) WITH (format='csv', path='{1}/{0}', "
    source += "timestamp='ts', unit='s');\n"
    query = parse(
        "".join(source.format(name, tmp_path) for name in "ab")
        + "SELECT a.ts AS one, b.ts AS other FROM a [RANGE 10 SECONDS] LEFT JOIN "
        "b [RANGE 10 SECONDS] ON a.k = b.k"
    )
    place = Place(tmp_path)
    run_local(query, place, drain=False)
    assert canonical(place.results(query)) == Counter({(4, 8): 1, (3, None): 1})
    run_local(query, place)
    assert canonical(place.results(query)) == Counter({(4, 8): 1, (3, None): 1, (12, None): 1})


# ── what is refused, and what is kept ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ("eddy", "mesh or an eddy"),
        ("a: b; b: a | early a", "aggregates a early"),
    ],
)
def test_plans_that_cannot_be_followed_are_refused(plan: str, reason: str, tmp_path: Path) -> None:
    text = "SELECT a.k, COUNT(b.x) AS n FROM a [NOW] LEFT JOIN b [NOW] ON a.k = b.k GROUP BY a.k"
    query = asked_case(text, tmp_path / "in").query
    with pytest.raises(PlanError, match=f"{reason}.*an outer join"):
        run_local(query, Place(tmp_path), plan=plan)


def test_shedding_and_trees_of_semi_joins_are_refused(tmp_path: Path) -> None:
    query = asked_case(ASKED["EXISTS"], tmp_path / "in").query
    with pytest.raises(PlanError, match=r"a tree.*a semi join"):
        run_local(query, Place(tmp_path), plan=random_tree(query, Random(1)))
    shed = replace(planned(query), drops=DropBoxes((("b", 0.5),)))
    with pytest.raises(PlanError, match="sheds"):
        run_local(query, Place(tmp_path), plan=shed)


def test_a_checkpoint_knows_its_join(tmp_path: Path) -> None:
    left = asked_case(ASKED["a left join"], tmp_path / "in").query
    run_local(left, Place(tmp_path), drain=False)
    inner = parse(left.text.replace("LEFT JOIN", "JOIN"))
    with pytest.raises(CheckpointError, match="outer join differ"):
        run_local(replace(left, outer=None), Place(tmp_path))
    assert inner.outer is None


def test_the_nullable_window_is_let_go(tmp_path: Path) -> None:
    """What is kept of b is what tuples of a that may still ask have as partners."""
    text = "SELECT a.x FROM a [RANGE 2 SECONDS] LEFT ANTI JOIN b [RANGE 3 SECONDS] ON a.k = b.k"
    case = asked_case(text, tmp_path / "in", batches=40)
    place = Place(tmp_path)
    run_local(case.query, place, drain=False, partitions=1)
    manifest = place.manifest
    frontier = min(state.highest or 0 for state in manifest.streams.values())
    oldest = [c.last_ts for m in manifest.modules.values() for cs in m.values() for c in cs]
    assert oldest
    assert min(oldest) >= frontier - (2 + 3 + 3 + 15) * MICROS
