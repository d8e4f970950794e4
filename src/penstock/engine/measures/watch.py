"""The watch: where the time of a batch goes, from waiting for data until its results are shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from penstock.engine.measures.phases import compiling_of_job, phases_of_job
from penstock.engine.sources.feed import Serving
from penstock.engine.wire.facts import Fact, SortedFacts, TaskTime

Job = TypeVar("Job")


@dataclass
class Watch:
    """Collects the times of the batch under way; the engine that runs it says when it waits.

    `is_parallel` where tasks work side by side, so that the longest of a stage counts.
    """

    is_parallel: bool = False

    backlog: Callable[[Mapping[str, int], float], Mapping[str, int]] = lambda offsets, seconds: {}
    """The pieces of each source that are there and unread after some offsets, as far as that can
    be found out within some seconds."""

    oldest: float | None = None
    """When the oldest data of the batch could first be read, seconds since the epoch."""

    shown: float | None = None
    """When the results of the batch were shown, seconds since the epoch."""

    phases: dict[str, float] = field(default_factory=dict)
    """Seconds by phase."""

    cpu: float = 0.0
    """CPU-seconds of all tasks."""

    compiling: float = 0.0
    """Seconds in which tasks compiled or loaded inner loops."""

    reported: float = field(default_factory=lambda: time.monotonic())
    """When the batch before was reported."""

    resting: float | None = None
    """Since when there is nothing to do."""

    def add(self, phase: str, seconds: float) -> None:
        """Count seconds of a phase."""
        self.phases[phase] = self.phases.get(phase, 0.0) + seconds

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the seconds of a block."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.add(name, time.monotonic() - started)

    def rest(self) -> None:
        """There is nothing to do from now on."""
        self._rest_from(time.monotonic())

    def feed(self, serve: Callable[[], Serving | None]) -> Serving | None:
        """What the next batch reads; a look that finds nothing is part of the wait."""
        started = time.monotonic()
        serving = serve()
        if serving is None:
            self._rest_from(started)
            return None
        self._work_from(started)
        self.add("feed", time.monotonic() - started)
        self.oldest = serving.oldest
        return serving

    def begin(self) -> None:
        """The batch is about to run."""
        self._work_from(time.monotonic())

    def over(self, run: Callable[[Job], Sequence[Fact]]) -> Callable[[Job], Sequence[Fact]]:
        """A runner of jobs whose time is counted; the times of tasks are not told further."""

        def counted(job: Job) -> Sequence[Fact]:
            started = time.monotonic()
            facts = run(job)
            seconds = time.monotonic() - started
            told = SortedFacts.of(facts)
            times = told.of_kind(TaskTime)
            self.cpu += sum(each.cpu for each in times)
            self.compiling += compiling_of_job(times, self.is_parallel)
            for phase, part in phases_of_job(times, seconds, self.is_parallel).items():
                self.add(phase, part)
            return told.with_kind(TaskTime, ())

        return counted

    def show(self) -> None:
        """The results have been shown."""
        self.shown = time.time()

    def next_batch(self) -> Watch:
        """The watch over the batch that follows, once this one is reported."""
        return Watch(self.is_parallel, self.backlog)

    def _rest_from(self, moment: float) -> None:
        self.resting = moment if self.resting is None else self.resting

    def _work_from(self, moment: float) -> None:
        if self.resting is not None:
            self.add("wait", moment - self.resting)
            self.resting = None
