"""The benchmark of aggregation-join queries: data, answers, rivals' equality, figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from typer.testing import CliRunner

from penstock.bench.aggjoin.data import Answer, ensure_streams, expected, link_seconds
from penstock.bench.aggjoin.figures import figures_of
from penstock.bench.aggjoin.rivals import Entry, Finish, Rival, answer_in, native_view, run_entries
from penstock.bench.aggjoin.run import (
    QUICK,
    THREE_STREAMS,
    TWO_STREAMS,
    Outcome,
    Slot,
    prefix_of,
    run_aggjoin,
)
from penstock.bench.aggjoin.text import aggjoin_text
from penstock.bench.aggjoin.workload import AggJoin, Kind
from penstock.bench.data import read_stream
from penstock.bench.measurement import Measurement
from penstock.cli.main import app
from penstock.cql import parse
from penstock.duration import MICROS
from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import parquet
from penstock.errors import PenstockError
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.query import TimeWindow
from penstock.query.window import is_tumble
from penstock.stats.guess import complete

KINDS: tuple[Kind, ...] = get_args(Kind)
TINY = AggJoin(keys=20, groups=5, rate=150, seconds=13, batch=4)
TINY3 = replace(TINY, keys=40, rate=100, streams=("A", "B", "C"))
WORKLOADS = [TINY, TINY3]
ALL = TWO_STREAMS | THREE_STREAMS


def name_of(workload: AggJoin) -> str:
    return "".join(workload.streams)


def ignore(_: str) -> None:
    """Progress that nobody watches."""


# Workloads and data


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workload", ALL.values(), ids=ALL)
def test_workloads_are_those_that_were_agreed(workload: AggJoin, kind: Kind) -> None:
    assert (workload.rate, workload.seconds, workload.groups) == (20_000, 60, 100)
    query = parse(workload.cql(Path("it's here"), kind))
    for item in query.inputs:
        assert isinstance(item.window, TimeWindow)
        assert is_tumble(item.window) == (kind == "tumbling")
        assert item.source.option("max_files") == 31
    assert query.view is not None
    assert query.view.every == (10 if kind == "tumbling" else 1) * MICROS
    assert [output.name for output in query.results] == ["g", "n", "total"]
    assert len(query.equalities) == len(workload.streams) - 1


def test_matches_are_about_100_and_1000_a_tuple() -> None:
    matches = [workload.matches("tumbling") for workload in ALL.values()]
    assert np.allclose(matches, [100, 1_000] * 2, rtol=0.001)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workload", WORKLOADS, ids=name_of)
def test_join_results_are_as_many_as_expected(
    workload: AggJoin, kind: Kind, tmp_path: Path
) -> None:
    folder = ensure_streams(workload, tmp_path)
    streams = [[*read_stream(folder, alias)][:-1] for alias in workload.streams]
    rows = [
        [(r["k"], r["ts"].timestamp()) for table in tables for r in table.to_pylist()]
        for tables in streams
    ]
    count = 0
    for key in range(workload.keys):
        times = [np.array([ts for k, ts in each if k == key]) for each in rows]
        grid = np.meshgrid(*times, indexing="ij")
        low, high = np.minimum.reduce(grid), np.maximum.reduce(grid)
        near = high - low <= 10 if kind == "sliding" else low // 10 == high // 10
        count += int(near.sum())
    assert count == pytest.approx(workload.join_results(kind), rel=0.1)


def test_the_state_bound_is_the_windows_and_what_can_be_told_apart() -> None:
    workload = ALL["keys_1000"]
    assert workload.state_bound("tumbling") == 101_000 + 200
    assert workload.state_bound("sliding") == 400_000 + 100_000 + 1_000 + 1_100


def test_a_prefix_ends_before_there_are_too_many_results() -> None:
    workload = ALL["keys_1000"]
    assert prefix_of(workload, "tumbling", 1e12) == workload
    # The first block has 4e7 results, a second more of the next one (2e4)²/1e3.
    assert prefix_of(workload, "tumbling", 4.1e7).seconds == 11
    assert prefix_of(workload, "sliding", 4e7).seconds == 10
    assert prefix_of(workload, "sliding", 1).seconds == 1


def test_a_prefix_has_the_first_seconds_and_the_closing_tuple(tmp_path: Path) -> None:
    folder = ensure_streams(TINY, tmp_path / "all")
    prefix = link_seconds(replace(TINY, seconds=2), folder, tmp_path / "prefix")
    for alias in TINY.streams:
        first, second, closing = read_stream(prefix, alias)
        assert [first, second] == [*read_stream(folder, alias)][:2]
        assert closing["k"].to_pylist()[0] < 0


# Answers


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "workload", [*WORKLOADS, replace(TINY, seconds=2, rate=900)], ids=["AB", "ABC", "prefix"]
)
def test_the_chosen_plan_and_the_late_one_give_the_expected_answer(
    workload: AggJoin, kind: Kind, tmp_path: Path
) -> None:
    folder = ensure_streams(workload, tmp_path)
    query = parse(workload.cql(folder, kind))
    known = complete(query, workload.statistics(query))
    wanted = expected(workload, folder, kind)
    assert wanted.count > 10_000
    for off in (frozenset[str](), frozenset({"early-aggregation"})):
        plan = decide(known, PlanOptions(off=off)).plan
        assert bool(plan.early) == (not off)
        place = tmp_path / ("late" if off else "early")
        run = open_run(
            plan, RunOptions(sink=parquet(place / "results"), checkpoint=str(place / "state"))
        )
        run.available_now()
        assert answer_in(str(place / "results")) == wanted


@pytest.mark.spark
@pytest.mark.parametrize("workload", WORKLOADS, ids=name_of)
def test_spark_itself_gives_the_same_answer(workload: AggJoin, spark: Any, tmp_path: Path) -> None:
    short = replace(workload, seconds=12)
    folder = ensure_streams(short, tmp_path)
    view = native_view(spark, short, folder)
    writer = view.writeStream.format("parquet").option("path", str(tmp_path / "results"))
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    assert answer_in(str(tmp_path / "results")) == expected(short, folder, "tumbling")


# Figures


def outcome(seconds: dict[str, float]) -> Outcome:
    """Runs of 1,000 tuples that took so long, on both kinds of windows."""
    rivals: dict[str, Rival] = {"penstock": "penstock", "late": "late"}
    runs = []
    for case, workload in QUICK.cases.items():
        for name, spent in seconds.items():
            rival = rivals.get(name, "spark_native")
            for kind in KINDS if rival != "spark_native" else KINDS[:1]:
                slot = Slot(case, name, Entry(rival, workload, kind, Path()), {})
                factor = 2 if kind == "sliding" else 1
                state = 10 * factor
                runs.append((slot, [Measurement(spent * factor, 1_000, state_tuples=state)] * 3))
    return Outcome(replace(QUICK, repeat=3), runs)


SPENT = {"penstock": 1.0, "late": 20.0, "hdfs-v2": 10.0, "rocksdb-v4": 8.0}


def test_figures_have_the_names_that_were_agreed_and_the_worse_of_both_windows() -> None:
    made = json.loads(json.dumps(figures_of(outcome(SPENT)).document()))
    assert list(made) == ["keys_1000", "keys_100", "setting"]
    found = made["keys_100"]
    assert list(found)[:4] == ["ratio_vs_spark_native", "ratio_vs_late", "tuples_per_s", "state"]
    assert found["ratio_vs_spark_native"] == 8.0
    assert found["ratio_vs_late"] == 20.0
    assert found["tuples_per_s"] == 500
    assert found["state"] == 20
    assert found["tumbling"]["spark_native"]["state_format"] == "rocksdb-v4"
    assert found["tumbling"]["late"]["join_results_per_s"] == round(2.4e9 / 20)
    assert found["tumbling"]["penstock"]["join_results_per_s"] is None


def test_the_text_has_a_row_for_each_rival_and_says_what_is_compared() -> None:
    text = aggjoin_text(figures_of(outcome(SPENT)))
    rows = [line.rsplit("  ", 1) for line in text.splitlines() if line.startswith("keys_100,")]
    assert [row[0].split("  ")[0] for row in rows] == [
        "keys_100, tumbling, penstock",
        "keys_100, tumbling, late plan",
        "keys_100, tumbling, Spark's own, hdfs-v2",
        "keys_100, tumbling, Spark's own, rocksdb-v4",
        "keys_100, sliding, penstock",
        "keys_100, sliding, late plan",
    ]
    assert [row[1].strip() for row in rows] == ["", "20.0×", "10.0×", "8.0×", "", "20.0×"]
    assert "Tuples/s of whole runs are compared" in text
    assert "first seconds of the data" in text


def test_the_command_knows_the_benchmark() -> None:
    shown = CliRunner().invoke(app, ["bench", "--help"]).stdout
    assert "aggjoin" in shown


@pytest.mark.spark
def test_all_rivals_run_and_their_answers_are_checked(spark: Any, tmp_path: Path) -> None:
    size = replace(
        QUICK,
        seconds=12,
        most={"late": 5e3, "spark_native": 5e3},
        cases={"keys_100": replace(TINY, batch=12)},
    )
    places = (str(tmp_path / f"session-{n}") for n in range(3))

    def here(slots: Sequence[Slot]) -> list[Finish]:
        return run_entries([slot.entry for slot in slots], spark, next(places))

    made = figures_of(run_aggjoin(size, tmp_path, ignore, here)).two_streams["keys_100"]
    assert made["tuples_per_s"] > 0
    assert made["tumbling"]["penstock"]["tuples"] == 2 * (150 * 12 + 1)
    assert made["tumbling"]["spark_native"]["event_seconds"] == 2


def test_a_wrong_answer_is_refused(tmp_path: Path) -> None:
    size = replace(QUICK, seconds=2, cases={"keys_100": TINY})

    def wrong(slots: Sequence[Slot]) -> list[Finish]:
        return [Finish(Measurement(1.0, 1), Answer(1, 2)) for _ in slots]

    with pytest.raises(PenstockError, match="gave a wrong answer: Answer"):
        run_aggjoin(size, tmp_path, ignore, wrong)
