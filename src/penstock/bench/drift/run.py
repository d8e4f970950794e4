"""The drift benchmark: every case one after another, each told as it ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from penstock.bench.drift.cases import burst, calm, content, migration
from penstock.bench.drift.cases.burst import Burst
from penstock.bench.drift.cases.calm import Beside, Righted
from penstock.bench.drift.cases.content import Content
from penstock.bench.drift.cases.following import Followed, Setting, follow
from penstock.bench.drift.cases.migration import Migration
from penstock.bench.drift.streams import steps, waves
from penstock.bench.drift.streams.scenario import Scenario


@dataclass(frozen=True)
class Sizes:
    """How much of each case is run, and by how many seeds what does not drift."""

    steps: steps.Size = field(default_factory=steps.Size)
    waves: waves.Size = field(default_factory=waves.Size)
    content: content.Size = field(default_factory=content.Size)
    migration: migration.Size = field(default_factory=migration.Size)
    burst: burst.Size = field(default_factory=burst.Size)
    seeds: tuple[int, ...] = (1, 2, 3)
    repeat: int = 3


QUICK = Sizes(steps.QUICK, waves.QUICK, content.QUICK, migration.QUICK, burst.QUICK, (1,), 1)

_COMPARED = 3
"""Runs at the least by which the work of two is told apart by a hundredth or two."""


@dataclass(frozen=True)
class Found:
    """All cases; None for those that were not run."""

    steps: tuple[Followed, ...] = ()
    waves: tuple[Followed, ...] = ()
    stationary: Beside | None = None
    near_tie: Beside | None = None
    wrong_stats: Righted | None = None
    content: Content | None = None
    burst: Burst | None = None
    migration: Migration | None = None

    @property
    def is_exact(self) -> bool:
        """Whether every run gave what all others gave on the same streams."""
        alone = (self.stationary, self.near_tie, self.wrong_stats, self.content, self.migration)
        cases = [*self.steps, *self.waves, *(each for each in alone if each is not None)]
        return all(case.is_exact for case in cases)


def run_drift(sizes: Sizes, setting: Setting) -> Found:
    """All cases in this process; on Spark those in which plans matter most."""
    found = Found(
        steps=tuple(follow(each, setting) for each in _steps(sizes, setting)),
        wrong_stats=calm.wrong_stats(sizes.steps, setting),
        burst=burst.burst(sizes.burst, setting),
    )
    return found if setting.engine == "spark" else _in_process(found, sizes, setting)


def _steps(sizes: Sizes, setting: Setting) -> Iterable[Scenario]:
    """Starting batches takes Spark so long that the first of the steps must do."""
    every = tuple(steps.steps(sizes.steps))
    return every if setting.engine == "local" else every[:1]


def _in_process(found: Found, sizes: Sizes, setting: Setting) -> Found:
    # Where switches are counted, or a mesh is twice as fast, few runs tell as much as many.
    counted = replace(setting, repeat=max(1, setting.repeat - 1))
    # What following takes is little beside what the batches of two runs differ by.
    compared = replace(setting, repeat=max(_COMPARED, setting.repeat))
    seeds = [waves.stationary(sizes.waves, seed) for seed in sizes.seeds]
    return Found(
        steps=found.steps,
        waves=tuple(follow(each, setting) for each in waves.waves(sizes.waves)),
        stationary=calm.beside(seeds, compared),
        near_tie=calm.beside([waves.near_tie(sizes.waves)], counted),
        wrong_stats=found.wrong_stats,
        content=content.content(sizes.content, counted),
        migration=migration.migration(sizes.migration, setting),
        burst=found.burst,
    )
