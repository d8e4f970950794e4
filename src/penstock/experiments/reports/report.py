"""Reports: an experiment that was run, with its findings or the error that ended it."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penstock.experiments.frame.claim import Claim, Verdict
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings


@dataclass(frozen=True)
class Crash:
    """An error that ended an experiment, and where."""

    error: str
    trace: str


@dataclass(frozen=True)
class Report:
    """One run of one experiment."""

    experiment: Experiment
    size: Size
    seconds: float
    outcome: Findings | Crash

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What was judged: nothing where it crashed."""
        return self.outcome.claims if isinstance(self.outcome, Findings) else ()

    def verdicts(self) -> Counter[Verdict]:
        return Counter(claim.verdict for claim in self.claims)


def run_experiment(experiment: Experiment, size: Size, progress: Progress) -> Report:
    """Run one; whatever error ends it is reported and goes no further."""
    started = time.monotonic()
    outcome: Findings | Crash
    try:
        outcome = experiment.run(size, progress)
    except Exception as error:
        first = str(error).splitlines()[0] if str(error) else ""
        outcome = Crash(f"{type(error).__name__}: {first}".rstrip(": "), traceback.format_exc())
    return Report(experiment, size, time.monotonic() - started, outcome)


def run_all(experiments: Iterable[Experiment], size: Size, progress: Progress) -> Iterator[Report]:
    """Reports one after another, as the experiments end."""
    for experiment in experiments:
        yield run_experiment(experiment, size, progress)
