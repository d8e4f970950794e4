"""Migration: from one tree to another while its inner join has a million rows."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from penstock.bench.drift.cases.following import Setting
from penstock.bench.drift.cases.trace import Trace
from penstock.bench.drift.streams.data import ensure_files
from penstock.bench.drift.streams.keys import Keys, Range
from penstock.bench.drift.streams.scenario import Flow, Scenario, Stretch
from penstock.plan.text.parse import forced_plan

WINDOW, STEP = 20.0, 4.0
"""Seconds of event time. A fifth of the inner rows is new in each batch."""
COMMON_KEYS, COMMON_SHARE = 1_000, 0.02
"""Keys that all streams have: of the tuples with others none is in a result."""
FROM_TREE, TO_TREE = "((A B) C)", "((A C) B)"


@dataclass(frozen=True)
class Size:
    """Rows of each inner join, tuples/s of each stream, and batches before and after the change."""

    inner_rows: float = 1e6
    rate: float = 1_000.0
    batches: int = 20


QUICK = Size(batches=12)


@dataclass(frozen=True)
class Migration:
    """A run in which the tree was changed, and one in which it was not; `inner_rows` are the rows
    of the largest module at the change, which is the inner join."""

    changed: Trace
    unchanged: Trace
    edge: int
    inner_rows: int

    @property
    def longest_vs_median(self) -> float:
        """The longest batch from the change on over the median of those with full windows."""
        return self._longest(self.changed)

    @property
    def longest_without_change(self) -> float:
        """The same where nothing was changed: chunks that are merged make long batches too."""
        return self._longest(self.unchanged)

    def _longest(self, run: Trace) -> float:
        return max(run.cpu[self.edge :]) / median(run.cpu[round(WINDOW / STEP) :])

    @property
    def is_exact(self) -> bool:
        return self.changed.answer == self.unchanged.answer


def migrating(size: Size) -> Scenario:
    """A has keys in common with B and with C, half of its tuples each; B and C have not."""
    rows = size.rate * WINDOW
    keys = round(rows * rows / 2 / size.inner_rows)
    common, half = Range(0, COMMON_KEYS, COMMON_SHARE), (1.0 - COMMON_SHARE) / 2
    first, second = COMMON_KEYS, COMMON_KEYS + keys
    own = {
        "A": (Range(first, second, half), Range(second, second + keys, half)),
        "B": (Range(first, second, 2 * half),),
        "C": (Range(second, second + keys, 2 * half),),
    }
    regime = {name: Flow(size.rate, {"k": Keys((common, *own[name]))}) for name in own}
    return Scenario(
        "migration",
        dict.fromkeys("ABC", WINDOW),
        ("A.k = B.k", "A.k = C.k"),
        {},
        (Stretch(regime, size.batches), Stretch(regime, size.batches)),
        STEP,
    )


def migration(size: Size, setting: Setting) -> Migration:
    """Change the tree half-way, and run the same without the change."""
    scenario = migrating(size)
    setting.progress(f"{scenario.name}: {scenario.batches} batches, {size.inner_rows:,.0f} rows")
    query = scenario.query(ensure_files(scenario, setting.data))
    old, new = (forced_plan(query, text) for text in (FROM_TREE, TO_TREE))
    edge = scenario.edges[0]
    changed = setting.run({0: old, edge: new})
    unchanged = setting.run({0: old})
    largest = max(each.tuples for each in changed.reports[edge - 1].modules.values())
    return Migration(changed, unchanged, edge, largest)
