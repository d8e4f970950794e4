"""The figures of the mesh benchmark for programs: medians over the runs, and ratios of rates."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from statistics import median

SINGLE, MESH, EDDY, BATCHED = "single", "mesh", "eddy", "eddy_batched"
"""The rivals: the best single plan, the mesh, an eddy without and with batches of 100."""
BATCH = 100

FAIR = 0.25
"""The part by which an eddy may be slower than the single plan on uniform data, as a fair rival."""


@dataclass(frozen=True)
class Runs:
    """All runs on one kind of data: the seconds of each rival, and the results of every one.

    `classifying` are the seconds that a run of the mesh spends on its classifier.
    """

    tuples: int
    results: int
    seconds: Mapping[str, Sequence[float]]
    classifying: float = 0.0

    def rate(self, rival: str) -> float:
        """Results a second of a rival's runs."""
        return self.results / median(self.seconds[rival])

    def ratio(self, rival: str) -> float:
        """The mesh's output rate over that of a rival."""
        return median(self.seconds[rival]) / median(self.seconds[MESH])

    def overhead(self, rival: str) -> float:
        """The part by which a rival takes longer than the single plan."""
        return median(self.seconds[rival]) / median(self.seconds[SINGLE]) - 1.0

    @property
    def share(self) -> float:
        """The classifier's part of the mesh's time."""
        return self.classifying / median(self.seconds[MESH])


@dataclass(frozen=True)
class Half:
    """A query on skewed and on uniform data, and on `others` that are of interest."""

    skewed: Runs
    uniform: Runs
    setting: Mapping[str, object]
    others: Mapping[str, Runs] = field(default_factory=dict)

    @property
    def classification_share(self) -> float:
        return max(self.skewed.share, self.uniform.share)

    @property
    def is_void(self) -> bool:
        """Whether an eddy loses so much where there is nothing to learn that it is no rival."""
        eddies = [rival for rival in (EDDY, BATCHED) if rival in self.uniform.seconds]
        return any(self.uniform.overhead(rival) > FAIR for rival in eddies)


@dataclass(frozen=True)
class MeshFigures:
    """The halves of the benchmark, and the predicates on Spark."""

    joins: Half
    predicates: Half
    spark: Half | None

    def document(self) -> dict[str, object]:
        """For programs: above all the worse of the halves, figure by figure; below, each."""
        halves = (self.joins, self.predicates)
        shares = [round(half.classification_share, 5) for half in halves]
        return {
            "skewed": _worst(half.skewed for half in halves),
            "uniform": _worst(half.uniform for half in halves),
            "classification_share": max(shares),
            "comparison": "void" if any(half.is_void for half in halves) else "fair",
            "joins": _half(self.joins),
            "predicates": _half(self.predicates),
            "spark": None if self.spark is None else _half(self.spark),
            "setting": {
                "workload": "mesh",
                "eddy_batch": BATCH,
                "cores": os.cpu_count(),
                "versions": {
                    name: version(name) for name in ("penstock", "pyspark", "pyarrow", "numpy")
                },
            },
        }


def _half(half: Half) -> dict[str, object]:
    overhead = {
        rival: round(half.uniform.overhead(rival), 3)
        for rival in (EDDY, BATCHED)
        if rival in half.uniform.seconds
    }
    return {
        "skewed": _runs(half.skewed),
        "uniform": {**_runs(half.uniform), "overhead_vs_single": overhead},
        **{name: _runs(runs) for name, runs in half.others.items()},
        "classification_share": round(half.classification_share, 5),
        "comparison": "void" if half.is_void else "fair",
        "setting": dict(half.setting),
    }


def _runs(runs: Runs) -> dict[str, object]:
    rivals = [rival for rival in runs.seconds if rival != MESH]
    return {
        **{_ratio_name(rival): round(runs.ratio(rival), 3) for rival in rivals},
        "results_per_s": {rival: round(runs.rate(rival), 1) for rival in runs.seconds},
        "tuples": runs.tuples,
        "results": runs.results,
        "seconds": {
            rival: [round(each, 4) for each in spent] for rival, spent in runs.seconds.items()
        },
    }


def _worst(found: Iterable[Runs]) -> dict[str, float]:
    every = list(found)
    return {
        _ratio_name(rival): min(round(runs.ratio(rival), 3) for runs in every)
        for rival in (SINGLE, EDDY, BATCHED)
    }


def _ratio_name(rival: str) -> str:
    return f"ratio_vs_{rival}"
