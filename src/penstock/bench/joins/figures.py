"""The figures of a comparison for programs: medians over the runs, and ratios of them."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import NotRequired, TypedDict

from penstock.bench.contest import MASTER
from penstock.bench.joins.comparison import Outcome, Runs
from penstock.bench.measurement import WARM_UP, Measurement


class RunFigures(TypedDict):
    """One run."""

    seconds: float
    tuples_per_s: int
    trigger_s: list[float]


class RivalRates(TypedDict):
    """The medians of a rival's runs."""

    tuples_per_s: int | None
    steady_tuples_per_s: int | None
    state_tuples: int | None
    results: int | None
    tuples: int


class RivalFigures(RivalRates):
    """The medians of a rival's runs, and these."""

    runs: list[RunFigures]


class NativeFigures(RivalRates):
    """Spark's own joins with their better state format, and both formats by themselves."""

    state_format: str
    formats: dict[str, RivalFigures]


class ComparisonSetting(TypedDict):
    """The workload, and what it ran on."""

    workload: str
    seconds: int
    rival_seconds: int
    repeat: int
    warm_up_batches: int
    master: str
    cores: int | None
    versions: dict[str, str]


class ComparisonDocument(TypedDict):
    """The figures for programs."""

    penstock: RivalFigures
    spark_native: NativeFigures
    ratio_vs_spark_native: float | None
    steady_ratio_vs_spark_native: float | None
    flink: NotRequired[RivalFigures]
    ratio_vs_flink: NotRequired[float | None]
    absent: dict[str, str]
    setting: ComparisonSetting


def document(outcome: Outcome) -> ComparisonDocument:
    """All figures; Spark's own joins are credited with the better format for each by itself."""
    penstock, native = _figures(outcome.penstock), _better(outcome.native)
    made: ComparisonDocument = {
        "penstock": penstock,
        "spark_native": native,
        "ratio_vs_spark_native": _ratio(penstock["tuples_per_s"], native["tuples_per_s"]),
        "steady_ratio_vs_spark_native": _ratio(
            penstock["steady_tuples_per_s"], native["steady_tuples_per_s"]
        ),
        "absent": dict(outcome.absent),
        "setting": _setting(outcome),
    }
    if outcome.flink:
        made["flink"] = _figures(outcome.flink)
        made["ratio_vs_flink"] = _ratio(penstock["tuples_per_s"], made["flink"]["tuples_per_s"])
    return made


def _figures(runs: Sequence[Measurement]) -> RivalFigures:
    return {
        "tuples_per_s": _median(run.tuples_per_s for run in runs),
        "steady_tuples_per_s": _median(run.steady_tuples_per_s for run in runs),
        "state_tuples": _median(run.state_tuples for run in runs),
        "results": runs[0].results,
        "tuples": runs[0].tuples,
        "runs": [_run(run) for run in runs],
    }


def _run(run: Measurement) -> RunFigures:
    return {
        "seconds": round(run.seconds, 3),
        "tuples_per_s": round(run.tuples_per_s),
        "trigger_s": [batch.trigger for batch in run.batches],
    }


def _better(by_format: Runs) -> NativeFigures:
    figures = {name: _figures(runs) for name, runs in by_format.items()}
    name, best = max(figures.items(), key=lambda item: item[1]["tuples_per_s"] or 0)
    steady = max(figures.values(), key=lambda found: found["steady_tuples_per_s"] or 0)
    return {
        "tuples_per_s": best["tuples_per_s"],
        "steady_tuples_per_s": steady["steady_tuples_per_s"],
        "state_tuples": best["state_tuples"],
        "results": best["results"],
        "tuples": best["tuples"],
        "state_format": name,
        "formats": figures,
    }


def _median(values: Iterable[float | None]) -> int | None:
    known = [value for value in values if value is not None]
    return round(statistics.median(known)) if known else None


def _ratio(one: int | None, other: int | None) -> float | None:
    return round(one / other, 2) if one and other else None


def _setting(outcome: Outcome) -> ComparisonSetting:
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
