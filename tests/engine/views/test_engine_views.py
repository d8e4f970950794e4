"""Views on both engines against the reference: late and early, whatever the plan."""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import ArrayLike

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.engine.run.report import Report
from penstock.engine.sinks.sink import console, foreach_batch, noop
from penstock.errors import EvaluationError, PlanError
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.query import Query, RowsWindow, TimeWindow
from penstock.query.window import NOW, UNBOUNDED, is_tumble
from reference import Row, view_changes
from support.engines.crashes import Crash, Run, exit_code
from support.engines.runs import (
    Place,
    first_files_only,
    planned,
    random_plan,
    random_tree,
    run_local,
    run_replanning,
    run_spark,
    tree,
)
from support.streams.cases import Case, random_view, write_case
from support.streams.views import expected, told
from support.waiting import let_hours_pass

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_CASES = 8


def any_plan(query: Query, rng: Random) -> Plan:
    """Any kind of plan, with any inputs aggregated early, and the view recomputed or not."""
    early = tuple(alias for alias in query.aliases if rng.random() < 0.5)
    if rng.random() < 0.5:
        return replace(random_tree(query, rng), early=early)
    plan = planned(query, random_plan(query, rng))
    assert isinstance(plan, MultiwayJoin)
    drivers = [item.alias for item in query.streams]
    if len(drivers) < 2 or query.is_sequenced or rng.random() < 0.3:
        return replace(plan, early=early)
    return replace(plan, early=early, recompute=rng.choice(drivers))


def traits(query: Query) -> set[str]:
    """What is special about a view: what the chosen cases must cover together."""
    view = query.view
    assert view is not None
    found = {each.function for each in view.aggregates} | {f"{len(query.inputs)} inputs"}
    found.add("total" if not view.groups else "groups")
    found.add("eager" if view.every == 1 else "lazy")
    found |= {name for name, part in _PARTS.items() if part(query)}
    for item in query.inputs:
        match item.window:
            case None:
                found.add("table")
            case RowsWindow():
                found.add("ROWS")
            case TimeWindow() as window:
                kinds = {NOW: "NOW", UNBOUNDED: "UNBOUNDED"}
                other = "TUMBLE" if is_tumble(window) else "SLIDE" if window.slide > 1 else "RANGE"
                found.add(kinds.get(window, other))
    return found


_PARTS: dict[str, Callable[[Any], bool]] = {
    "having": lambda query: query.view.having is not None,
    "filter": lambda query: bool(query.filters),
    "theta": lambda query: bool(query.thetas),
    "key": lambda query: bool(query.equalities),
}
WANTED = {
    "count", "sum", "avg", "min", "max", "total", "groups", "eager", "lazy", "table", "ROWS", "NOW",
    "UNBOUNDED", "TUMBLE", "SLIDE", "RANGE", "having", "filter", "theta", "key", "1 inputs",
    "2 inputs", "3 inputs", "4 inputs",
}  # fmt: skip
SEEDS = range(160)


# ── in one process ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_local_views_are_what_the_reference_says(seed: int, tmp_path: Path) -> None:
    rng = Random(f"engine view {seed}")
    case = random_view(seed)
    query = write_case(case, tmp_path / "in")
    place, drain = Place(tmp_path), rng.random() < 0.6
    run_local(query, place, plan=any_plan(query, rng), drain=drain, partitions=rng.randint(1, 3))
    assert told(place, query) == expected(case, query, drain)


def test_the_local_cases_cover_all_there_is() -> None:
    covered = [trait for seed in SEEDS for trait in traits(random_view(seed).query)]
    assert {trait: covered.count(trait) for trait in WANTED if covered.count(trait) < 5} == {}


@pytest.mark.parametrize("seed", range(300, 308))
def test_all_sets_of_early_inputs_give_the_same(seed: int, tmp_path: Path) -> None:
    case = random_view(seed)
    query = write_case(case, tmp_path / "in")
    wanted = expected(case, query)
    for size in range(len(query.inputs) + 1):
        for early in combinations(query.aliases, size):
            place = Place(tmp_path / "-".join(("early", *early)))
            run_local(query, place, plan=replace(planned(query), early=early), partitions=2)
            assert told(place, query) == wanted, early


