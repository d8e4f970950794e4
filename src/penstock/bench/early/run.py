"""Does early aggregation pay where the model says so? Four settings a join, all plans run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from penstock.bench.early.settings import SETTINGS, Join, Setting, plans_of
from penstock.calibration.batch_runs import run_in_process
from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import parquet
from penstock.errors import PenstockError
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.rounds import batch_seconds
from penstock.plan.plan import Plan
from penstock.sampling.analyze import analyze
from penstock.stats.costs import Costs
from penstock.stats.guess import complete

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Size:
    """How often every plan is run, and what part of the settings' time."""

    repeat: int = 3
    part: float = 1.0


QUICK = Size(repeat=1, part=0.5)


@dataclass(frozen=True)
class Finding:
    """CPU-seconds of the plans in a setting, as predicted and as measured."""

    setting: Setting
    predicted: Mapping[str, float]
    measured: Mapping[str, float]


def find_winners(
    size: Size, costs: Costs, progress: Progress, settings: Sequence[Setting] = SETTINGS
) -> tuple[Finding, ...]:
    """Sample the streams of each setting, predict what all its plans take, and run them."""
    found = []
    for setting in settings:
        progress(f"{setting.join} joins, where {setting.winner} should win")
        short = setting.shorter(size.part)
        query = short.workload.query()
        problem = Problem(query, complete(query, analyze(query, seconds=inf), costs))
        measured = _measured(short, size.repeat)
        found.append(Finding(short, predicted(short, problem), measured))
    return tuple(found)


def predicted(setting: Setting, problem: Problem) -> dict[str, float]:
    """CPU-seconds of each plan by the planner's model, the start of its batches included."""
    made = setting.workload
    batches = made.batches or 1
    return {
        name: needed_by(problem, plan) * made.seconds + batches * batch_seconds(problem, plan)
        for name, plan in plans_of(problem.query).items()
    }


def winner(seconds: Mapping[str, float]) -> str:
    """The plan that takes the least."""
    return min(seconds, key=lambda name: seconds[name])


def _measured(setting: Setting, repeat: int) -> dict[str, float]:
    """Medians of runs in which the plans take turns; all must give the same answer.

    The first run of each is not timed: it tells the answer, and compiles what it needs.
    """
    plans = plans_of(setting.workload.query())
    check_equal({name: answer_of(plan) for name, plan in plans.items()})
    turns = [{n: run_in_process(p).seconds for n, p in plans.items()} for _ in range(repeat)]
    return {name: float(np.median([turn[name] for turn in turns])) for name in plans}


def answer_of(plan: Plan) -> pa.Table:
    """All that a plan tells of its view, in the order of its columns."""
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        sink = parquet(f"{folder}/results")
        open_run(plan, RunOptions(sink=sink, checkpoint=f"{folder}/run")).available_now()
        rows = ds.dataset(f"{folder}/results", format="parquet").to_table()
        return rows.sort_by([(name, "ascending") for name in rows.column_names])


def check_equal(answers: Mapping[str, pa.Table]) -> None:
    """Refuse plans that do not give the same answer."""
    (first, wanted), *others = answers.items()
    for name, answer in others:
        if not answer.equals(wanted):
            raise PenstockError(
                f"{name} and {first} gave different answers to one query",
                hint="this is a mistake in Penstock; please report it",
            )


class SettingFigures(TypedDict):
    """A setting, and the CPU-seconds of its plans, as predicted and as measured."""

    why: str
    event_seconds: float
    window_s: float
    every_s: float | None
    rates: list[float]
    keys: list[int]
    groups: list[int]
    predicted_s: dict[str, float]
    measured_s: dict[str, float]
    predicted_winner: str
    measured_winner: str


class EarlySetting(TypedDict):
    """The size of the benchmark."""

    repeat: int


class EarlyDocument(TypedDict):
    """The figures for programs: by kind of join, the settings by the plan that should win."""

    hash: dict[str, SettingFigures]
    nested: dict[str, SettingFigures]
    setting: EarlySetting


def document(found: Sequence[Finding], size: Size) -> EarlyDocument:
    """The figures of all settings."""
    return {
        "hash": _by_winner(found, "hash"),
        "nested": _by_winner(found, "nested"),
        "setting": {"repeat": size.repeat},
    }


def _by_winner(found: Sequence[Finding], join: Join) -> dict[str, SettingFigures]:
    return {each.setting.winner: _figures(each) for each in found if each.setting.join == join}


def _figures(found: Finding) -> SettingFigures:
    made = found.setting.workload
    return {
        "why": found.setting.why,
        "event_seconds": made.seconds,
        "window_s": made.streams[0].extent,
        "every_s": made.every,
        "rates": [stream.rate for stream in made.streams],
        "keys": [count for stream in made.streams for count in stream.keys.values()],
        "groups": [stream.groups for stream in made.streams],
        "predicted_s": {name: round(spent, 4) for name, spent in found.predicted.items()},
        "measured_s": {name: round(spent, 4) for name, spent in found.measured.items()},
        "predicted_winner": winner(found.predicted),
        "measured_winner": winner(found.measured),
    }
