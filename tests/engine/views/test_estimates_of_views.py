"""Views that are shed: estimates without bias, intervals that hold the truth, whatever the plan."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import floor, sqrt
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.cli.main import app
from penstock.cli.show.live_table import LiveView
from penstock.cql import parse
from penstock.duration import Duration
from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.kernels.drop import keeps
from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.plan.explain.notes import sample_notes
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.intervals import with_intervals
from support.engines.runs import (
    Place,
    Runner,
    first_files_only,
    planned,
    random_plan,
    random_tree,
    run_local,
    run_spark,
)
from support.streams.cases import random_view, write_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema(
    {"ts": pa.int64(), "k": pa.int32(), "j": pa.int32(), "g": pa.int32(), "x": pa.float64()}
)
STREAM = """
CREATE STREAM {name} (ts BIGINT, k INT, j INT, g INT, x DOUBLE)
  WITH (format='parquet', path='{folder}/{name}', timestamp='ts', unit='s', max_files=1);
"""
BLOCK = 10
Told = dict[tuple[object, ...], dict[str, Any]]


@dataclass(frozen=True)
class Data:
    """Streams of so many files, each with so many tuples in ten seconds, repeated so many times.

    When tuples are repeated they have other arrival numbers, so that others of them are kept.
    """

    tuples: int
    files: int = 1
    repeats: int = 1
    keys: int = 20
    groups: int = 2
    names: str = "abc"

    def write(self, folder: Path) -> str:
        """The streams as files, and what declares them."""
        rng = np.random.default_rng(self.tuples)
        for name in self.names:
            (folder / name).mkdir(parents=True)
            for number in range(self.files):
                table = self._table(rng, BLOCK * number * self.repeats)
                pq.write_table(table, folder / name / f"{number:04}.parquet")
        return "".join(STREAM.format(name=name, folder=folder) for name in self.names)

    def _table(self, rng: np.random.Generator, first: int) -> pa.Table:
        times = first + np.sort(rng.integers(0, BLOCK, self.tuples))
        small = [rng.integers(0, n, self.tuples) for n in (self.keys, self.keys, self.groups)]
        values = rng.random(self.tuples)
        blocks = [
            [pa.array(c).cast(t) for c, t in zip(columns, SCHEMA.types, strict=True)]
            for columns in ((times + BLOCK * r, *small, values) for r in range(self.repeats))
        ]
        return pa.concat_tables([pa.Table.from_arrays(block, schema=SCHEMA) for block in blocks])


def told(place: Place) -> list[dict[str, Any]]:
    """All changes in the order of time."""
    paths = sorted(Path(place.sink.place).glob("*.parquet"))
    rows = [row for path in paths for row in pq.read_table(path).to_pylist()]
    return sorted(rows, key=lambda row: row["_time"])


def upserts(place: Place, *by: str) -> Told:
    """The rows of groups by their groups and time."""
    rows = [row for row in told(place) if row["_change"] == "upsert"]
    return {(row["_time"], *(row[name] for name in by)): row for row in rows}


def boxes(fractions: dict[str, float], seed: int = 0, **more: Any) -> DropBoxes:
    return DropBoxes(tuple(fractions.items()), seed, **more)


# ── coverage ──────────────────────────────────────────────────────────────────────────────────────

# Of 200 intervals that hold the truth in 95 of 100 cases, 92 to 98 % do so in 19 of 20 trials only.
RUNS, REPEATS = 8, 60
AGGREGATES = "COUNT(*) AS n, SUM(b.x) AS s, AVG(a.x + b.x) AS m"
A, B, C = (f"{name} [TUMBLE 10 SECONDS]" for name in "abc")
SETTINGS = {
    "two streams": (
        Data(200, repeats=REPEATS, names="ab"),
        f"SELECT a.g, {AGGREGATES} FROM {A}, {B} WHERE a.k = b.k GROUP BY a.g",
        {"a": 0.5, "b": 0.6},
    ),
    "three streams, one key": (
        Data(140, repeats=REPEATS, keys=12),
        f"SELECT a.g, {AGGREGATES} FROM {A}, {B}, {C} WHERE a.k = b.k AND b.k = c.k GROUP BY a.g",
        {"a": 0.7, "b": 0.6, "c": 0.5},
    ),
    "three streams, two keys": (
        Data(140, repeats=REPEATS, keys=12),
        f"SELECT a.g, {AGGREGATES} FROM {A}, {B}, {C} WHERE a.k = b.k AND b.j = c.j GROUP BY a.g",
        {"a": 0.7, "b": 0.6, "c": 0.6},
    ),
    "theta": (
        Data(200, repeats=REPEATS, names="ab"),
        f"SELECT a.g, {AGGREGATES} FROM {A}, {B} WHERE a.x < b.x - 0.3 GROUP BY a.g",
        {"a": 0.6, "b": 0.7},
    ),
}


def some_plan(query: Query, number: int) -> Plan:
    """A late plan, one with all early, or any kind of plan with any inputs aggregated early; the
    multi-way ones of these recompute the view where they can."""
    rng = Random(number)
    if number < 4:
        some = random_tree(query, rng) if number % 2 else planned(query)
        return replace(some, early=query.aliases if number > 1 else ())
    early = tuple(alias for alias in query.aliases if rng.random() < 0.5)
    if number % 2:
        return replace(random_tree(query, rng), early=early)
    plan = planned(query, random_plan(query, rng))
    assert isinstance(plan, MultiwayJoin)
    streams = [item.alias for item in query.streams]
    may_recompute = len(streams) > 1 and not query.is_sequenced
    return replace(plan, early=early, recompute=rng.choice(streams) if may_recompute else None)


@pytest.mark.parametrize("setting", SETTINGS)
def test_intervals_cover_the_truth_and_estimates_have_no_bias(setting: str, tmp_path: Path) -> None:
    """480 times shed: each run has another seed and plan, and each block other arrival numbers."""
    data, select, fractions = SETTINGS[setting]
    query = parse(data.write(tmp_path / "in") + select)
    exact = Place(tmp_path / "exact")
    run_local(query, exact)
    # What is repeated exactly is told once.
    truth = {row["g"]: row for row in upserts(exact, "g").values()}
    found: dict[str, list[tuple[float, bool | None]]] = {"n": [], "s": [], "m": []}
    for seed in range(RUNS):
        place = Place(tmp_path / str(seed))
        plan = replace(some_plan(query, seed), drops=boxes(fractions, seed))
        run_local(query, place, plan=plan)
        rows = upserts(place, "g")
        assert len(rows) == REPEATS * len(truth)
        for (_, group), row in sorted(rows.items()):
            for name, errors in found.items():
                true, low, high = truth[group][name], row[f"{name}_low"], row[f"{name}_high"]
                covers = None if low is None else low <= true <= high
                errors.append((row[name] / true - 1, covers))
    for name, errors in found.items():
        covering = [covers for _, covers in errors if covers is not None]
        assert len(covering) > 0.75 * len(errors), name
        assert 0.92 <= np.mean(covering) <= 0.98, name
        # The groups of a block share tuples; the blocks are what is independent.
        means = np.array([error for error, _ in errors]).reshape(RUNS * REPEATS, -1).mean(axis=1)
        assert abs(means.mean()) < 3 * means.std() / sqrt(len(means)), name


# ── whatever the plan ─────────────────────────────────────────────────────────────────────────────

SLIDING = """
SELECT a.g, COUNT(*) AS n, SUM(c.x) AS s, AVG(b.x * c.x) AS m, COUNT(b.x) AS c, MAX(b.x) AS top
FROM a [RANGE 20 SECONDS], b [RANGE 15 SECONDS SLIDE 5 SECONDS], c [UNBOUNDED]
WHERE a.k = b.k AND b.j = c.j GROUP BY a.g EVERY 5 SECONDS
"""
FRACTIONS = {"a": 0.8, "b": 0.7}


def assert_alike(found: Told, wanted: Told) -> None:
    """The same groups at the same times; ends of intervals have few digits."""
    assert found.keys() == wanted.keys()
    for group, row in found.items():
        for name, value in row.items():
            is_end = name.endswith(("_low", "_high"))
            rel = 3e-6 if is_end else 1e-9
            is_float = isinstance(value, float)
            same = pytest.approx(wanted[group][name], rel=rel) if is_float else wanted[group][name]
            assert value == same, (group, name)


@pytest.mark.parametrize("window", ["sliding", "blocks"])
def test_all_plans_estimate_the_same(window: str, tmp_path: Path) -> None:
    data = Data(120, files=5, keys=16)
    select = SLIDING
    if window == "blocks":
        select = SETTINGS["three streams, one key"][1]
    query = parse(data.write(tmp_path / "in") + select)
    late = Place(tmp_path / "late")
    run_local(query, late, plan=replace(planned(query), drops=boxes(FRACTIONS, 1)))
    wanted = upserts(late, "g")
    assert sum(row["n_low"] is not None for row in wanted.values()) > 5
    for number in range(2, 8):
        place = Place(tmp_path / str(number))
        plan = replace(some_plan(query, number), drops=boxes(FRACTIONS, 1))
        run_local(query, place, plan=plan, partitions=1 + number % 3)
        assert_alike(upserts(place, "g"), wanted)


@pytest.mark.parametrize("seed", range(24))
def test_any_view_is_estimated_alike_by_any_plan(seed: int, tmp_path: Path) -> None:
    """Nulls, NaN, text, tables, all windows; shedding begins, changes and ends at restarts."""
    rng = Random(f"estimates {seed}")
    query = write_case(random_view(seed), tmp_path / "in")
    fractions = [{a: rng.choice((0.3, 0.6, 0.9)) for a in query.aliases} for _ in range(2)]
    phases = [NO_DROPS, boxes(fractions[0], seed), boxes(fractions[1], seed), NO_DROPS]
    found = []
    for number in range(2):
        place = Place(tmp_path / str(number))
        for files, drops in enumerate(phases, start=1):
            plan = some_plan(query, rng.randrange(20)) if number else planned(query)
            with first_files_only(query, files):
                plan = replace(plan, drops=drops)
                run_local(query, place, plan=plan, drain=False, partitions=1 + number)
        run_local(query, place, plan=planned(query))
        found.append(Counter(tuple(_short(v) for v in row.values()) for row in told(place)))
    assert found[0] == found[1]


def _short(value: object) -> object:
    return f"{value:.5g}" if isinstance(value, float) else value


def test_what_does_not_change_is_not_told_again(tmp_path: Path) -> None:
    """However often the sums of a group are folded anew."""
    data = Data(60, files=2, keys=4)
    declared = data.write(tmp_path / "in")
    rng = np.random.default_rng(1)
    for number in range(2, 14):
        for name in "ab":
            # Tuples that meet nothing, and groups that are far away.
            rows: dict[str, Any] = {
                "ts": [10 * number, 10 * number + 1],
                "k": [-1, -2 if name == "a" else -3],
            }
            rows |= {"j": [0, 0], "g": [7, 7], "x": rng.random(2)}
            table = pa.table(rows).cast(SCHEMA)
            pq.write_table(table, tmp_path / "in" / name / f"{number:04}.parquet")
    query = parse(
        declared + f"SELECT a.g, {AGGREGATES} FROM a [UNBOUNDED], b [UNBOUNDED] "
        "WHERE a.k = b.k AND a.k >= 0 GROUP BY a.g EVERY 10 SECONDS"
    )
    for number, early in enumerate(((), ("a", "b"))):
        place = Place(tmp_path / str(number))
        plan = replace(planned(query), early=early, drops=boxes({"a": 0.7, "b": 0.6}, 4))
        reports = run_local(query, place, plan=plan)
        assert len(reports) > 12
        times = [row["_time"].minute * 60 + row["_time"].second for row in told(place)]
        assert max(times) == 20


# ── weights that change ───────────────────────────────────────────────────────────────────────────

COUNTED = """
SELECT COUNT(*) AS n, SUM(b.x) AS s, AVG(a.x) AS m, COUNT(*) * 2 AS twice
FROM a [RANGE 35 SECONDS], b [RANGE 35 SECONDS] WHERE a.k = b.k EVERY 10 SECONDS
"""
PHASES = (
    NO_DROPS,
    boxes({"a": 0.6}, 1),
    boxes({"a": 0.4, "b": 0.7}, 2),
    boxes({"b": 0.5}, 3),
    NO_DROPS,
    NO_DROPS,
    NO_DROPS,
    NO_DROPS,
    NO_DROPS,
)


def kept_of(folder: Path, alias: str, phases: Sequence[DropBoxes]) -> list[dict[str, Any]]:
    """The kept tuples of a stream of which each phase brings a file, with their weights."""
    rows = []
    for number, drops in enumerate(phases):
        found = pq.read_table(folder / alias / f"{number:04}.parquet").to_pylist()
        arrivals = (number << 36) + np.arange(len(found))
        kept = keeps(drops.seed, alias, arrivals, drops.fraction(alias))
        weight = 1 / drops.fraction(alias)
        rows += [row | {"w": weight} for row, keep in zip(found, kept, strict=True) if keep]
    return rows


def by_hand(folder: Path, phases: Sequence[DropBoxes]) -> dict[int, tuple[float, float, float]]:
    """COUNT, SUM and AVG at each tick, from all pairs."""
    a, b = (kept_of(folder, alias, phases) for alias in "ab")
    found = {}
    for tick in range(10, 10 * len(phases), 10):
        alive = [[r for r in rows if tick - 35 <= r["ts"] <= tick] for rows in (a, b)]
        pairs = [(r, s, r["w"] * s["w"]) for r, s in product(*alive) if r["k"] == s["k"]]
        n = sum(w for _, _, w in pairs)
        sums = sum(s["x"] * w for _, s, w in pairs), sum(r["x"] * w for r, _, w in pairs)
        found[tick] = n, sums[0], sums[1] / n
    return found


def assert_as_by_hand(place: Place, folder: Path) -> None:
    wanted = by_hand(folder, PHASES)
    rows = {int(row["_time"].timestamp()): row for row in told(place)}
    for tick, (n, s, m) in wanted.items():
        assert rows[tick]["n"] == floor(n + 0.5 + 1e-9)
        assert (rows[tick]["s"], rows[tick]["m"]) == pytest.approx((s, m), rel=1e-9)
        assert rows[tick]["twice"] == 2 * rows[tick]["n"]
    # The interval is there when tuples are shed, and shrinks to a point when all of them are gone.
    widths = {tick: row["n_high"] - row["n_low"] for tick, row in rows.items() if row.get("n_low")}
    assert min(widths[tick] for tick in (40, 50, 60)) > 0
    assert widths[80] == 0


@pytest.mark.parametrize("early", [(), ("a",), ("a", "b")], ids=["late", "one", "both"])
def test_tuples_keep_the_weight_of_their_arrival(early: tuple[str, ...], tmp_path: Path) -> None:
    query = parse(Data(60, files=len(PHASES), keys=8, names="ab").write(tmp_path / "in") + COUNTED)
    place = Place(tmp_path)
    plans = [replace(planned(query), drops=drops, early=early) for drops in PHASES]
    later = iter([*plans[1:], plans[-1]])
    run = open_run(
        plans[0],
        RunOptions(
            sink=place.sink,
            checkpoint=str(place.checkpoint),
            report=lambda report: run.replan(next(later, plans[-1])),
        ),
    )
    run.available_now()
    assert_as_by_hand(place, tmp_path / "in")


@pytest.mark.parametrize("seed", range(3))
def test_weights_outlive_restarts_and_other_plans(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    query = parse(Data(60, files=len(PHASES), keys=8, names="ab").write(tmp_path / "in") + COUNTED)
    place = Place(tmp_path)
    for number, drops in enumerate(PHASES):
        plan = replace(some_plan(query, rng.randrange(12)), drops=drops)
        with first_files_only(query, number + 1):
            run_local(query, place, plan=plan, drain=False, partitions=2)
    assert_as_by_hand(place, tmp_path / "in")
    assert place.manifest.sampled == ("a", "b")


# ── what is shown ─────────────────────────────────────────────────────────────────────────────────

SIMPLE = f"SELECT a.g, {AGGREGATES}, MIN(a.x) AS least FROM {A}, {B} WHERE a.k = b.k GROUP BY a.g"
PLAIN_COLUMNS = ["g", "n", "s", "m", "least", "_time", "_change"]


def simple(folder: Path, select: str = SIMPLE, tuples: int = 150) -> Query:
    return parse(Data(tuples, files=2, keys=8, names="ab").write(folder / "in") + select)


def lanes_in(place: Place) -> set[str]:
    """The kinds of all lanes in a checkpoint's state."""
    store = place.store
    schemas = [pa.ipc.open_file(store.read(name)).schema for name in store.names("state")]
    return {name.partition(":")[0] for schema in schemas for name in schema.names if name[0] == "="}


