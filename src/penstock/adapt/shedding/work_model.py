"""The work of batches: seconds by rows read and by the planner's load, as the last ones were."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings

_SHARES = (0.1, 0.1, 0.6, 0.2)
"""How the seconds of a batch are split where nothing tells: starting it, reading, joining, and what
results cost beyond what the planner thinks. Batches that differ in what they shed tell."""
_BELIEF = 0.1
"""How much that split counts beside one batch."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Job:
    """A batch's work: the rows that it reads, and of what it keeps the load that the planner
    expects, CPU-seconds, and the results. Where several queries share the batch, `parts` has what
    each of them does, in an order that stays."""

    rows: float
    load: float
    results: float
    parts: tuple[Job, ...] = ()

    @property
    def features(self) -> list[float]:
        """What the seconds of a batch are made of: itself, its rows, loads, and results."""
        parts = self.parts or (self,)
        loads, results = [part.load for part in parts], [part.results for part in parts]
        return [1.0, self.rows, *loads, *results]


class WorkModel:
    """Predicts the seconds of the clock that a batch takes: `start + row·rows + factor·load +
    result·results`.

    Starting a batch and reading its rows is what shedding cannot save. `factor` corrects the
    planner: costs that are not those of this machine, and cores that share the load. How the parts
    stand to each other is learned from many batches, of which some have shed and others not; how
    fast the machine is just now from the last few. Of several queries each has a factor and a
    result of its own, and all are taken to be alike until batches shed one more than another.
    """

    def __init__(self, settings: Settings = DEFAULT_SETTINGS):
        self._settings = settings
        self._batches: deque[tuple[Job, float]] = deque(maxlen=settings.shed_memory)
        self._parts: Floats = np.zeros(0)

    @property
    def is_known(self) -> bool:
        """Whether batches have been seen."""
        return bool(self._batches)

    def learn(self, job: Job, seconds: float) -> None:
        """Take in what a batch took."""
        if seconds > 0.0 and job.load > 0.0:
            self._batches.append((job, seconds))
            self._parts = self._fitted()
            self._parts *= self._pace()

    def seconds(self, job: Job) -> float:
        """Seconds that a batch will take."""
        return float(self._parts @ np.array(job.features))

    def _pace(self) -> float:
        """How many times as long as all batches say the last ones took."""
        took = np.array([seconds for _, seconds in self._batches])
        said = np.array([self.seconds(job) for job, _ in self._batches])
        weights = self._settings.shed_pace ** np.arange(len(took))[::-1]
        return float(np.exp(np.average(np.log(took / np.maximum(said, 1e-12)), weights=weights)))

    def _fitted(self) -> Floats:
        """The parts by least squares of the relative errors, older batches counting less."""
        from scipy.optimize import nnls

        jobs = np.array([job.features for job, _ in self._batches])
        took = np.array([seconds for _, seconds in self._batches])
        ages = np.arange(len(took))[::-1]
        weights = self._settings.shed_forgetting ** (ages / 2.0)
        typical = _typical(jobs.mean(axis=0)) * took.mean()
        size = len(typical)
        # Parts in units of what is typical: then one number is a fair belief in each.
        rows = jobs * typical * (weights / took)[:, None]
        found, _ = nnls(
            np.vstack([rows, _BELIEF * np.eye(size)]),
            np.concatenate([weights, np.full(size, _BELIEF)]),
        )
        parts: Floats = found * typical
        return parts


def _typical(means: Floats) -> Floats:
    """The part of a batch's seconds that one of each feature typically takes; the loads of several
    queries, and their results, are worth the same."""
    queries = (len(means) - 2) // 2
    loads, results = means[2 : 2 + queries].sum(), means[2 + queries :].sum()
    whole = np.array([means[0], means[1], *[loads] * queries, *[results] * queries])
    shares = [_SHARES[0], _SHARES[1], *[_SHARES[2]] * queries, *[_SHARES[3]] * queries]
    typical: Floats = np.array(shares) / np.maximum(whole, 1e-12)
    return typical
