"""The figures of a comparison for programs: medians over the runs, and ratios of them."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

from penstock.bench.contest import MASTER
from penstock.bench.joins.comparison import Outcome, Runs
from penstock.bench.measurement import WARM_UP, Measurement


def document(outcome: Outcome) -> dict[str, Any]:
    """All figures; Spark's own joins are credited with the better format for each by itself."""
    penstock = _figures(outcome.penstock)
    native = _better(outcome.native)
    whole, steady = "tuples_per_s", "steady_tuples_per_s"
    made: dict[str, Any] = {
        "penstock": penstock,
        "spark_native": native,
        "ratio_vs_spark_native": _ratio(penstock[whole], native[whole]),
        "steady_ratio_vs_spark_native": _ratio(penstock[steady], native[steady]),
    }
    if outcome.flink:
        made["flink"] = _figures(outcome.flink)
        made["ratio_vs_flink"] = _ratio(penstock[whole], made["flink"][whole])
    return {**made, "absent": dict(outcome.absent), "setting": _setting(outcome)}


def _figures(runs: Sequence[Measurement]) -> dict[str, Any]:
    return {
        "tuples_per_s": _median(run.tuples_per_s for run in runs),
        "steady_tuples_per_s": _median(run.steady_tuples_per_s for run in runs),
        "state_tuples": _median(run.state_tuples for run in runs),
        "results": runs[0].results,
        "tuples": runs[0].tuples,
        "runs": [_run(run) for run in runs],
    }


def _run(run: Measurement) -> dict[str, Any]:
    return {
        "seconds": round(run.seconds, 3),
        "tuples_per_s": round(run.tuples_per_s),
        "trigger_s": [batch.trigger for batch in run.batches],
    }


def _better(by_format: Runs) -> dict[str, Any]:
    figures = {name: _figures(runs) for name, runs in by_format.items()}
    best = max(figures, key=lambda name: float(figures[name]["tuples_per_s"]))
    steady = max(figures.values(), key=lambda found: found["steady_tuples_per_s"] or 0)
    credited = {
        **figures[best],
        "steady_tuples_per_s": steady["steady_tuples_per_s"],
        "state_format": best,
    }
    del credited["runs"]
    return {**credited, "formats": figures}


def _median(values: Iterable[float | None]) -> int | None:
    known = [value for value in values if value is not None]
    return round(statistics.median(known)) if known else None


def _ratio(one: int | None, other: int | None) -> float | None:
    return round(one / other, 2) if one and other else None


def _setting(outcome: Outcome) -> dict[str, Any]:
    workload = outcome.workload
    return {
        "workload": workload.name,
        "seconds": workload.seconds,
        "rival_seconds": outcome.rival_seconds,
        "repeat": len(outcome.penstock),
        "warm_up_batches": WARM_UP,
        "master": MASTER,
        "cores": os.cpu_count(),
        "versions": {name: version(name) for name in ("penstock", "pyspark", "pyarrow", "numpy")},
    }