def test_nothing_changes_without_shedding(tmp_path: Path) -> None:
    query, place = simple(tmp_path), Place(tmp_path)
    plan = replace(planned(query), early=("a",), drops=boxes({"b": 1.0}))
    run_local(query, place, plan=plan, drain=False)
    assert [list(row) for row in told(place)] == [PLAIN_COLUMNS] * len(told(place))
    assert lanes_in(place) <= {"=n", "=c", "=s", "=e", "=min"}
    assert place.manifest.sampled == ()


def test_exact_of_kept_gives_plain_values(tmp_path: Path) -> None:
    query, kept, estimated = simple(tmp_path), Place(tmp_path / "kept"), Place(tmp_path / "est")
    drops = boxes({"a": 0.5, "b": 0.5}, 3)
    run_local(query, estimated, plan=replace(planned(query), drops=drops))
    plain = replace(drops, estimates=False)
    run_local(query, kept, plan=replace(planned(query), drops=plain))
    wanted = upserts(estimated, "g")
    for group, row in upserts(kept, "g").items():
        assert list(row) == PLAIN_COLUMNS
        assert row["n"] * 4 == wanted[group]["n"]
        assert row["s"] * 4 == pytest.approx(wanted[group]["s"])
        assert row["m"] == pytest.approx(wanted[group]["m"])
        assert row["least"] == wanted[group]["least"]


