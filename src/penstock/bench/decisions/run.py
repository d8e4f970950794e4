"""Does the planner decide well? Random queries, planned from samples, and all their plans run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypedDict

import numpy as np

from penstock.bench.decisions.case import Case, prepare
from penstock.bench.decisions.spark import SparkFigures
from penstock.bench.decisions.trial import Shedding, Trial, shed, weigh
from penstock.stats.costs import Costs

Progress = Callable[[int, int], None]
"""Is told how many queries are done, and of how many."""

SIZES = (3, 4, 5)
SHARES = (0.2, 0.8)
"""Of what the least plan needs, an infeasible query has this much: all its plans must shed."""
MANY_RESULTS = 20_000
"""An infeasible query has so many results without shedding, so that what is kept can be counted."""


@dataclass(frozen=True)
class Size:
    """How many queries, and how often every plan is run."""

    queries: int = 60
    repeats: int = 3


QUICK = Size(queries=8, repeats=2)


@dataclass(frozen=True)
class Outcome:
    """The trials of the feasible queries, and what was kept of the infeasible ones."""

    trials: tuple[Trial, ...]
    sheddings: tuple[Shedding, ...]


def judge(size: Size, seed: int, costs: Costs, progress: Progress) -> Outcome:
    """Draw the queries and try them; every third group of sizes is infeasible."""
    trials, sheddings = [], []
    for number in range(size.queries):
        progress(number, size.queries)
        rng = Random(f"{seed} {number}")
        streams = SIZES[number % len(SIZES)]
        is_feasible = number // len(SIZES) % 3 < 2
        case = prepare(rng, streams, costs, results=0 if is_feasible else MANY_RESULTS)
        if is_feasible:
            trials.append(weigh(case, size.repeats))
        else:
            sheddings.append(shed(case, rng.uniform(*SHARES), size.repeats))
    progress(size.queries, size.queries)
    return Outcome(tuple(trials), tuple(sheddings))


class InfeasibleFigures(TypedDict):
    """The results kept, against the best plan's, and the capacity used where tuples are shed."""

    queries: int
    median_kept_vs_best: float | None
    p10_kept_vs_best: float | None
    median_capacity_used: float | None
    p90_capacity_used: float | None


class TrialFigures(TypedDict):
    """A query whose plans were all run."""

    streams: int
    plans: int
    chosen: str
    fastest: str
    regret: float
    rank_correlation: float


class DecisionsDocument(TypedDict):
    """The figures for programs."""

    queries: int
    median_regret: float | None
    p90_regret: float | None
    mean_rank_correlation: float | None
    infeasible: InfeasibleFigures
    spark: SparkFigures | None
    seed: int
    trials: list[TrialFigures]


def document(outcome: Outcome, seed: int, spark: SparkFigures | None = None) -> DecisionsDocument:
    """The figures for programs."""
    regrets = [trial.regret for trial in outcome.trials]
    return {
        "queries": len(outcome.trials) + len(outcome.sheddings),
        "median_regret": _quantile(regrets, 0.5),
        "p90_regret": _quantile(regrets, 0.9),
        "mean_rank_correlation": _mean([trial.correlation for trial in outcome.trials]),
        "infeasible": _infeasible(outcome.sheddings),
        "spark": spark,
        "seed": seed,
        "trials": list(_trials(outcome.trials)),
    }


def _infeasible(sheddings: Sequence[Shedding]) -> InfeasibleFigures:
    kept = [each.kept_vs_best for each in sheddings]
    used = [each.used for each in sheddings]
    return {
        "queries": len(sheddings),
        "median_kept_vs_best": _quantile(kept, 0.5),
        "p10_kept_vs_best": _quantile(kept, 0.1),
        "median_capacity_used": _quantile(used, 0.5),
        "p90_capacity_used": _quantile(used, 0.9),
    }


def _trials(trials: Sequence[Trial]) -> Iterator[TrialFigures]:
    for trial in trials:
        yield {
            "streams": len(trial.case.workload.streams),
            "plans": len(trial.measured),
            "chosen": trial.chosen,
            "fastest": min(trial.measured, key=lambda text: trial.measured[text]),
            "regret": round(trial.regret, 4),
            "rank_correlation": round(trial.correlation, 4),
        }


def _quantile(values: Sequence[float], share: float) -> float | None:
    return round(float(np.quantile(values, share)), 4) if values else None


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 4) if values else None


def feasible_cases(outcome: Outcome) -> Iterator[Case]:
    """The queries that need not shed."""
    return (trial.case for trial in outcome.trials)
