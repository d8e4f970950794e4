"""The mesh benchmark: a ten-way join, six predicates, and the predicates on Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from penstock.bench.mesh import (
    joins,
    predicates,
    spark,
)
from penstock.bench.mesh.figures import MESH, Half, MeshFigures, Runs
from penstock.bench.mesh.joins import Contest, JoinFigures, JoinSize, run_joins
from penstock.bench.mesh.predicates import Size, run_predicates
from penstock.bench.mesh.spark import run_on_spark

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Sizes:
    """How much of each part is run."""

    joins: JoinSize = joins.FULL
    predicates: Size = field(default_factory=Size)
    spark: Size = spark.ON_SPARK

    def repeated(self, times: int) -> Sizes:
        """The same with so many rounds of everything."""
        return Sizes(
            replace(self.joins, repeats=times),
            replace(self.predicates, repeat=times),
            replace(self.spark, repeat=times),
        )


QUICK = Sizes(joins.QUICK, predicates.QUICK, spark.QUICK_ON_SPARK)


def run_mesh(sizes: Sizes, data: Path, progress: Progress) -> MeshFigures:
    """All parts one after another."""
    joins = joins_half(run_joins(sizes.joins, progress), sizes.joins)
    predicates = run_predicates(sizes.predicates, data, progress)
    on_spark = run_on_spark(sizes.spark, data, progress)
    return MeshFigures(joins, predicates, on_spark)


def joins_half(figures: JoinFigures, size: JoinSize) -> Half:
    """The join's runs, beside those of the predicates."""
    setting = {
        "repeat": size.repeats,
        "tuples_per_s": size.rate,
        "window_s": size.window,
        "seconds": size.seconds,
        "routes": {"skewed": figures.skewed.routes, "uniform": figures.uniform.routes},
    }
    return Half(_runs(figures.skewed), _runs(figures.uniform), setting)


def _runs(contest: Contest) -> Runs:
    seconds = {rival: [run.seconds for run in runs] for rival, runs in contest.runs.items()}
    classifying = contest.classification * median(seconds[MESH])
    return Runs(contest.tuples, contest.results, seconds, classifying)