def test_what_is_shown_may_change_at_a_restart(tmp_path: Path) -> None:
    """Weights are kept along with plain values, so that estimates can go on from them."""
    query = simple(
        tmp_path, COUNTED.replace("AVG(a.x) AS m, COUNT(*) * 2 AS twice", "MIN(a.x) AS l")
    )
    whole, changed = Place(tmp_path / "whole"), Place(tmp_path / "changed")
    plan = replace(planned(query), drops=boxes({"a": 0.5}, 3))
    run_local(query, whole, plan=plan)
    plain = replace(plan, drops=replace(plan.drops, estimates=False))
    with first_files_only(query, 1):
        run_local(query, changed, plan=plain, drain=False)
    run_local(query, changed, plan=plan)
    found, wanted = upserts(changed), upserts(whole)
    assert found.keys() == wanted.keys()
    later = {group for group, row in found.items() if row["_time"].timestamp() >= 10}
    assert_alike({group: found[group] for group in later}, {g: wanted[g] for g in later})
    assert {"n_low" in row for group, row in found.items() if group not in later} == {False}


MAY_SHED: dict[str, Any] = {"delay": Duration.of_seconds(5)}
"""The options of a run that may shed by itself."""
END_COLUMNS = ["g", "n", "n_low", "n_high", "s", "s_low", "s_high", "m", "m_low", "m_high"]


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_who_may_shed_has_intervals_from_the_first_batch_on(kind: str, tmp_path: Path) -> None:
    """As long as nothing is shed they are the values, and cost no lanes."""
    query, plain, place = simple(tmp_path), Place(tmp_path / "plain"), Place(tmp_path, kind)
    run_local(query, plain)
    run_local(query, place, **MAY_SHED)
    if kind == "jsonl":
        lines = (tmp_path / "results.jsonl").read_text().splitlines()
        found = sorted((json.loads(line) for line in lines), key=lambda row: str(row["_time"]))
    else:
        found = told(place)
    assert len(found) == len(told(plain)) > 0
    assert [list(row)[:10] for row in found] == [END_COLUMNS] * len(found)
    for row, name in product(found, "nsm"):
        assert row[f"{name}_low"] == row[f"{name}_high"] == row[name]
    assert sorted(row["n"] for row in found) == sorted(row["n"] for row in told(plain))
    assert lanes_in(place) <= {"=n", "=c", "=s", "=e", "=min"}
    assert place.manifest.sampled == ()


