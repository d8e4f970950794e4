"""Do the intervals of shed views hold the truth, and are they there where it can be told?

Every setting is shed hundreds of times by the local engine: the same tuples are repeated under
other arrival numbers. What is true is computed apart from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from numpy.typing import NDArray

from penstock.bench.intervals.settings import (
    AGGREGATES,
    KEPT,
    SETTINGS,
    Population,
    Setting,
    block_of,
)
from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import parquet
from penstock.plan.default_plan import default_plan
from penstock.plan.drops import DropBoxes
from penstock.plan.plan import Plan

Floats = NDArray[np.float64]
Progress = Callable[[str], None]

# What is promised of every setting and aggregate.
LEAST_COVERAGE = 0.92
LEAST_GIVEN = 0.5
# The truth can be told where 95 of 100 estimates are within this part of it.
TELLABLE = 0.5
_NORMAL = 1.96
# Between the seeds of populations, so that none is of two seeds.
_APART = 1_000_000


@dataclass(frozen=True)
class Size:
    """How often each setting is shed at each of the fractions, and how many blocks are alike.

    With another `seed` there are other populations.
    """

    seeds: int = 200
    seed: int = 1
    blocks: int = 20
    settings: tuple[Setting, ...] = SETTINGS
    workers: int = 2


QUICK = Size(seeds=100, blocks=10, settings=SETTINGS[::2] + SETTINGS[1::6])


@dataclass(frozen=True)
class Tally:
    """Intervals of one aggregate: how many could be, are, hold the truth, and are no good."""

    all: int = 0
    given: int = 0
    covering: int = 0
    tellable: int = 0
    given_of_tellable: int = 0
    without_width: int = 0
    below_zero: int = 0

    def __add__(self, other: Tally) -> Tally:
        mine, others = vars(self), vars(other)
        return Tally(**{name: mine[name] + others[name] for name in mine})

    @property
    def coverage(self) -> float:
        """The part of the given intervals that hold the truth."""
        return self.covering / self.given if self.given else 1.0

    @property
    def share(self) -> float:
        """The part of intervals that are given where the truth can be told."""
        return self.given_of_tellable / self.tellable if self.tellable else 1.0

    @property
    def missed(self) -> tuple[str, ...]:
        """The promises that were not kept."""
        wrong = {
            f"holds the truth in {self.coverage:.1%}": self.coverage < LEAST_COVERAGE,
            f"is given in {self.share:.1%} of where it could be": self.share < LEAST_GIVEN,
            f"has no width {self.without_width} times": self.without_width > 0,
            f"is below 0 {self.below_zero} times": self.below_zero > 0,
        }
        return tuple(what for what, is_so in wrong.items() if is_so)


@dataclass(frozen=True)
class Finding:
    """The intervals of a setting, by what was kept of the streams and by aggregate."""

    setting: Setting
    tallies: tuple[dict[str, Tally], ...]

    @property
    def pooled(self) -> dict[str, Tally]:
        """The intervals by aggregate."""
        return {n: sum((each[n] for each in self.tallies), Tally()) for n in AGGREGATES}

    @property
    def missed(self) -> tuple[str, ...]:
        """The promises that were not kept."""
        return tuple(
            f"{self.setting.name}: the interval of {AGGREGATES[name]} {what}"
            for name, tally in self.pooled.items()
            for what in tally.missed
        )


def find_intervals(size: Size, progress: Progress) -> tuple[Finding, ...]:
    """Shed all settings, several at a time."""
    if size.workers == 1:
        return tuple(_told(shed_setting(setting, size), progress) for setting in size.settings)
    # A forked process would have the threads of this one without their work.
    with ProcessPoolExecutor(size.workers, mp_context=get_context("spawn")) as pool:
        work = [pool.submit(shed_setting, setting, size) for setting in size.settings]
        return tuple(_told(each.result(), progress) for each in work)


def _told(found: Finding, progress: Progress) -> Finding:
    progress(found.setting.name)
    return found


def shed_setting(setting: Setting, size: Size) -> Finding:
    """The intervals of one setting at all the fractions that are kept."""
    numbers = range(max(1, size.seeds // size.blocks))
    populations = [Population(setting, number + _APART * (size.seed - 1)) for number in numbers]
    with TemporaryDirectory(prefix="penstock-bench-") as scratch:
        folder = Path(scratch)
        for number, population in enumerate(populations):
            population.write(folder, number, size.blocks)
        base = default_plan(setting.query(folder))
        tallies = []
        for number, kept in enumerate(KEPT):
            shares = tuple(zip(setting.inputs, kept, strict=False))
            boxes = DropBoxes(shares, number + len(KEPT) * (size.seed - 1))
            # Plans estimate the same; both ways of summing up have their turn.
            early = tuple(setting.inputs[1:]) if number % 2 else ()
            plan = replace(base, drops=boxes, early=early)
            shown = _shown(plan, folder / str(number))
            judged = list(_judged(setting, populations, shown, size.blocks))
            tallies.append({n: sum((each[n] for each in judged), Tally()) for n in AGGREGATES})
    return Finding(setting, tuple(tallies))


def _shown(plan: Plan, folder: Path) -> pa.Table:
    sink = parquet(f"{folder}/results")
    open_run(plan, RunOptions(sink=sink, checkpoint=f"{folder}/run")).available_now(drain=True)
    rows = ds.dataset(f"{folder}/results", format="parquet").to_table()
    return rows.filter(pa.compute.equal(rows["_change"], "upsert"))


def _judged(
    setting: Setting, populations: Sequence[Population], shown: pa.Table, blocks: int
) -> Iterator[dict[str, Tally]]:
    """The intervals of each group."""
    times = shown["_time"].cast(pa.int64()).to_numpy() // 1_000_000
    groups = shown["g"].to_numpy() if setting.has_groups else np.zeros(len(shown), np.int64)
    columns = {name: _floats(shown, name) for name in shown.column_names if name[0] in AGGREGATES}
    for number, population in enumerate(populations):
        ends = block_of(number, blocks)
        is_here = (times >= ends[0]) & (times <= ends[-1])
        for group, truth in population.truth.items():
            rows = is_here & (groups == group)
            own = {name: column[rows] for name, column in columns.items()}
            yield {name: _tally(setting, name, true, own) for name, true in truth.items()}


def _floats(rows: pa.Table, name: str) -> Floats:
    values: Floats = rows[name].cast(pa.float64()).to_numpy()
    return values


def _tally(setting: Setting, name: str, true: float, own: dict[str, Floats]) -> Tally:
    values, low, high = (own[name + end] for end in ("", "_low", "_high"))
    given = np.isfinite(low)
    error = float(np.sqrt(np.mean((values - true) ** 2))) if len(values) else np.inf
    is_tellable = true != 0 and _NORMAL * error <= TELLABLE * abs(true)
    is_below = low < 0 if setting.is_one_sign or name == "n" else np.zeros(len(low), np.bool_)
    return Tally(
        all=len(values),
        given=int(given.sum()),
        covering=int(((low <= true) & (true <= high)).sum()),
        tellable=len(values) if is_tellable else 0,
        given_of_tellable=int(given.sum()) if is_tellable else 0,
        without_width=int((low == high).sum()),
        below_zero=int(is_below.sum()),
    )


class TallyFigures(TypedDict):
    """How often intervals were given, and how often they held the truth."""

    coverage: float
    given_where_tellable: float
    given: int
    tellable: int
    all: int
    without_width: int
    below_zero: int


class AggregateFigures(TallyFigures):
    """The tally of an aggregate in all, and that of each fraction kept."""

    kept: list[TallyFigures]


class IntervalsSetting(TypedDict):
    """The size of the benchmark, and what is promised."""

    seeds: int
    seed: int
    kept: list[list[float]]
    aggregates: Mapping[str, str]
    least_coverage: float
    least_given: float


class IntervalsDocument(TypedDict):
    """The figures for programs: by setting and aggregate."""

    settings: dict[str, dict[str, AggregateFigures]]
    missed: list[str]
    setting: IntervalsSetting


def document(found: Sequence[Finding], size: Size) -> IntervalsDocument:
    """The figures for programs: by setting and aggregate, in all and for what was kept."""
    return {
        "settings": {
            each.setting.name: {
                name: {
                    **_figures(each.pooled[name]),
                    "kept": [_figures(tally[name]) for tally in each.tallies],
                }
                for name in AGGREGATES
            }
            for each in found
        },
        "missed": [what for each in found for what in each.missed],
        "setting": {
            "seeds": size.seeds,
            "seed": size.seed,
            "kept": [list(kept) for kept in KEPT],
            "aggregates": AGGREGATES,
            "least_coverage": LEAST_COVERAGE,
            "least_given": LEAST_GIVEN,
        },
    }


def _figures(of: Tally) -> TallyFigures:
    return {
        "coverage": round(of.coverage, 4),
        "given_where_tellable": round(of.share, 4),
        "given": of.given,
        "tellable": of.tellable,
        "all": of.all,
        "without_width": of.without_width,
        "below_zero": of.below_zero,
    }
