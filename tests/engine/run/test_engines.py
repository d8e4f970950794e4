"""Both engines against the reference: the same results, whatever the query, plan and batches."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.duration import MICROS
from penstock.engine.join import legs
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.errors import PlanError
from penstock.query import Query, RowsWindow, TimeWindow
from penstock.query.expression import columns_of
from penstock.query.window import NOW, UNBOUNDED, Window, is_tumble
from reference import answer, in_time
from support.engines.runs import (
    Place,
    expected,
    first_files_only,
    planned,
    random_plan,
    run_local,
    run_spark,
)
from support.streams.cases import Case, canonical, random_case, write_case
from support.waiting import let_hours_pass

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(120)
SPARK_CASES = 14


# ── in one process ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_local_results_are_those_of_the_reference(seed: int, tmp_path: Path) -> None:
    rng = Random(f"local {seed}")
    case = random_case(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path, rng.choice(("parquet", "jsonl")))
    drain = rng.random() < 0.5
    plan = random_plan(query, rng) if rng.random() < 0.5 else None
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == expected(case, query, place.kind, drain)


@pytest.mark.parametrize("seed", range(1000, 1040))
def test_the_plan_may_change_on_a_checkpoint(seed: int, tmp_path: Path) -> None:
    rng = Random(f"change {seed}")
    case = random_case(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    count = max(len(batches) for batches in case.batches.values())
    with first_files_only(query, rng.randint(0, count)):
        run_local(query, place, plan=random_plan(query, rng), drain=False, partitions=2)
    run_local(query, place, plan=random_plan(query, rng))
    assert canonical(place.results(query)) == expected(case, query, place.kind)


@pytest.mark.parametrize(
    ("plan", "reason"),
    [("a: b a", "behind another window"), ("a: b/nested", "nested loops")],
)
def test_plans_of_the_laboratory_are_refused(plan: str, reason: str, tmp_path: Path) -> None:
    query = pair(tmp_path, [[(0, 1)]], [[(0, 1)]])
    with pytest.raises(PlanError, match=reason):
        run_local(query, Place(tmp_path), plan=plan)


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


def traits(case: Case) -> frozenset[str]:
    """What is special about a case: what the chosen cases must cover together."""
    query = case.query
    found = {_window_trait(item.window) for item in query.inputs}
    found.add(f"{len(query.inputs)} inputs")
    if query.thetas:
        found.add("theta")
    if len(query.inputs) > 1 and not query.equalities:
        found.add("product")
    names = {tuple(sorted(str(c) for c in columns_of(e.left))) for e in query.equalities}
    if len({name[0].rsplit(".")[-1] for name in names if name}) > 1:
        found.add("different attributes")
    if len(query.streams) > 1:
        ends = [max((r.ts for b in case.batches[i.alias] for r in b), default=0)
                for i in query.streams]  # fmt: skip
        if max(ends) - min(ends) > 300 * MICROS:
            found.add("far apart")
    for item in query.streams:
        batches = case.batches[item.alias]
        total = sum(map(len, batches))
        if len(in_time(item, batches)) < total:
            found.add("late")
        if not total:
            found.add("empty stream")
    if len(query.sources) < len(query.inputs):
        found.add("self-join")
    return frozenset(found)


WINDOWS = {"RANGE", "SLIDE", "ROWS", "PARTITION", "TUMBLE", "NOW", "UNBOUNDED", "table"}
PREDICATES = {"theta", "product", "different attributes", "self-join"}
INPUTS = {"late", "far apart", "empty stream", *(f"{count} inputs" for count in range(1, 6))}
WANTED = WINDOWS | PREDICATES | INPUTS


def _window_trait(window: Window | None) -> str:
    match window:
        case None:
            return "table"
        case RowsWindow(partition_by=columns):
            return "PARTITION" if columns else "ROWS"
        case _ if window in (NOW, UNBOUNDED):
            return "NOW" if window == NOW else "UNBOUNDED"
        case TimeWindow() if is_tumble(window):
            return "TUMBLE"
        case TimeWindow(slide=1):
            return "RANGE"
    return "SLIDE"


@lru_cache(maxsize=1)
def chosen_seeds() -> tuple[int, ...]:
    """Seeds of cases of two or three batches that cover all traits, then others until enough."""
    missing = set(WANTED)
    chosen: list[int] = []
    others: list[int] = []
    for seed in range(2000, 2400):
        if not missing and len(chosen) + len(others) >= SPARK_CASES:
            break
        case = random_case(seed)
        is_empty = "empty stream" in traits(case)
        is_short = max(map(len, case.batches.values())) in (2, 3)
        if not is_short or not (is_empty or answer(case.query, case.batches)):
            continue
        if missing & traits(case):
            missing -= traits(case)
            chosen.append(seed)
        else:
            others.append(seed)
    return tuple(chosen + others)[:SPARK_CASES]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("number", range(SPARK_CASES))
def test_spark_results_are_those_of_the_reference(
    number: int, spark: SparkSession, tmp_path: Path
) -> None:
    rng = Random(f"spark {number}")
    case = random_case(chosen_seeds()[number])
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path, rng.choice(("parquet", "jsonl")))
    plan = random_plan(query, rng) if number % 2 else None
    run_spark(spark, query, place, plan=plan, drain=number % 3 > 0)
    assert canonical(place.results(query)) == expected(case, query, place.kind, number % 3 > 0)


def test_the_cases_for_spark_cover_the_language() -> None:
    covered = frozenset().union(*(traits(random_case(seed)) for seed in chosen_seeds()))
    assert covered >= WANTED, WANTED - covered


@pytest.mark.spark
def test_the_plan_may_change_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    case = random_case(chosen_seeds()[-1])
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    with first_files_only(query, 1):
        run_spark(spark, query, place, plan=random_plan(query, Random(1)), drain=False)
    run_spark(spark, query, place, plan=random_plan(query, Random(2)))
    assert canonical(place.results(query)) == expected(case, query, place.kind)


BUSY = """
CREATE STREAM a (ts BIGINT, k INT, x DOUBLE)
  WITH (format='parquet', path='{a}', timestamp='ts', unit='ms', max_files=2, lateness='1 s');