def test_columns_stay_while_boxes_come_and_go(tmp_path: Path) -> None:
    """Before, while and after it sheds, and in a later run that may not shed."""
    data = Data(150, files=4, keys=8, names="ab").write(tmp_path / "in")
    query, place, whole = parse(data + SIMPLE), Place(tmp_path), Place(tmp_path / "whole")
    shedding = replace(planned(query), drops=boxes({"a": 0.5}, 3))
    for files, plan, more in ((1, None, MAY_SHED), (2, shedding, MAY_SHED), (3, None, {})):
        with first_files_only(query, files):
            run_local(query, place, plan=plan, drain=False, **more)
    run_local(query, place)
    schemas = {tuple(row) for row in told(place)}
    assert len(schemas) == 1
    run_local(query, whole)
    unshed = [row for row in upserts(place, "g").values() if row["n_low"] == row["n_high"]]
    wanted = {(row["_time"], row["g"]): row["n"] for row in told(whole)}
    assert unshed
    assert all(row["n"] == wanted[row["_time"], row["g"]] for row in unshed)


def test_intervals_of_nothing_are_null(tmp_path: Path) -> None:
    select = "SELECT COUNT(*) AS n, SUM(a.x) AS s FROM a [NOW] WHERE a.k > 99 EVERY 5 SECONDS"
    query, place = simple(tmp_path, select), Place(tmp_path)
    run_local(query, place, **MAY_SHED)
    row = told(place)[0]
    assert (row["n"], row["n_low"], row["n_high"]) == (0, 0.0, 0.0)
    assert row["s"] is row["s_low"] is row["s_high"] is None


