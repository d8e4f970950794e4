"""A simulated plant: two streams that come, wait, are joined in batches and take time, by formulas.

Time is virtual and flows are fractions of tuples, so that a run of minutes takes milliseconds and
is the same each time. Windows hold what was kept of the streams, tick by tick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil, inf

import numpy as np

from penstock.cql import parse
from penstock.engine.reports.parts import InputReport
from penstock.engine.reports.report import Report
from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.query import Query

TICK = 0.1
"""Seconds of event time in one step of the simulation."""


def pair_query(window: int, limit: float | None = None, *, is_view: bool = False) -> Query:
    """A join of two streams over windows of so many seconds, or a view over it; a batch may take in
    `limit` seconds of event time, in files of a tick."""
    most = "" if limit is None else f", max_files={round(limit / TICK)}"
    declared = "".join(
        f"CREATE STREAM {name} (ts BIGINT, k INT) "
        f"WITH (format='parquet', path='{name}', timestamp='ts', unit='s'{most});"
        for name in "ab"
    )
    frame = f"[RANGE {window} SECONDS]"
    what, every = ("COUNT(*) AS n", " EVERY 1 SECOND") if is_view else ("a.ts AS x, b.ts AS y", "")
    return parse(f"{declared} SELECT {what} FROM a {frame}, b {frame} WHERE a.k = b.k{every}")


@dataclass(frozen=True)
class Nature:
    """What is true of the streams and of the machine; seconds for each kind of work."""

    rates: Callable[[float], Mapping[str, float]]
    window: int = 10
    selectivity: float = 1e-3
    start: float = 0.05
    read: float = 2e-5
    keep: float = 2e-4
    result: float = 2e-4
    estimate: float = 0.0
    """How many times as much more a result takes for each stream whose window holds shed tuples."""
    noise: float = 0.15


@dataclass
class Plant:
    """The machine with its queue; `limit` is the most event time that a batch takes in.

    It runs from `opened` on: what came before waits for nobody. From the second `ends` on nothing
    comes. In `compiling` are the seconds that batches compile for.
    """

    nature: Nature
    trigger: float = 1.0
    limit: float | None = None
    seed: int = 0
    opened: float = 0.0
    ends: float = inf
    compiling: Mapping[int, float] = field(default_factory=dict)
    clock: float = field(default=0.0, init=False)
    done: float = field(default=0.0, init=False)
    results: float = field(default=0.0, init=False)
    spent: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        size = ceil(self.nature.window / TICK)
        self._windows = {alias: np.zeros(size) for alias in "ab"}
        self._shed = {alias: np.zeros(size, bool) for alias in "ab"}
        self._number = 0
        self._ended = 0.0

    def batch(self, drops: DropBoxes = NO_DROPS) -> Report:
        """Take in what is there, after the trigger has passed; the report."""
        self.clock = max(self.clock, self._ended)
        first = self.done
        ticks = int(round((min(self.clock, self.ends) - first) / TICK, 6))
        if self.limit is not None:
            ticks = min(ticks, round(self.limit / TICK))
        came, kept, work = self._joined(ticks, drops)
        noise = 1.0 + self.nature.noise * self._rng.uniform(-1.0, 1.0)
        seconds = (self.nature.start + work) * noise + self.compiling.get(self._number, 0.0)
        self.spent += seconds
        started, self.done = self.clock, first + ticks * TICK
        ended = started + seconds
        report = self._report(first, started, ended, came, kept, drops)
        self.clock, self._ended = max(started + self.trigger, ended), ended
        return report

    def _joined(
        self, ticks: int, drops: DropBoxes
    ) -> tuple[dict[str, float], dict[str, float], float]:
        """Tuples that came and that were kept, and the seconds of work that they made."""
        came, kept, work = dict.fromkeys("ab", 0.0), dict.fromkeys("ab", 0.0), 0.0
        for tick in range(ticks):
            rates = self.nature.rates(self.done + tick * TICK)
            new = {alias: rates[alias] * TICK for alias in "ab"}
            held = {alias: new[alias] * drops.fraction(alias) for alias in "ab"}
            found = self.nature.selectivity * (
                held["a"] * self._windows["b"].sum() + held["b"] * self._windows["a"].sum()
            )
            self.results += found
            work += self.nature.read * sum(new.values()) + self.nature.keep * sum(held.values())
            weighed = sum(bool(shed.any()) for shed in self._shed.values())
            work += self.nature.result * (1.0 + self.nature.estimate * weighed) * found
            for alias in "ab":
                is_shed = drops.fraction(alias) < 1.0
                self._shed[alias] = np.append(self._shed[alias][1:], is_shed)
                self._windows[alias] = np.append(self._windows[alias][1:], held[alias])
                came[alias] += new[alias]
                kept[alias] += held[alias]
        return came, kept, work

    def _report(
        self,
        first: float,
        started: float,
        ended: float,
        came: Mapping[str, float],
        kept: Mapping[str, float],
        drops: DropBoxes,
    ) -> Report:
        number, self._number = self._number, self._number + 1
        left = int(round((min(ended, self.ends) - self.done) / TICK, 6))
        since = max(self.trigger, ended - started) if number else ended - started
        inputs = {
            alias: InputReport(
                round(came[alias]), round(came[alias] - kept[alias]), drops.fraction(alias)
            )
            for alias in "ab"
        }
        return Report(
            batch=number,
            seconds=ended - started,
            read={},
            late={},
            malformed={},
            results=0,
            state_tuples=0,
            frontier=None,
            total_results=round(self.results),
            at=ended,
            span=self.done - first if number else None,
            busy=min(1.0, (ended - started) / since),
            delay=ended - max(first, self.opened),
            compiling=self.compiling.get(number, 0.0),
            backlog={"a": left},
            inputs=inputs,
        )
