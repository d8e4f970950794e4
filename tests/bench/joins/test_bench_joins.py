"""The benchmark of joins: ratios, tables, rivals and the kernel."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.bench.joins.comparison import Outcome, Size, compare
from penstock.bench.joins.figures import document
from penstock.bench.joins.flink import find_flink
from penstock.bench.joins.flink_job import insert
from penstock.bench.joins.kernel import kernel_benchmark
from penstock.bench.joins.latency import times
from penstock.bench.joins.long_window import long_window_benchmark
from penstock.bench.joins.text import comparison_text, kernel_text, latency_text, long_window_text
from penstock.bench.measurement import WARM_UP, BatchTime, Measurement
from penstock.bench.workload import JOIN3
from penstock.duration import MICROS

TINY = replace(JOIN3, rate=60, distinct=150, seconds=6, window=2, step=MICROS)


def ignore(_: str) -> None:
    """Progress that nobody watches."""


def measurement(whole: float, *triggers: float, state: int = 10) -> Measurement:
    """A run of batches of 100 tuples."""
    batches = tuple(BatchTime(100, trigger) for trigger in triggers)
    return Measurement(whole, 100 * len(batches), batches, results=7, state_tuples=state)


# Figures


def test_steady_leaves_out_the_warm_up() -> None:
    run = measurement(100.0, *[9.0] * WARM_UP, 0.5, 0.5)
    assert run.steady_tuples_per_s == 200
    assert run.tuples_per_s == (WARM_UP + 2) * 100 / 100
    assert measurement(1.0, 1.0).steady_tuples_per_s is None


def outcome() -> Outcome:
    """Three runs of each: one state format is better over the whole run, the other when steady."""
    warm = [1.0] * WARM_UP
    return Outcome(
        replace(JOIN3, seconds=30),
        30,
        penstock=[measurement(w, *warm, s) for w, s in ((1.0, 0.1), (1.25, 0.2), (50.0, 9.0))],
        native={
            "hdfs-v2": [measurement(5.0, *warm, 1.0, state=40)] * 3,
            "rocksdb-v4": [measurement(10.0, *warm, 0.8, state=30)] * 3,
        },
        absent={"flink": "not here"},
    )


def test_ratios_are_of_medians_and_against_the_better_format_for_each_figure() -> None:
    made = document(outcome())
    assert made["penstock"]["tuples_per_s"] == 400
    assert made["penstock"]["steady_tuples_per_s"] == 500
    native = made["spark_native"]
    assert (native["tuples_per_s"], native["state_format"]) == (100, "hdfs-v2")
    assert native["steady_tuples_per_s"] == 125
    assert native["state_tuples"] == 40
    assert made["ratio_vs_spark_native"] == 4.0
    assert made["steady_ratio_vs_spark_native"] == 4.0


def test_the_table_shows_every_rival_and_the_ratios() -> None:
    lines = comparison_text(document(outcome())).splitlines()
    assert lines == [
        "join3: 30 s of event time; local[2], median of 3 runs; "
        "steady leaves out the first 4 batches",
        "",
        "rival                     tuples  tuples/s  steady tuples/s  peak state  results",
        "────────────────────────  ──────  ────────  ───────────────  ──────────  ───────",
        "penstock                     500       400              500          10        7",
        "spark_native, hdfs-v2        500       100              100          40        7",
        "spark_native, rocksdb-v4     500        50              125          30        7",
        "",
        "flink: not here",
        "penstock / spark_native: 4.00× whole run, 4.00× steady (the better format for each)",
    ]


def test_flink_is_shown_without_what_it_does_not_tell() -> None:
    made = document(replace(outcome(), flink=[Measurement(2.0, 500)], absent={}))
    assert made["ratio_vs_flink"] == 1.6
    row = next(line for line in comparison_text(made).splitlines() if line.startswith("flink"))
    assert row.split() == ["flink", "500", "250", "–", "–", "–"]


def test_latency_is_shown_as_median_and_percentile() -> None:
    batches = tuple(BatchTime(30_000, 0.4 + n / 100, 0.2 + n / 100) for n in range(11))
    made = {"join3": times(batches, warm_up=20)}
    assert made["join3"]["inside_median_s"] == 0.25
    assert made["join3"]["trigger_p90_s"] == 0.49
    assert "0.250 / 0.290 s   0.450 / 0.490 s" in latency_text(made)


def test_the_flink_query_has_every_pair_within_the_window() -> None:
    text = insert({"keys": ["k"], "equalities": [["A.k", "B.k"]], "window": 10})
    assert "A.k = B.k AND A.ts BETWEEN B.ts - INTERVAL '10' SECOND(2)" in text
    assert text.count("BETWEEN") == 3


def test_an_interpreter_that_is_not_there_has_no_flink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_FLINK_PYTHON", "/nowhere/python")
    assert find_flink() != "/nowhere/python"


# Small benchmarks in one process


def test_a_long_window_has_the_same_results_however_it_came(tmp_path: Path) -> None:
    made = long_window_benchmark(30, tmp_path, ignore, tail=5)
    assert made["results"]["many"] == made["results"]["ten"] > 0
    assert made["state_tuples"]["many"] == made["state_tuples"]["ten"] == 9_000
    assert made["batches"] == {"many": 30, "ten": 15}
    assert made["chunks"]["ten"] >= 10
    assert "30 batches" in long_window_text(made)


def test_the_kernel_table_has_a_line_for_each_growth() -> None:
    lines = kernel_text(kernel_benchmark(2, 800, 1, 800, repeats=1)).splitlines()
    assert [line.split()[:2] for line in lines[4:]] == [
        [what, f"×{factor}"] for what in ("rate", "window") for factor in (1, 2, 4, 8)
    ]


@pytest.mark.spark
@pytest.mark.slow
def test_join3_compares_rivals_in_processes_of_their_own(tmp_path: Path) -> None:
    formats = ("rocksdb-v4",)
    size = Size(seconds=5, rival_seconds=5, repeat=1, with_flink=False, formats=formats)
    made = json.loads(json.dumps(document(compare(TINY, size, tmp_path, ignore))))
    assert {
        "penstock",
        "spark_native",
        "ratio_vs_spark_native",
        "steady_ratio_vs_spark_native",
    } <= set(made)
    for rival in ("penstock", "spark_native"):
        for figure in ("tuples_per_s", "steady_tuples_per_s", "state_tuples", "results"):
            assert made[rival][figure] > 0, (rival, figure)
    assert made["penstock"]["tuples"] == made["spark_native"]["tuples"] == 3 * 60 * 5
    found = made["spark_native"]["formats"]
    assert tuple(found) == formats
    assert found["rocksdb-v4"]["results"] == made["penstock"]["results"]
    assert made["absent"] == {"flink": "left out of the quick size"}