@pytest.mark.spark
@pytest.mark.slow
def test_spark_shows_totals_from_the_first_kept_tuple_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    assert_totals_begin_with_what_is_kept(tmp_path, partial(run_spark, spark))


def test_totals_are_shown_from_the_first_kept_tuple_on(tmp_path: Path) -> None:
    """A shed tuple was never there."""
    assert_totals_begin_with_what_is_kept(tmp_path, run_local)


def assert_totals_begin_with_what_is_kept(folder: Path, run: Runner) -> None:
    query = simple(folder, "SELECT COUNT(*) AS n FROM a [RANGE 5 SECONDS] EVERY 1 SECOND", 40)
    place, every = Place(folder), (boxes({"a": 0.1}, seed) for seed in range(99))
    begun = ((drops, kept_of(folder / "in", "a", [drops])) for drops in every)
    begin, drops = next((kept[0]["ts"], d) for d, kept in begun if kept and kept[0]["ts"] > 1)
    run(query, place, plan=replace(planned(query), drops=drops))
    row = told(place)[0]
    assert row["_time"].timestamp() == begin
    assert row["n"] > 0


def test_plain_values_have_no_intervals_though_it_may_shed(tmp_path: Path) -> None:
    query, place = simple(tmp_path), Place(tmp_path)
    plan = replace(planned(query), drops=boxes({}, estimates=False))
    run_local(query, place, plan=plan, **MAY_SHED)
    assert {tuple(row) for row in told(place)} == {tuple(PLAIN_COLUMNS)}


