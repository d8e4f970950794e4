"""Several outer, semi and anti joins in one query, against the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from penstock.cql import parse
from reference import all_alive, in_time, outer_combinations
from support.engines.runs import (
    Place,
    expected,
    random_plan,
    run_local,
)
from support.engines.viewed_runs import told_and_expected
from support.outer.joint_cases import joint_case, semi_case, table_case
from support.outer.outer_cases import viewed
from support.outer.outer_runs import answers_and_expected, any_plan, replanned_and_expected
from support.streams.cases import Case, canonical, write_case


@pytest.mark.parametrize("seed", range(100))
def test_results_are_those_of_the_reference(seed: int, tmp_path: Path) -> None:
    rng = Random(f"joint {seed}")
    case = semi_case(seed) if seed % 5 == 4 else joint_case(seed)
    query = write_case(case, tmp_path / "in")
    place, drain = Place(tmp_path), rng.random() < 0.5
    plan = random_plan(query, rng) if rng.random() < 0.5 else None
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == expected(case, query, place.kind, drain)


@pytest.mark.parametrize("seed", range(200, 230))
def test_views_are_plain_sql_at_each_tick(seed: int, tmp_path: Path) -> None:
    rng = Random(f"joint view {seed}")
    case = table_case(seed) if seed % 3 == 2 else joint_case(seed)
    found, wanted = told_and_expected(viewed(case, rng), tmp_path, rng, any_plan)
    assert found == wanted


@pytest.mark.parametrize("seed", range(300, 325))
def test_the_plan_may_change_after_each_batch(seed: int, tmp_path: Path) -> None:
    found, wanted = replanned_and_expected(joint_case(seed), tmp_path, Random(seed))
    assert found == wanted


def test_the_cases_have_all_kinds_of_results() -> None:
    found = Counter(trait for seed in range(100) for trait in _traits(joint_case(seed)))
    for trait in ("left left", "left semi", "left anti", "semi semi", "semi anti"):
        assert found[trait] > 5, trait
    assert found["lacks two"] > 20
    assert found["lacks the first alone"] > 50
    assert found["table"] > 10


def _traits(case: Case) -> Iterator[str]:
    """What a case is, and what its results are."""
    query = case.query
    assert query.outer is not None
    yield " ".join(join.kind for join in query.outer.joins)
    if any(query.input(join.nullable).is_table for join in query.outer.joins):
        yield "table"
    windows = {item.alias: in_time(item, case.batches[item.alias]) for item in query.inputs}
    left = [join.nullable for join in query.outer.joins if join.has_pairs]
    for each in outer_combinations(query, windows, lambda f: all_alive(query, windows, f)):
        lacks = [alias not in each.found for alias in left]
        if lacks[:2] == [True, True]:
            yield "lacks two"
        if lacks[:2] == [True, False]:
            yield "lacks the first alone"


# ── in text ───────────────────────────────────────────────────────────────────────────────────────

ASKED = {
    "two left joins": "SELECT a.ts AS t, b.x, c.x AS y FROM a [RANGE 4 SECONDS] LEFT JOIN "
    "b [RANGE 6 SECONDS] ON a.k = b.k LEFT JOIN c [RANGE 9 SECONDS] ON b.x = c.x",
    "ON over what may be NULL": "SELECT a.ts AS t, b.x, c.x AS y FROM a [RANGE 4 SECONDS] "
    "LEFT JOIN b [NOW] ON a.k = b.k LEFT JOIN c [RANGE 5 SECONDS] "
    "ON a.k = c.k AND (b.x IS NULL OR b.x < c.x) WHERE a.x > 2",
    "a right join first": "SELECT a.x, b.ts AS t, c.x AS y FROM a [RANGE 4 SECONDS] RIGHT JOIN "
    "b [RANGE 6 SECONDS] ON a.k = b.k LEFT JOIN c [NOW] ON b.k = c.k",
    "a right join last": "SELECT a.x, b.ts AS t, c.x AS y FROM a [RANGE 4 SECONDS] LEFT JOIN "
    "b [RANGE 6 SECONDS] ON a.k = b.k AND b.x > 1 RIGHT JOIN c [RANGE 9 SECONDS] ON a.x = c.x "
    "WHERE c.x < 8",
    "right joins alone": "SELECT a.x, b.ts AS t, c.x AS y FROM a [RANGE 4 SECONDS] RIGHT JOIN "
    "b [RANGE 6 SECONDS] ON a.k = b.k RIGHT JOIN c [RANGE 9 SECONDS] ON b.x = c.x AND b.k > 1",
    "a table among them": "SELECT a.ts AS t, d.x, b.x AS y FROM a [RANGE 4 SECONDS] LEFT JOIN d "
    "ON a.x = d.x LEFT JOIN b [RANGE 3 SECONDS] ON a.k = b.k AND b.x > d.k",
    "EXISTS and NOT EXISTS": "SELECT ts, x FROM a [RANGE 9 SECONDS] WHERE EXISTS "
    "(SELECT 1 FROM b [RANGE 5 SECONDS] WHERE b.k = a.k) AND NOT EXISTS "
    "(SELECT 1 FROM c [RANGE 2 SECONDS] WHERE c.k = a.k AND c.x > a.x)",
    "IN twice": "SELECT ts, x FROM a [UNBOUNDED] WHERE k IN (SELECT k FROM b [RANGE 5 SECONDS]) "
    "AND x IN (SELECT x FROM c [RANGE 2 SECONDS])",
    "EXISTS beside a left join": "SELECT a.ts AS t, b.x FROM a [RANGE 5 SECONDS] LEFT JOIN "
    "b [RANGE 2 SECONDS] ON a.k = b.k WHERE EXISTS (SELECT 1 FROM c [NOW] WHERE c.k = a.k)",
    "a semi join of three": "SELECT a.ts AS t, c.ts AS u FROM a [RANGE 5 SECONDS] JOIN "
    "c [RANGE 9 SECONDS] ON a.k = c.k LEFT SEMI JOIN b [RANGE 4 SECONDS] ON b.x = c.x",
}


@pytest.mark.parametrize("select", ASKED.values(), ids=ASKED)
def test_what_is_asked_in_text_is_answered(select: str, tmp_path: Path) -> None:
    for found, wanted in answers_and_expected(select, tmp_path):
        assert found == wanted
        assert wanted


def test_two_left_joins_by_hand(tmp_path: Path) -> None:
    """The tuple of 3 s has a c but no b; that is known once all streams are past its end, 13 s."""
    brought = {"a": [(3, 1), (4, 2)], "b": [(8, 2)], "c": [(5, 1), (6, 9)]}
    for name, rows in brought.items():
        _bring(tmp_path, name, 0, rows)
    source = "CREATE STREAM {0} (ts BIGINT, k INT) WITH (format='csv', path='{1}/{0}', "
    source += "timestamp='ts', unit='s', max_files=1);\n"
    query = parse(
        "".join(source.format(name, tmp_path) for name in "abc")
        + "SELECT a.ts AS one, b.ts AS two, c.ts AS three FROM a [RANGE 10 SECONDS] LEFT JOIN "
        "b [RANGE 10 SECONDS] ON a.k = b.k LEFT JOIN c [RANGE 10 SECONDS] ON a.k = c.k"
    )
    place = Place(tmp_path)
    run_local(query, place, drain=False)
    assert canonical(place.results(query)) == Counter()
    for name in "abc":
        _bring(tmp_path, name, 1, [(14, 99)])
    run_local(query, place, drain=False)
    assert canonical(place.results(query)) == Counter({(3, None, 5): 1, (14, 14, 14): 1})
    run_local(query, place)
    both = Counter({(3, None, 5): 1, (14, 14, 14): 1, (4, 8, None): 1})
    assert canonical(place.results(query)) == both


def _bring(folder: Path, name: str, number: int, rows: list[tuple[int, int]]) -> None:
    (folder / name).mkdir(exist_ok=True)
    lines = "".join(f"{ts},{k}\n" for ts, k in rows)
    (folder / name / f"{number}.csv").write_text("ts,k\n" + lines)
