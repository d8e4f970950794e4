"""Rivals compared: the same query over the same files, run after run, and what it comes to."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from penstock.bench.contest import MASTER, Contest, run_apart
from penstock.bench.data import ensure_data, link_prefix
from penstock.bench.flink import ABSENT, FlinkError, find_flink, run_flink
from penstock.bench.measurement import WARM_UP, Measurement
from penstock.bench.native import STATE_FORMATS
from penstock.bench.workload import Workload
from penstock.errors import PenstockError

Progress = Callable[[str], None]
Runs = Mapping[str, Sequence[Measurement]]


@dataclass(frozen=True)
class Size:
    """How much is run: seconds of event time for Penstock and for its rivals, and how often.

    Rivals may be given a prefix, as long as they reach their steady state on it.
    """

    seconds: int = 60
    rival_seconds: int = 60
    repeat: int = 3
    with_flink: bool = True


QUICK = Size(seconds=60, rival_seconds=35, repeat=1, with_flink=False)


@dataclass(frozen=True)
class Outcome:
    """All runs: Penstock's, those of Spark's own joins by state format, and Flink's or why not."""

    workload: Workload
    rival_seconds: int
    penstock: Sequence[Measurement]
    native: Runs
    flink: Sequence[Measurement] = ()
    absent: Mapping[str, str] = field(default_factory=dict)


def compare(workload: Workload, size: Size, data: Path, progress: Progress) -> Outcome:
    """Run every rival `repeat` times, taking turns, so that a slow hour of the machine hits all."""
    workload = replace(workload, seconds=size.seconds)
    short = replace(workload, seconds=size.rival_seconds)
    for given in (workload, short):
        _check_length(given)
    progress(f"making {workload.tuples:,} tuples")
    folder = ensure_data(workload, data)
    with tempfile.TemporaryDirectory(dir=data, prefix="prefix-") as scratch:
        short_folder = (
            folder if short == workload else link_prefix(folder, short.files, Path(scratch))
        )
        lineup: dict[str, Callable[[], Measurement]] = {
            "penstock": partial(run_apart, Contest("penstock", workload, folder, {}))
        }
        for name, settings in STATE_FORMATS.items():
            contest = Contest("spark_native", short, short_folder, settings)
            lineup[name] = partial(run_apart, contest)
        runs: dict[str, list[Measurement]] = {name: [] for name in lineup}
        for number, name in _turns(lineup, size.repeat):
            progress(f"{_shown(name)}, run {number} of {size.repeat}")
            runs[name].append(lineup[name]())
        penstock = runs.pop("penstock")
        flink, absent = _flink(short, short_folder, size, progress)
    return Outcome(workload, short.seconds, penstock, runs, flink, absent)


def document(outcome: Outcome) -> dict[str, Any]:
    """The figures for programs: medians over the runs, and ratios of them.

    Spark's own joins are credited with the better state format, for each figure by itself.
    """
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


def _check_length(workload: Workload) -> None:
    if workload.files <= WARM_UP:
        raise PenstockError(
            f"{workload.seconds} s of data are {workload.files} batches, "
            f"of which the first {WARM_UP} are warm-up",
            hint="give more --seconds",
        )


def _turns(lineup: Mapping[str, object], repeat: int) -> Iterator[tuple[int, str]]:
    return ((number, name) for number in range(1, repeat + 1) for name in lineup)


def _shown(name: str) -> str:
    return name if name == "penstock" else f"Spark's own joins ({name})"


def _flink(
    workload: Workload, folder: Path, size: Size, progress: Progress
) -> tuple[list[Measurement], dict[str, str]]:
    """Flink's runs, or the reason why there are none: it must not spoil the others' figures."""
    if not size.with_flink:
        return [], {"flink": "left out of the quick size"}
    python = find_flink()
    if python is None:
        return [], {"flink": ABSENT}
    runs = []
    for number in range(1, size.repeat + 1):
        progress(f"Flink SQL, run {number} of {size.repeat}")
        try:
            runs.append(run_flink(python, workload, folder))
        except FlinkError as error:
            return [], {"flink": f"it failed: {error}"}
    return runs, {}


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


def _median(values: Iterator[float | None]) -> int | None:
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
