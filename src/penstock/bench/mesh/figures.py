"""The figures of the mesh benchmark for programs: medians over the runs, and ratios of rates."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from statistics import median
from typing import Any

SINGLE, MESH, EDDY, BATCHED = "single", "mesh", "eddy", "eddy_batched"
"""The rivals: the best single plan, the mesh, an eddy without and with batches of 100."""
BATCH = 100

FAIR = 0.25
"""What an eddy may take longer than the single plan on uniform data, and still be a fair rival."""


@dataclass(frozen=True)
class Runs:
    """All runs on one kind of data: the seconds of each rival, and the results of every one.

    `classifying` are the seconds that a run of the mesh spends on its classifier.
    """

    tuples: int
    results: int
    seconds: Mapping[str, Sequence[float]]
    classifying: float = 0.0

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
    setting: Mapping[str, Any]
    others: Mapping[str, Runs] = field(default_factory=dict)

    @property
    def classification_share(self) -> float:
        return max(self.skewed.share, self.uniform.share)

    @property
    def is_void(self) -> bool:
        """Whether an eddy loses so much where there is nothing to learn that it is no rival."""
        eddies = [rival for rival in (EDDY, BATCHED) if rival in self.uniform.seconds]
        return any(self.uniform.overhead(rival) > FAIR for rival in eddies)


def document(halves: Mapping[str, Half], on_spark: Half | None) -> dict[str, Any]:
    """Above all the worse of the halves, figure by figure; below, each by itself."""
    shown = {name: _half(half) for name, half in halves.items()}
    return {
        "skewed": _worst(half["skewed"] for half in shown.values()),
        "uniform": _worst(half["uniform"] for half in shown.values()),
        "classification_share": max(half["classification_share"] for half in shown.values()),
        "comparison": "void" if any(half.is_void for half in halves.values()) else "fair",
        **shown,
        "spark": None if on_spark is None else _half(on_spark),
        "setting": {
            "workload": "mesh",
            "eddy_batch": BATCH,
            "cores": os.cpu_count(),
            "versions": {
                name: version(name) for name in ("penstock", "pyspark", "pyarrow", "numpy")
            },
        },
    }


def _half(half: Half) -> dict[str, Any]:
    made: dict[str, Any] = {"skewed": _runs(half.skewed), "uniform": _runs(half.uniform)}
    made["uniform"]["overhead_vs_single"] = {
        rival: round(half.uniform.overhead(rival), 3)
        for rival in (EDDY, BATCHED)
        if rival in half.uniform.seconds
    }
    made |= {name: _runs(runs) for name, runs in half.others.items()}
    made["classification_share"] = round(half.classification_share, 5)
    made["comparison"] = "void" if half.is_void else "fair"
    return {**made, "setting": dict(half.setting)}


def _runs(runs: Runs) -> dict[str, Any]:
    rivals = [rival for rival in runs.seconds if rival != MESH]
    return {
        **{_ratio_name(rival): round(runs.ratio(rival), 3) for rival in rivals},
        "results_per_s": {
            rival: round(runs.results / median(spent), 1) for rival, spent in runs.seconds.items()
        },
        "tuples": runs.tuples,
        "results": runs.results,
        "seconds": {
            rival: [round(each, 4) for each in spent] for rival, spent in runs.seconds.items()
        },
    }


def _worst(found: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    figures = list(found)
    names = [_ratio_name(rival) for rival in (SINGLE, EDDY, BATCHED)]
    return {name: min(each[name] for each in figures) for name in names}


def _ratio_name(rival: str) -> str:
    return f"ratio_vs_{rival}"