def test_a_group_of_one_or_two_kept_tuples_has_no_interval(tmp_path: Path) -> None:
    """By each shed input: of b there are enough, of a there are not."""
    query, place = simple(tmp_path, tuples=6), Place(tmp_path)
    run_local(query, place, plan=replace(planned(query), drops=boxes({"a": 0.15, "b": 0.9}, 3)))
    kept = kept_of(tmp_path / "in", "a", [boxes({"a": 0.15}, 3)] * 2)
    assert 0 < len(kept) <= 5
    rows = upserts(place, "g")
    assert rows
    for row in rows.values():
        assert row["n"] > 0
        assert {row[f"{name}_{end}"] for name in "nsm" for end in ("low", "high")} == {None}


def test_having_goes_by_estimates(tmp_path: Path) -> None:
    query, every = simple(tmp_path), Place(tmp_path / "all")
    drops = boxes({"a": 0.5, "b": 0.5}, 3)
    run_local(query, every, plan=replace(planned(query), drops=drops))
    counts = sorted(row["n"] for row in upserts(every, "g").values())
    select = SIMPLE + f" HAVING COUNT(*) >= {counts[2]}"
    query, some = parse(query.text.replace(SIMPLE, select)), Place(tmp_path / "some")
    run_local(query, some, plan=replace(planned(query), drops=drops))
    assert sorted(row["n"] for row in upserts(some, "g").values()) == counts[2:]


