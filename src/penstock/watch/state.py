"""The view State: tuples and bytes by module and partition, beside what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.engine.reports.report import Report
from penstock.engine.results.kept_query import kept_query
from penstock.engine.state.manifest import Manifest
from penstock.errors import PenstockError
from penstock.watch.charts.chart import Chart
from penstock.watch.charts.run_charts import state_chart
from penstock.watch.log_view import HISTORY, LogView
from penstock.watch.plan_graph import is_off


@dataclass(frozen=True)
class PartitionState:
    """What a partition of a module holds."""

    partition: int
    tuples: int
    bytes: int


@dataclass(frozen=True)
class ModuleState:
    """A module of the state after the last batch."""

    name: str
    tuples: int
    bytes: int
    predicted: float | None
    """Tuples that are expected in it."""

    is_off: bool
    """Whether that is wrong by more than a factor of two."""

    history: tuple[int | None, ...]
    """Tuples after each of the last batches, the oldest first."""

    partitions: tuple[PartitionState, ...] = ()
    skew: float | None = None
    """The tuples of the largest partition, as a multiple of the mean; None of a single one."""


@dataclass(frozen=True)
class State:
    """The state of a query."""

    batch: int | None
    tuples: int
    bytes: int
    predicted: float | None
    """Tuples that are expected in all windows."""

    history: tuple[int, ...]
    modules: tuple[ModuleState, ...] = ()
    charts: tuple[Chart, ...] = ()


def state_view(log: LogView) -> State:
    """The view of a log, and of the newest manifest of its checkpoint."""
    last, recent = log.last, log.reports[-HISTORY:]
    if last is None:
        return State(None, 0, 0, None, ())
    parts = partitions_of(log.checkpoint, log.query)
    return State(
        batch=last.batch,
        tuples=last.state_tuples,
        bytes=sum(each.bytes for each in last.modules.values()),
        predicted=None if last.prediction is None else last.prediction.state,
        history=tuple(each.state_tuples for each in recent),
        modules=tuple(_module(name, recent, parts.get(name, ())) for name in last.modules),
        charts=(state_chart(log.recent),),
    )


def skews_of(log: LogView) -> dict[str, float]:
    """The skew of each module that has several partitions, the largest first."""
    found = {name: skew(each) for name, each in partitions_of(log.checkpoint, log.query).items()}
    known = [(name, each) for name, each in found.items() if each is not None]
    return dict(sorted(known, key=lambda one: -one[1]))


def partitions_of(checkpoint: str, query: str | None) -> Mapping[str, tuple[PartitionState, ...]]:
    """The partitions by module, as of the newest batch; none where they cannot be read."""
    try:
        found = kept_query(checkpoint, query).newest(1)
    except (PenstockError, OSError):  # It is about to begin, or of several queries together.
        return {}
    return _by_module(found[0]) if found else {}


def _by_module(manifest: Manifest) -> dict[str, tuple[PartitionState, ...]]:
    return {
        str(module): tuple(
            PartitionState(number, sum(c.rows for c in chunks), sum(c.size for c in chunks))
            for number, chunks in sorted(partitions.items())
        )
        for module, partitions in manifest.modules.items()
    }


def _module(
    name: str, recent: tuple[Report, ...], partitions: tuple[PartitionState, ...]
) -> ModuleState:
    mine = recent[-1].modules[name]
    held = [each.modules.get(name) for each in recent]
    return ModuleState(
        name=name,
        tuples=mine.tuples,
        bytes=mine.bytes,
        predicted=mine.predicted,
        is_off=is_off(float(mine.tuples), mine.predicted),
        history=tuple(None if each is None else each.tuples for each in held),
        partitions=partitions,
        skew=skew(partitions),
    )


def skew(partitions: tuple[PartitionState, ...]) -> float | None:
    """The largest partition as a multiple of the mean."""
    held = [each.tuples for each in partitions]
    whole = sum(held)
    return max(held) * len(held) / whole if len(held) > 1 and whole else None