@pytest.mark.parametrize("seed", range(400, 424))
def test_plans_and_early_inputs_may_change_at_restarts(seed: int, tmp_path: Path) -> None:
    rng = Random(f"view restart {seed}")
    case = random_view(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    for count in sorted(rng.sample(range(5), 3)):
        with first_files_only(query, count):
            run_local(query, place, plan=any_plan(query, rng), drain=False, partitions=2)
    run_local(query, place, plan=any_plan(query, rng))
    assert told(place, query) == expected(case, query)


@pytest.mark.parametrize("seed", range(500, 524))
def test_plans_and_early_inputs_may_change_at_batch_boundaries(seed: int, tmp_path: Path) -> None:
    rng = Random(f"view boundary {seed}")
    case = random_view(seed)
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    run_replanning(query, place, rng, any_plan)
    assert told(place, query) == expected(case, query)
    listed = sorted(chunk.name for chunk in place.manifest.chunks())
    assert listed == place.store.names("state")


# ── many batches ──────────────────────────────────────────────────────────────────────────────────

LONG = """
CREATE STREAM a (ts BIGINT, id BIGINT, k INT, j INT, x DOUBLE)
  WITH (format='parquet', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, id BIGINT, k INT, j INT, x DOUBLE)
  WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
CREATE STREAM c (ts BIGINT, id BIGINT, k INT, j INT, x DOUBLE)
  WITH (format='parquet', path='{folder}/c', timestamp='ts', unit='s', max_files=1);
SELECT a.j, COUNT(*) AS n, SUM(b.id) AS ids, MAX(c.x) AS top, AVG(b.x * c.x) AS mean
FROM a [{0}], b [{1}], c [{2}] WHERE a.k = b.k AND {where} GROUP BY a.j {every}
"""
KEYS, GROUPS = 3, 4
SLIDING = ("RANGE 20 SECONDS", "RANGE 8 SECONDS SLIDE 4 SECONDS", "RANGE 9 SECONDS")
BLOCKS = ("TUMBLE 12 SECONDS",) * 3
LANDMARKS = ("UNBOUNDED",) * 3
COMMON, CHAIN = "b.k = c.k", "b.j = c.j"


def long_case(
    folder: Path,
    windows: tuple[str, ...],
    where: str = COMMON,
    every: str = "EVERY 4 SECONDS",
    batches: int = 24,
) -> Case:
    """Three streams that bring a few tuples in each of many batches."""
    rng = Random(11)
    brought: dict[str, list[list[Row]]] = {}
    for name in "abc":
        (folder / name).mkdir(parents=True)
        brought[name] = []
        for number in range(batches):
            rows: list[dict[str, Any]] = [
                {
                    "ts": 3 * number + rng.randrange(3),
                    "id": 10 * number + place,
                    "k": rng.randrange(KEYS),
                    "j": rng.randrange(GROUPS),
                    "x": rng.choice((*[rng.random()] * 18, math.nan, None)),
                }
                for place in range(rng.randrange(6))
            ]
            brought[name].append(
                [Row(1_000_000 * r["ts"], (number << 36) + n, r) for n, r in enumerate(rows)]
            )
            path = folder / name / f"{number:04}.parquet"
            pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
    query = parse(LONG.format(*windows, folder=folder, where=where, every=every))
    return Case(query, brought)


SCHEMA = pa.schema(
    {"ts": pa.int64(), "id": pa.int64(), "k": pa.int32(), "j": pa.int32(), "x": pa.float64()}
)


@pytest.mark.parametrize("where", [COMMON, CHAIN], ids=["common", "chain"])
@pytest.mark.parametrize(
    "windows", [SLIDING, BLOCKS, LANDMARKS], ids=["slide", "block", "landmark"]
)
def test_long_runs_are_exact_and_keep_little(
    windows: tuple[str, ...], where: str, tmp_path: Path
) -> None:
    case = long_case(tmp_path / "in", windows, where, batches=12 if windows is LANDMARKS else 24)
    query = case.query
    wanted = expected(case, query)
    assert len(wanted) > 20
    arrived = Counter(name for name, brought in case.batches.items() for b in brought for _ in b)
    plans: dict[str, Plan] = {
        "late": planned(query),
        "early": replace(planned(query), early=("a", "b", "c")),
        "recompute": replace(planned(query), early=("a", "b", "c"), recompute="b"),
        "tree": replace(tree(query, (("a", "b"), "c")), early=("b", "c")),
    }
    for name, plan in plans.items():
        place = Place(tmp_path / name)
        reports = run_local(query, place, plan=plan, partitions=2)
        assert told(place, query) == wanted, name
        if name in ("early", "recompute") and windows is not SLIDING:
            # Each input is kept by group, keys and the columns that an aggregate reads with others.
            spaces = 3 if where == COMMON else 4
            kept = spaces * KEYS * GROUPS * 4
            shown = 2 * GROUPS * (2 if windows is BLOCKS else 1)
            assert max(r.state_tuples for r in reports) <= kept + shown
        assert max(r.state_tuples for r in reports) < 8 * arrived.total()


@pytest.mark.parametrize("window", ["TUMBLE 10 SECONDS", "UNBOUNDED"])
@pytest.mark.parametrize("group", ["A.g", "FLOOR(A.x * 10)"])
@pytest.mark.parametrize("recompute", [None, "B"], ids=["kept", "recompute"])
def test_state_of_blocks_and_landmarks_is_groups_by_keys(
    recompute: str | None, group: str, window: str, tmp_path: Path
) -> None:
    """However many tuples come: one row a group and key on one side, one a key on the other."""
    every = "EVERY 5 SECONDS" if window == "UNBOUNDED" else ""
    query = parse(
        f"""{MADE} SELECT {group} AS g, COUNT(*) AS n, SUM(B.y) AS s, MIN(A.x) AS m
        FROM A [{window}], B [{window}] WHERE A.k = B.k GROUP BY {group} {every}"""
    )
    plan = replace(planned(query), early=("A", "B"), recompute=recompute)
    reports = run_local(query, Place(tmp_path), plan=plan, sink=noop(), drain=False)
    assert sum(sum(r.read.values()) for r in reports) == 40_000
    calendar, view = (10 if recompute is None else 0), 10
    assert max(r.state_tuples for r in reports) <= 50 * 10 + 50 + calendar + view


MADE = """
CREATE STREAM A (ts TIMESTAMP, k BIGINT, g BIGINT, x DOUBLE) WITH (format='synthetic',
  timestamp='ts', rate=1000, duration='20 seconds', start='2026-01-01 00:00:00', seed=1,
  max_time='2 seconds', values='k: uniform(0, 50); g: uniform(0, 10); x: uniform(0.0, 1.0)');
CREATE STREAM B (ts TIMESTAMP, k BIGINT, y DOUBLE) WITH (format='synthetic',
  timestamp='ts', rate=1000, duration='20 seconds', start='2026-01-01 00:00:00', seed=2,
  max_time='2 seconds', values='k: uniform(0, 50); y: uniform(0.0, 1.0)');
"""


def test_sliding_state_is_at_most_the_tuples_of_the_window(tmp_path: Path) -> None:
    query = parse(
        MADE + "SELECT A.g, COUNT(*) AS n FROM A [RANGE 4 SECONDS], B [RANGE 4 SECONDS] "
        "WHERE A.k = B.k GROUP BY A.g EVERY 1 SECOND"
    )
    most = {}
    for early, recompute in (((), None), (("B",), None), (("A", "B"), None), (("A", "B"), "A")):
        place = Place(tmp_path / "".join((str(recompute), *early)))
        plan = replace(planned(query), early=early, recompute=recompute)
        reports = run_local(query, place, plan=plan, sink=noop())
        most[early, recompute] = max(r.state_tuples for r in reports)
    # The window, and the batches that are expired as a whole; a calendar of groups by ticks.
    window = 2 * 1000 * (4 + 2 + 2)
    assert most[(), None] <= window + 10 * 8
    assert most[("B",), None] <= window / 2 + 50 * 9 + 10 * 8
    assert most[("A", "B"), "A"] < most[("A", "B"), None] <= most[("B",), None]


@pytest.mark.parametrize("every", ["", "EVERY 1 SECOND"], ids=["eager", "lazy"])
@pytest.mark.parametrize("recompute", [None, "B"], ids=["kept", "recompute"])
def test_what_has_left_the_windows_leaves_the_state(
    recompute: str | None, every: str, tmp_path: Path
) -> None:
    """Also out of chunks that many batches were merged to, part of which is still needed."""
    made = MADE.replace("max_time='2 seconds'", "max_time='1 second'").replace("=1000,", "=50,")
    made = made.replace("'20 seconds'", "'40 seconds'")
    query = parse(
        f"{made} SELECT A.g, COUNT(*) AS n FROM A [RANGE 12 SECONDS], B [RANGE 12 SECONDS] "
        f"WHERE A.k = B.k GROUP BY A.g {every}"
    )
    place, most = Place(tmp_path), []

    def look(report: object) -> None:
        modules = place.manifest.modules.items()
        inputs = [chunks for name, module in modules if name.place for chunks in module.values()]
        most.append(sum(chunk.rows for chunks in inputs for chunk in chunks))

    plan = replace(planned(query), early=("A", "B"), recompute=recompute)
    run = open_run(plan, RunOptions(sink=noop(), checkpoint=str(place.checkpoint), report=look))
    run.available_now()
    assert len(most) == 40
    # A sixteenth may be dead, and what died while chunks were merged.
    window, batch = 2 * 50 * 12, 2 * 50
    assert window / 4 < max(most) <= window * 16 / 15 + batch


# ── numbers ───────────────────────────────────────────────────────────────────────────────────────


def one_stream(folder: Path, batches: list[pa.Table], select: str) -> Query:
    (folder / "a").mkdir(parents=True)
    for number, rows in enumerate(batches):
        pq.write_table(rows, folder / "a" / f"{number:04}.parquet")
    return parse(
        "CREATE STREAM a (ts BIGINT, v BIGINT, x DOUBLE) WITH (format='parquet', "
        f"path='{folder}/a', timestamp='ts', unit='s', max_files=1); {select}"
    )


def table_of(ts: ArrayLike, v: ArrayLike, x: ArrayLike) -> pa.Table:
    columns = {"ts": pa.array(ts, pa.int64()), "v": pa.array(v, pa.int64()), "x": pa.array(x)}
    return pa.table(columns)


def test_sums_of_floats_do_not_drift(tmp_path: Path) -> None:
    """Ten million tuples come and go through a short window, of very different sizes."""
    rng = np.random.default_rng(5)
    ticks, each = 20, 500_000
    batches = [
        table_of(
            np.full(each, tick),
            np.zeros(each, np.int64),
            rng.random(each) * 10.0 ** rng.integers(-8, 12, each),
        )
        for tick in range(ticks)
    ]
    select = "SELECT SUM(x) AS s, COUNT(*) AS n FROM a [RANGE 1 SECOND] EVERY 1 SECOND"
    query = one_stream(tmp_path, batches, select)
    place = Place(tmp_path)
    run_local(query, place)
    found = {time: total for time, _, total, count in told(place, query) if count}
    for tick in range(1, ticks):
        values = [
            x for batch in batches[tick - 1 : tick + 1] for x in batch.column("x").to_pylist()
        ]
        assert found[datetime.fromtimestamp(tick, UTC)] == pytest.approx(
            math.fsum(values), rel=1e-15
        )


def test_a_sum_returns_exactly_to_what_it_was(tmp_path: Path) -> None:
    """A huge value, an infinity and a NaN leave nothing behind."""
    batches = [
        table_of([0, 1, 2, 3], [0] * 4, [0.1, 1e300, math.inf, math.nan]),
        table_of([20, 21], [0] * 2, [0.1, 0.2]),
    ]
    query = one_stream(tmp_path, batches, "SELECT SUM(x) AS s FROM a [RANGE 5 SECONDS]")
    place = Place(tmp_path)
    run_local(query, place)
    sums = sorted((time.timestamp(), total) for time, _, total in told(place, query))
    assert sums[0] == (0.0, 0.1)
    assert sums[-4:] == [(20.0, 0.1), (21.0, 0.1 + 0.2), (25.000001, 0.2), (26.000001, None)]


def test_sums_of_integers_are_exact_and_overflow_is_an_error(tmp_path: Path) -> None:
    big = (1 << 63) - 1
    exact = one_stream(
        tmp_path / "exact",
        [table_of([1, 2, 3, 4], [big, big, -big, -big + 1], [0.0] * 4)],
        "SELECT SUM(v) AS s FROM a [UNBOUNDED] EVERY 10 SECONDS",
    )
    place = Place(tmp_path / "exact")
    run_local(exact, place)
    assert [row[2:] for row in told(place, exact)] == [(1,)]
    over = one_stream(
        tmp_path / "over",
        [table_of([0, 1], [big, 1], [0.0] * 2)],
        "SELECT SUM(v) AS s FROM a [UNBOUNDED]",
    )
    with pytest.raises(EvaluationError, match="which BIGINT does not hold"):
        run_local(over, Place(tmp_path / "over"))


# ── sinks and refusals ────────────────────────────────────────────────────────────────────────────


def test_lines_and_console_say_when_and_how(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    batches = [table_of([0, 4], [1, 2], [0.5, 0.25])]
    query = one_stream(tmp_path, batches, "SELECT SUM(v) AS s FROM a [NOW] HAVING COUNT(*) > 0")
    place = Place(tmp_path, "jsonl")
    reports = run_local(query, place)
    lines = Path(place.sink.place).read_text().splitlines()
    stamp = "1970-01-01T00:00:0{}Z"
    assert [json.loads(line) for line in lines] == [
        {"s": s, "_time": stamp.format(time), "_change": change}
        for s, time, change in (
            (1, "0.000000", "upsert"),
            (1, "0.000001", "delete"),
            (2, "4.000000", "upsert"),
            (2, "4.000001", "delete"),
        )
    ]
    assert reports[-1].total_results == 4
    run_local(query, place, sink=console(), checkpoint=tmp_path / "other")
    assert capfdbinary.readouterr().out.decode().splitlines() == lines


def test_only_views_are_aggregated_early(tmp_path: Path) -> None:
    query = one_stream(tmp_path, [], "SELECT v FROM a [NOW]")
    with pytest.raises(PlanError, match="aggregates a early, but the query does not"):
        run_local(query, Place(tmp_path), plan=replace(planned(query), early=("a",)))


# ── silence ───────────────────────────────────────────────────────────────────────────────────────

SILENT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='parquet', path='{0}/a', timestamp='ts', unit='s', max_files=1, idle='1 h');
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='parquet', path='{0}/b', timestamp='ts', unit='s', max_files=1, idle='1 h');
SELECT a.k, COUNT(*) AS n FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS]
WHERE a.k = b.k GROUP BY a.k EVERY 1 SECOND
"""


def bring(folder: Path, name: str, number: int, *seconds: int) -> None:
    (folder / name).mkdir(exist_ok=True)
    rows = {"ts": seconds, "k": pa.array([7] * len(seconds), pa.int32())}
    pq.write_table(pa.table(rows), folder / name / f"{number:04}.parquet")


@pytest.mark.parametrize(
    ("early", "recompute"),
    [((), None), (("a", "b"), None), (("a", "b"), "a")],
    ids=["late", "early", "recompute"],
)
def test_a_view_goes_on_without_a_silent_stream(
    early: tuple[str, ...], recompute: str | None, tmp_path: Path
) -> None:
    bring(tmp_path, "a", 0, 100)
    bring(tmp_path, "b", 0, 100)
    query, place = parse(SILENT.format(tmp_path)), Place(tmp_path)
    reports: list[Report] = []
    plan = replace(planned(query), early=early, recompute=recompute)
    run = open_run(
        plan, RunOptions(sink=place.sink, checkpoint=str(place.checkpoint), report=reports.append)
    )
    run._step()
    let_hours_pass(run)
    bring(tmp_path, "a", 1, 500, 501)
    run._step()
    assert [report.results for report in reports] == [0, 2]
    # b was passed at 501 s: of these only the second is in time.
    bring(tmp_path, "b", 1, 495, 501)
    run.available_now(drain=True)
    changes = [(t.timestamp(), change, n) for t, change, _, n in sorted(told(place, query))]
    assert changes == [
        (100, "upsert", 1),
        (111, "delete", 1),
        (501, "upsert", 2),
        (511, "upsert", 1),
        (512, "delete", 1),
    ]


@pytest.mark.parametrize("early", [(), ("a",)], ids=["late", "early"])
def test_a_stream_that_speaks_again_is_silent_no_more(
    early: tuple[str, ...], tmp_path: Path
) -> None:
    """It counts as silent when the batch begins that has its next tuples."""
    bring(tmp_path, "a", 0, 100, 101)
    bring(tmp_path, "b", 0, 100)
    text = SILENT.format(tmp_path).replace(", idle='1 h'", "", 1)
    text = text.replace("b [RANGE 10 SECONDS]", "b [ROWS 2]").replace("EVERY 1 ", "EVERY 10 ")
    query, place = parse(text.replace("a [RANGE 10 SECONDS]", "a [UNBOUNDED]")), Place(tmp_path)
    plan = replace(planned(query), early=early)
    run = open_run(plan, RunOptions(sink=place.sink, checkpoint=str(place.checkpoint)))
    run._step()
    bring(tmp_path, "a", 1, 450)
    run._step()
    let_hours_pass(run)
    bring(tmp_path, "b", 1, 300)
    bring(tmp_path, "a", 2, 451)
    run._step()
    run.available_now(drain=True)
    changes = [(t.timestamp(), n) for t, _, _, n in sorted(told(place, query))]
    assert changes == [(100, 1), (110, 2), (300, 4), (450, 6), (460, 8)]


# ── crashes ───────────────────────────────────────────────────────────────────────────────────────


ROWS = ("ROWS 6", "RANGE 8 SECONDS", "PARTITION BY k ROWS 3")
CRASHES = [
    Crash("in a chunk", 3),
    Crash("after a rebuild", 4),
    Crash("after the results are staged", 2),
    Crash("before the commit", 5),
    Crash("after the commit", 4),
    Crash("in publishing files", 1),
    Crash("after a chunk", 0, in_drain=True),
    Crash("after the commit", 0, in_drain=True),
]


@pytest.mark.slow
@pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: f"{crash.point} {crash.call}")
def test_a_killed_view_goes_on_exactly(crash: Crash, tmp_path: Path) -> None:
    windows = ROWS if crash.call % 2 else SLIDING
    case = long_case(tmp_path / "in", windows, CHAIN, batches=10)
    place = Place(tmp_path)
    shapes = (None, (("a", "b"), "c"), ("a", ("b", "c")))
    recompute = "b" if windows is SLIDING else None
    text, checkpoint, sink = case.query.text, str(place.checkpoint), place.sink.name
    run = Run(text, checkpoint, sink, crash, shapes, early=("a", "c"), recompute=recompute)
    assert exit_code(run) == -9
    assert exit_code(replace(run, crash=None)) == 0
    assert told(place, case.query) == expected(case, case.query)


def as_of_0_1(checkpoint: Path) -> int:
    """Give manifests the spelling of 0.1, and say how many were of a recomputed view."""
    found = 0
    for path in sorted(checkpoint.glob("manifests/*.json")):
        facts = json.loads(path.read_text())["manifest"]
        facts = {name.replace("is_recomputed", "is_anew"): fact for name, fact in facts.items()}
        body = json.dumps(facts)
        checksum = zlib.crc32(body.encode())
        path.write_text(f'{{"checksum": {checksum}, "manifest": {body}}}')
        found += facts["is_anew"]
    return found


@pytest.mark.parametrize("recompute", [None, "c"], ids=["kept", "recompute"])
def test_a_checkpoint_of_0_1_goes_on(recompute: str | None, tmp_path: Path) -> None:
    case = long_case(tmp_path / "in", SLIDING, CHAIN, batches=6)
    query, place = case.query, Place(tmp_path)
    late = planned(query)
    first = replace(late, early=("a", "b", "c"), recompute="b")
    with first_files_only(query, 3):
        run_local(query, place, plan=first, drain=False)
    assert as_of_0_1(place.checkpoint)
    run_local(query, place, plan=replace(late, early=("c",), recompute=recompute))
    assert told(place, query) == expected(case, query)


# ── on Spark ──────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1)
def chosen() -> tuple[int, ...]:
    """Seeds of cases of two or three batches that cover most traits, then others."""
    missing = set(WANTED)
    covering: list[int] = []
    others: list[int] = []
    for seed in range(700, 780):
        case = random_view(seed)
        is_short = max(map(len, case.batches.values())) in (2, 3)
        if not is_short or len(view_changes(case.query, case.batches)) < 4:
            continue
        found = traits(case.query)
        (covering if missing & found else others).append(seed)
        missing -= found
    return tuple(covering + others)[:SPARK_CASES]


def test_the_cases_for_spark_cover_most() -> None:
    covered = set().union(*(traits(random_view(seed).query) for seed in chosen()))
    assert len(chosen()) == SPARK_CASES
    assert len(WANTED - covered) <= 2


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("number", range(SPARK_CASES))
def test_spark_views_are_what_the_reference_says(
    number: int, spark: SparkSession, tmp_path: Path
) -> None:
    case = random_view(chosen()[number])
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path)
    plan = any_plan(query, Random(number))
    run_spark(spark, query, place, plan=plan, drain=number % 3 > 0)
    assert told(place, query) == expected(case, query, number % 3 > 0)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("windows", [SLIDING, ROWS], ids=["slide", "rows"])
def test_views_may_change_their_plans_on_spark(
    windows: tuple[str, ...], spark: SparkSession, tmp_path: Path
) -> None:
    case = long_case(tmp_path / "in", windows, CHAIN, batches=6)
    query, place = case.query, Place(tmp_path)
    late, bushy = planned(query), tree(query, (("a", "b"), "c"))
    assert isinstance(late, MultiwayJoin)
    first = late if windows is ROWS else replace(late, early=("a", "b", "c"), recompute="b")
    for count, plan in ((2, first), (4, replace(bushy, early=("a", "b")))):
        with first_files_only(query, count):
            run_spark(spark, query, place, plan=plan, drain=False)
    run_spark(spark, query, place, plan=replace(late, early=("c",)))
    assert told(place, query) == expected(case, query)


@pytest.mark.spark
@pytest.mark.slow
def test_a_function_gets_the_changes_of_a_view(spark: SparkSession, tmp_path: Path) -> None:
    batches = [table_of([0, 4], [1, 2], [0.5, 0.25])]
    query = one_stream(tmp_path, batches, "SELECT SUM(v) AS s FROM a [RANGE 2 SECONDS]")
    found = []
    sink = foreach_batch(lambda frame, number: found.extend(frame.collect()))
    run_spark(spark, query, Place(tmp_path), sink=sink)
    assert {tuple(row.asDict()) for row in found} == {("s", "_time", "_change")}
    changes = sorted((row["_time"], row["_change"], row["s"]) for row in found)
    assert [(kind, s) for _, kind, s in changes] == [("upsert", s) for s in (1, None, 2, None)]