CREATE STREAM b (ts BIGINT, k INT, j INT)
  WITH (format='parquet', path='{b}', timestamp='ts', unit='ms', max_files=1);
CREATE STREAM c (ts BIGINT, j INT, s STRING)
  WITH (format='parquet', path='{c}', timestamp='ts', unit='ms', max_files=3);
SELECT a.ts AS at, b.ts AS bt, c.ts AS ct, a.x + 1 AS x, upper(c.s) AS s
FROM a [RANGE 3 SECONDS], b [{window}], c [RANGE 2 SECONDS SLIDE 500 MILLISECONDS]
WHERE a.k = b.k AND b.j = c.j AND a.x < 0.9
"""


def busy_query(folder: Path, window: str) -> Query:
    """A chain of three streams, too many tuples for the reference."""
    rng = Random(7)
    for name in "abc":
        (folder / name).mkdir(parents=True)
        for number in range(4):
            times = sorted(rng.randrange(number * 5000, number * 5000 + 5300) for _ in range(900))
            columns = {
                "ts": pa.array(times),
                "k": pa.array([rng.randrange(300) for _ in times], pa.int32()),
                "j": pa.array([rng.randrange(200) for _ in times], pa.int32()),
                "x": pa.array([rng.random() for _ in times]),
                "s": pa.array([rng.choice(("one", "zwei", "trois")) for _ in times]),
            }
            pq.write_table(pa.table(columns), folder / name / f"{number}.parquet")
    paths = {name: folder / name for name in "abc"}
    return parse(BUSY.format(window=window, **paths))


@pytest.mark.spark
@pytest.mark.parametrize("window", ["RANGE 4 SECONDS", "PARTITION BY j ROWS 5"])
def test_the_engines_are_equal_on_more_than_the_reference_can_do(
    window: str, spark: SparkSession, tmp_path: Path
) -> None:
    query = busy_query(tmp_path / "in", window)
    here, there = Place(tmp_path / "local"), Place(tmp_path / "spark")
    run_local(query, here, partitions=1)
    run_spark(spark, query, there, partitions=3)
    results = canonical(here.results(query))
    assert results == canonical(there.results(query))
    assert results.total() > 5_000
    assert not [row for row, count in results.items() if count > 50]


# ── time, memory and state ────────────────────────────────────────────────────────────────────────


PAIR = """
CREATE STREAM a (s BIGINT, k INT)
  WITH (format='parquet', path='{a}', timestamp='s', unit='s', max_files=1{more});
