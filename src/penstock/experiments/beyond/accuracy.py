"""Predicted against measured cost, over the plans of random queries."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import median

import numpy as np

from penstock.bench.decisions.case import prepare
from penstock.bench.decisions.trial import Trial, weigh
from penstock.calibration.calibrate import QUICK as ROUGHLY
from penstock.calibration.calibrate import calibrate_laboratory
from penstock.experiments.frame.chart import Axis, LineChart, Series
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings, Table
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import BEYOND
from penstock.stats.calibration import calibrated

_SEED = 2
_MEDIAN, _MOST, _RANKS = 1.02, 1.10, 0.93
"""What regret may be at the median and at the 90th percentile, and the least rank correlation."""
_REASON = (
    "At quick size few queries are run, each plan once or twice for some milliseconds, and costs "
    "are measured roughly where `penstock doctor --calibrate` has not been run"
)


def _run(size: Size, progress: Progress) -> Findings:
    trials = tried(*((4, 3, 1) if size == "quick" else (30, 5, 3)), progress)
    return findings_of(trials)


def tried(queries: int, most: int, repeats: int, progress: Progress) -> list[Trial]:
    """Queries over three to `most` streams, all of whose plans were run so often."""
    found, costs = list[Trial](), calibrated("laboratory")
    if costs is None:
        costs = calibrate_laboratory(lambda *_: None, ROUGHLY).costs
    for number in range(queries):
        progress(number, queries)
        streams = 3 + number % (most - 2)
        found.append(weigh(prepare(Random(f"{_SEED} {number}"), streams, costs), repeats))
    return found


def findings_of(trials: Sequence[Trial]) -> Findings:
    """The chart and the verdicts."""
    return Findings((_chart(trials),), _claims(trials), _table(trials))


def _chart(trials: Sequence[Trial]) -> LineChart:
    points = [(t.predicted[p], t.measured[p]) for t in trials for p in t.measured]
    best = [(t.predicted[t.chosen], t.measured[t.chosen]) for t in trials]
    factor = median(found / expected for expected, found in points)
    ends = min(x for x, _ in points), max(x for x, _ in points)
    return LineChart(
        f"Work of all plans of {len(trials)} random queries",
        Axis("predicted", "CPU-seconds a second", is_log=True),
        Axis("measured", "CPU-seconds a second", is_log=True),
        (
            _dots("plans", points),
            _dots("chosen plans", best),
            Series("plans", "model", ends, (factor * ends[0], factor * ends[1])),
        ),
    )


def _dots(name: str, points: Sequence[tuple[float, float]]) -> Series:
    x, y = zip(*points, strict=True)
    return Series(name, "measured", x, y, is_joined=False)


def _claims(trials: Sequence[Trial]) -> tuple[Claim, ...]:
    regrets = [trial.regret for trial in trials]
    middle, high = (float(np.quantile(regrets, share)) for share in (0.5, 0.9))
    ranks = float(np.mean([trial.correlation for trial in trials]))
    return (
        checked(
            "Plans that are predicted to take longer do take longer",
            paper=f"a mean rank correlation of {_RANKS} at the least",
            ours=f"{ranks:.3f}",
            checks={f"{_RANKS} at the least": ranks >= _RANKS},
            reason=_REASON,
            timed=True,
        ),
        checked(
            "The chosen plan takes hardly longer than the fastest",
            paper=f"median {_MEDIAN} ×, 90th percentile {_MOST:.2f} × at the most",
            ours=f"median {middle:.3f} ×, 90th percentile {high:.3f} ×",
            checks={"median": middle <= _MEDIAN, "90th percentile": high <= _MOST},
            reason=_REASON,
            timed=True,
        ),
    )


def _table(trials: Sequence[Trial]) -> Table:
    rows = tuple(
        (number, text, trial.predicted[text], seconds, int(text == trial.chosen))
        for number, trial in enumerate(trials, 1)
        for text, seconds in trial.measured.items()
    )
    return Table(("query", "plan", "predicted (s/s)", "measured (s/s)", "chosen"), rows)


EXPERIMENT = Experiment(
    name="beyond-accuracy",
    paper=BEYOND,
    figure="Predicted and measured",
    title="Predicted against measured cost",
    question="Does what is predicted to take longer take longer?",
    about="Queries over random streams are planned from samples of their sources, and all their "
    "plans are run in the laboratory, tuple by tuple: every left-deep tree, some bushy ones, "
    "multi-way joins by several searches and with random orders. A point is a plan: the planner’s "
    "CPU-seconds for a second of data beside those that were measured. The dashed line is their "
    "median ratio: only ranks matter for a choice. `penstock bench decisions` runs more of them.",
    run=_run,
    cheap=False,
)