def test_rows_windows_weigh_one(tmp_path: Path) -> None:
    inputs = "a [ROWS 50], b [RANGE 10 SECONDS]"
    query = simple(tmp_path, f"SELECT COUNT(*) AS n FROM {inputs} WHERE a.k = b.k EVERY 5 SECONDS")
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, fractions, estimates in (
        ("rows", {"a": 0.5}, True),
        ("both", {"a": 0.5, "b": 0.4}, True),
        ("kept", {"a": 0.5, "b": 0.4}, False),
    ):
        place = Place(tmp_path / name)
        for count in (1, 2):
            with first_files_only(query, count):
                drops = boxes(fractions, 5, estimates=estimates)
                run_local(query, place, plan=replace(planned(query), drops=drops), drain=False)
        rows[name] = told(place)
    assert list(rows["rows"][0]) == ["n", "_time", "_change"]
    assert len(rows["both"]) == len(rows["kept"]) > 3
    for both, kept in zip(rows["both"], rows["kept"], strict=True):
        assert both["n"] == floor(kept["n"] / 0.4 + 0.5)


def test_columns_of_the_query_itself_come_first() -> None:
    declared = STREAM.format(name="a", folder="x")
    select = (
        "SELECT COUNT(*) AS n, MAX(a.x) AS N_Low, SUM(a.x) AS s, SUM(a.x) + 1 AS t FROM a [NOW]"
    )
    query = with_intervals(parse(declared + select))
    assert [output.name for output in query.results] == ["n", "N_Low", "s", "s_low", "s_high", "t"]


def test_the_live_table_shows_intervals() -> None:
    view = LiveView(
        parse(STREAM.format(name="a", folder="x") + "SELECT COUNT(*) AS n FROM a [NOW]")
    )

    def names() -> list[object]:
        table: Any = view.table(50).renderables[0]
        return [column.header for column in table.columns]

    row = {"n": 5, "_time": "1970-01-01T00:00:01Z", "_change": "upsert"}
    view.tell(json.dumps(row))
    assert names() == ["n"]
    view.tell(json.dumps(row | {"n_low": 2.5, "n_high": None}))
    assert names() == ["n", "n_low", "n_high"]