CREATE STREAM b (s BIGINT, k INT)
  WITH (format='parquet', path='{b}', timestamp='s', unit='s', max_files=1{more});
SELECT a.s AS a, b.s AS b FROM a [{window}], b [{window}] WHERE a.k = b.k
"""


Pairs = list[tuple[int, int]]


def pair(
    folder: Path,
    a: list[Pairs],
    b: list[Pairs],
    window: str = "RANGE 10 SECONDS",
    more: str = "",
) -> Query:
    """A query of two streams, whose batches are lists of (second, key)."""
    for name, batches in (("a", a), ("b", b)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, rows in enumerate(batches):
            write_pairs(folder / name / f"{number:04}.parquet", rows)
    paths = {"a": folder / "a", "b": folder / "b"}
    return parse(PAIR.format(window=window, more=more, **paths))


def write_pairs(path: Path, rows: Pairs) -> None:
    seconds, keys = [s for s, _ in rows], [k for _, k in rows]
    pq.write_table(pa.table({"s": seconds, "k": pa.array(keys, pa.int32())}), path)


@pytest.mark.parametrize("window", ["RANGE 10 SECONDS", "ROWS 5"])
def test_a_silent_stream_is_passed_and_what_it_sends_then_is_late(
    window: str, tmp_path: Path
) -> None:
    query = pair(tmp_path, [[(100, 1)]], [[(100, 1)]], window, more=", idle='1 h'")
    place = Place(tmp_path)
    reports: list[Report] = []
    run = open_run(
        planned(query),
        RunOptions(sink=place.sink, checkpoint=str(place.checkpoint), report=reports.append),
    )
    run._step()
    let_hours_pass(run)
    write_pairs(tmp_path / "a" / "0001.parquet", [(500, 1), (501, 1)])
    run._step()
    assert reports[-1].frontier == 501 * MICROS
    # b was passed at 501 s: of these only the second is in time.
    write_pairs(tmp_path / "b" / "0001.parquet", [(495, 1), (501, 1)])
    run.available_now(drain=True)
    assert reports[-2].late == {"a": 0, "b": 1}
    near = [(100, 100), (500, 501), (501, 501)]
    far = [(100, 501), (500, 100), (501, 100)] if window == "ROWS 5" else []
    assert sorted(place.results(query)) == sorted(near + far)


def test_a_stream_that_speaks_again_is_not_passed(tmp_path: Path) -> None:
    query = pair(tmp_path, [[(100, 1)]], [[(100, 1)]], more=", idle='1 h'")
    place = Place(tmp_path)
    reports: list[Report] = []
    run = open_run(
        planned(query),
        RunOptions(sink=place.sink, checkpoint=str(place.checkpoint), report=reports.append),
    )
    run._step()
    let_hours_pass(run)
    write_pairs(tmp_path / "a" / "0001.parquet", [(600, 1)])
    write_pairs(tmp_path / "b" / "0001.parquet", [(550, 1)])
    run._step()
    write_pairs(tmp_path / "b" / "0002.parquet", [(595, 1)])
    run.available_now()
    assert reports[-1].late == {"a": 0, "b": 0}
    assert sorted(place.results(query)) == [(100, 100), (600, 595)]


def test_a_stream_that_is_not_silent_for_long_is_waited_for(tmp_path: Path) -> None:
    query = pair(tmp_path, [[(100, 1)], [(500, 1)]], [[(100, 1)]], more=", idle='1 h'")
    reports = run_local(query, Place(tmp_path), drain=False)
    assert reports[-1].frontier == 100 * MICROS


def test_the_decision_to_pass_a_silent_stream_is_kept(tmp_path: Path) -> None:
    """A batch that is run again must pass the same streams, though no time has gone by."""
    query = pair(tmp_path, [[(100, 1)], [(500, 1)]], [[(100, 1)]], more=", idle='1 h'")
    place = Place(tmp_path)
    decisions = place.checkpoint / "decisions"
    decisions.mkdir(parents=True)
    (decisions / "000000000001.json").write_text('["b"]')
    reports = run_local(query, place, drain=False)
    assert reports[-1].frontier == 500 * MICROS


def test_a_hot_key_gives_its_results_in_small_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slices: list[int] = []
    extend = legs.Join._extend

    def counted(*arguments: Any) -> Any:
        found = extend(*arguments)
        slices.append(len(found))
        return found

    monkeypatch.setattr(legs, "SLICE", 500)
    monkeypatch.setattr(legs.Join, "_extend", counted)
    hot = [(second % 10, 7) for second in range(300)]
    query = pair(tmp_path, [hot], [hot])
    place = Place(tmp_path)
    run_local(query, place)
    assert canonical(place.results(query)).total() == 90_000
    assert max(slices) <= 500
    assert len(slices) >= 180


def test_state_expires(tmp_path: Path) -> None:
    batches = [[(10 * n + i, i) for i in range(10)] for n in range(40)]
    reports = run_local(pair(tmp_path, batches, batches, "RANGE 20 SECONDS"), Place(tmp_path))
    assert max(report.state_tuples for report in reports) <= 120
    assert reports[30].state_tuples <= reports[10].state_tuples + 20


def test_of_a_batch_that_outlasts_windows_only_the_windows_are_kept(tmp_path: Path) -> None:
    batch = [(n // 2, n % 7) for n in range(400)]
    place = Place(tmp_path)
    query = pair(tmp_path, [batch, [(200, 1)]], [batch, [(200, 1)]], "RANGE 20 SECONDS")
    reports = run_local(query, place, partitions=1, drain=False)
    assert [report.state_tuples for report in reports] == [2 * 42, 2 * 43]
    # Of the forty tuples in the other's window five have the key, and each new one has the other.
    assert sum(200 in result for result in place.results(query)) == 11


def test_state_expires_by_the_slowest_stream(tmp_path: Path) -> None:
    fast = [[(100 * n, 1)] for n in range(10)]
    slow = [[(n, 1)] for n in range(10)]
    query = pair(tmp_path, fast, slow, "RANGE 20 SECONDS")
    place = Place(tmp_path)
    reports = run_local(query, place, drain=False)
    assert reports[-1].state_tuples == 10
    assert sorted(place.results(query)) == [(0, n) for n in range(10)]


@pytest.mark.parametrize("window", ["RANGE 1 HOUR", "UNBOUNDED"])
def test_a_long_window_has_few_chunks(window: str, tmp_path: Path) -> None:
    batches = [[(n, n % 5)] for n in range(120)]
    place = Place(tmp_path)
    query = pair(tmp_path, batches, batches, window)
    reports = run_local(query, place, partitions=1, drain=False)
    assert reports[-1].state_tuples == 240
    for partitions in place.manifest.modules.values():
        for chunks in partitions.values():
            assert len(chunks) <= 12
    files = list((place.checkpoint / "state").rglob("*.arrow"))
    assert len(files) == len(list(place.manifest.chunks()))
    assert len(place.results(query)) == sum(5 * 24 * 24 for _ in "x")


def test_results_do_not_depend_on_the_number_of_files_a_batch(tmp_path: Path) -> None:
    case = random_case(next(s for s in range(3000, 3100) if len(traits(random_case(s))) > 3))
    query = write_case(case, tmp_path / "in")
    loose = replace(
        query,
        inputs=tuple(
            replace(item, source=replace(item.source, options=(), lateness=10**12))
            for item in query.inputs
        ),
    )
    strict = replace(
        query,
        inputs=tuple(
            replace(item, source=replace(item.source, lateness=10**12)) for item in query.inputs
        ),
    )
    one, many = Place(tmp_path / "one"), Place(tmp_path / "many")
    run_local(loose, one)
    run_local(strict, many)
    assert canonical(one.results(loose)) == canonical(many.results(strict))
