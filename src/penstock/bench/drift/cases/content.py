"""Content drift: the sectors of the mesh benchmark's predicates swap, and a mesh grows stale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from penstock.bench.data import ensure_folder, write_file
from penstock.bench.drift.cases.follower import follower
from penstock.bench.drift.cases.following import Setting
from penstock.bench.drift.cases.trace import Entry, Trace
from penstock.bench.mesh.predicates_data import (
    SKEWED,
    Checked,
    Mixture,
    ensure_tuples,
    tuples_of,
)
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.query import Query
from penstock.sampling.analyze import analyze
from penstock.stats.calibration import calibrated
from penstock.stats.guess import complete
from penstock.stats.known import Known

SWAPPED = Mixture("swapped", 3, ((1, 1, 2), (2, 0, 0)))
"""As skewed, but each partition has become the next one."""


@dataclass(frozen=True)
class Size:
    """Tuples a file, files before the swap and after it, and seconds for the sample."""

    rows: int = 5_000
    files: int = 30
    sampling: float = 30.0


QUICK = Size(1_000, 14, 20.0)


@dataclass(frozen=True)
class Content:
    """Runs with the mesh of before the swap, with that of after it, and with a supervisor."""

    edge: int
    stale: Sequence[Trace]
    fresh: Sequence[Trace]
    followed: Sequence[Trace]

    @property
    def gain_vs_stale(self) -> float:
        """The rate of tuples in the last half of what came after the swap, over the stale one's."""
        return self._gain(self.followed)

    @property
    def possible_gain(self) -> float:
        """The same of a mesh that was trained on what came after the swap."""
        return self._gain(self.fresh)

    @property
    def is_exact(self) -> bool:
        return len({run.answer for run in (*self.stale, *self.fresh, *self.followed)}) == 1

    def _gain(self, runs: Sequence[Trace]) -> float:
        pairs = zip(self.stale, runs, strict=True)
        return median(self._tail(stale) / self._tail(run) for stale, run in pairs)

    def _tail(self, run: Trace) -> float:
        return sum(run.cpu[(self.edge + len(run.cpu)) // 2 :])


def content(size: Size, setting: Setting) -> Content:
    """Run both meshes and a supervised one, by turns."""
    setting.progress(f"content: {2 * size.files} batches of {size.rows:,} tuples")
    checked = Checked(SKEWED, size.rows, 2 * size.files, 1)
    query = checked.query(_files(size, setting.data))
    before, after = (_known(mixture, size, query, setting) for mixture in (SKEWED, SWAPPED))
    options = PlanOptions(kinds=frozenset({"mesh"}), engine=setting.engine)
    stale, fresh = decide(before, options).plan, decide(after, options).plan
    entries = [
        Entry({0: stale}),
        Entry({0: fresh}),
        Entry({0: stale}, follower(before, options)),
    ]
    runs = [setting.race(entries) for _ in range(setting.repeat)]
    return Content(size.files, *zip(*runs, strict=True))


def _known(mixture: Mixture, size: Size, query: Query, setting: Setting) -> Known:
    """What a sample tells of one mixture, as if it were known of the query over both."""
    checked = Checked(mixture, size.rows, size.files, 1)
    alone = checked.query(ensure_tuples(checked, setting.data))
    found = complete(alone, analyze(alone, seconds=size.sampling), calibrated(setting.engine))
    return replace(found, query=query)


def _files(size: Size, root: Path) -> Path:
    """The folder with files of both mixtures, one after the other."""
    name = f"drift-content-{size.files}x{size.rows}"
    return ensure_folder(root / name, lambda draft: _write(size, draft))


def _write(size: Size, folder: Path) -> None:
    folder.mkdir(parents=True)
    for number in range(2 * size.files):
        mixture = SKEWED if number < size.files else SWAPPED
        checked = Checked(mixture, size.rows, 2 * size.files, 1)
        write_file(tuples_of(checked, number), folder, number)
