"""Rivals compared: the same query over the same files, run after run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from penstock.bench.contest import Contest, run_apart
from penstock.bench.data import ensure_data, link_prefix
from penstock.bench.joins.flink import ABSENT, FlinkError, find_flink, run_flink
from penstock.bench.measurement import WARM_UP, Measurement
from penstock.bench.native import STATE_FORMATS
from penstock.bench.workload import Workload
from penstock.errors import PenstockError

Progress = Callable[[str], None]
Runs = Mapping[str, Sequence[Measurement]]


@dataclass(frozen=True)
class Size:
    """How much is run: seconds of event time for Penstock and for its rivals, and how often, and
    the state formats of Spark's own joins.

    Rivals may be given a prefix, as long as they reach their steady state on it.
    """

    seconds: int = 60
    rival_seconds: int = 60
    repeat: int = 3
    with_flink: bool = True
    formats: tuple[str, ...] = tuple(STATE_FORMATS)


# Spark's own joins have their full state from the fifth or sixth batch on, so 30 s reach it.
QUICK = Size(seconds=60, rival_seconds=30, repeat=1, with_flink=False)


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
        prefix = folder if short == workload else link_prefix(folder, short.files, Path(scratch))
        lineup = {"penstock": Contest("penstock", workload, folder, {})}
        for name in size.formats:
            lineup[name] = Contest("spark_native", short, prefix, STATE_FORMATS[name])
        runs = _take_turns(lineup, size.repeat, progress)
        flink, absent = _flink(short, prefix, size, progress)
    return Outcome(workload, short.seconds, runs.pop("penstock"), runs, flink, absent)


def _check_length(workload: Workload) -> None:
    if workload.files <= WARM_UP:
        raise PenstockError(
            f"{workload.seconds} s of data are {workload.files} batches, "
            f"of which the first {WARM_UP} are warm-up",
            hint="give more --seconds",
        )


def _take_turns(
    lineup: Mapping[str, Contest], repeat: int, progress: Progress
) -> dict[str, list[Measurement]]:
    runs: dict[str, list[Measurement]] = {name: [] for name in lineup}
    for number in range(1, repeat + 1):
        for name, contest in lineup.items():
            shown = name if contest.rival == "penstock" else f"Spark's own joins ({name})"
            progress(f"{shown}, run {number} of {repeat}")
            runs[name].append(run_apart(contest))
    return runs


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