@pytest.mark.parametrize("is_exact", [False, True])
def test_the_command_line_says_and_shows_it(is_exact: bool, tmp_path: Path) -> None:
    script = tmp_path / "query.cql"
    script.write_text(simple(tmp_path).text)
    stats = tmp_path / "stats.toml"
    stats.write_text("capacity = 0.001\n[streams.a]\nrate = 1000\n[streams.b]\nrate = 1000\n")
    planned_by = ["--stats", str(stats), "--shed", *(["--exact-of-kept"] if is_exact else [])]
    explained = CliRunner().invoke(app, ["explain", str(script), *planned_by]).stdout
    output = f"jsonl:{tmp_path / 'out'}"
    options = ["--engine", "local", "--available-now", "--drain", "--sink", output]
    done = CliRunner().invoke(app, ["run", str(script), *planned_by, *options])
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    if is_exact:
        assert "note    the view has the plain values of what is kept: " in explained
        assert "note: the view has the plain values of what is kept: " in done.stderr
        assert list(rows[0]) == PLAIN_COLUMNS
    else:
        assert "note    the view is an estimate from " in explained
        assert "note: the view is an estimate from " in done.stderr
        assert "note    MIN and MAX are of the kept tuples" in explained
        assert "output  g, n, n_low, n_high, s, s_low, s_high, m, m_low, m_high, least" in explained
        assert list(rows[0])[:4] == ["g", "n", "n_low", "n_high"]


def test_intervals_are_spoken_of_only_where_there_are_some() -> None:
    query = parse(STREAM.format(name="a", folder="x") + "SELECT COUNT(*) / 2 AS h FROM a [NOW]")
    plan = replace(planned(query), drops=boxes({"a": 0.5}))
    assert list(sample_notes(plan)) == ["the view is an estimate from 50 % of a"]


def test_the_face_for_python_has_the_choice(tmp_path: Path) -> None:
    text = simple(tmp_path).text
    for is_exact in (False, True):
        query = ps.sql(text, capacity=1e-4, shed=True, exact_of_kept=is_exact)
        assert query.plan.drops.kept
        assert query.plan.drops.estimates is not is_exact


def test_explain_says_that_rows_windows_are_recomputed() -> None:
    declared = STREAM.format(name="a", folder="x")
    text = ps.sql(declared + "SELECT COUNT(*) AS n FROM a [ROWS 5]").explain()
    assert "is recomputed from the whole windows at each evaluation" in text


@pytest.mark.spark
@pytest.mark.slow
def test_spark_estimates_the_same(spark: SparkSession, tmp_path: Path) -> None:
    query, local, there = simple(tmp_path), Place(tmp_path / "local"), Place(tmp_path / "spark")
    plan = replace(planned(query), early=("b",), drops=boxes({"a": 0.8, "b": 0.6}, 7))
    run_local(query, local, plan=plan)
    run_spark(spark, query, there, plan=plan)
    assert_alike(upserts(there, "g"), upserts(local, "g"))
    assert any(row["n_low"] is not None for row in upserts(there, "g").values())


@pytest.mark.spark
@pytest.mark.slow
def test_spark_has_intervals_from_the_first_batch_on(spark: SparkSession, tmp_path: Path) -> None:
    query, local, there = simple(tmp_path), Place(tmp_path / "local"), Place(tmp_path / "spark")
    run_local(query, local, **MAY_SHED)
    with first_files_only(query, 1):
        run_spark(spark, query, there, drain=False, **MAY_SHED)
    run_spark(spark, query, there, **MAY_SHED)
    assert [list(row)[:10] for row in told(there)] == [END_COLUMNS] * len(told(there))
    assert_alike(upserts(there, "g"), upserts(local, "g"))
