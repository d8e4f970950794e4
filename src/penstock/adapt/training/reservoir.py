"""The reservoir: a sample of every stream, kept while a query runs, that meshes are trained by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pyarrow as pa

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.training.kept_sample import KeptSample
from penstock.engine.join.sampling import Draw
from penstock.engine.wire.facts import Fact, InputSample
from penstock.optimize.options import DEFAULT_OPTIONS, PlanOptions
from penstock.query import Query
from penstock.sampling.sample import is_trained, take_head, training_columns
from penstock.stats.statistics import Statistics
from penstock.stats.training import Training

_TABLE_ROWS = 100_000
"""Rows of a table that are looked at, as `penstock analyze` does: it is read once."""

_DRAWN = 64
"""Batches drawn from that are remembered by their numbers: more than any training waits for."""


class Reservoir:
    """Says what batches are to draw, keeps it, and trains by it.

    `take` is called by the thread that runs the batches, `training` by any. Recent tuples replace
    old ones; what is kept follows from the tuples alone, never from the clock.
    """

    def __init__(
        self,
        query: Query,
        options: PlanOptions = DEFAULT_OPTIONS,
        settings: Settings = DEFAULT_SETTINGS,
    ):
        self._query = query
        self._settings = settings
        self._batch = 0
        self._drawn: tuple[int, ...] = ()
        self._kept = {each: KeptSample(each) for each in sampled_inputs(query, options)}
        self._tables: dict[str, pa.Table] = {}

    @property
    def is_ready(self) -> bool:
        """Whether enough batches were drawn from to train by, since the start or the last drift."""
        return bool(self._kept) and len(self._drawn) >= self._settings.training_batches

    @property
    def sizes(self) -> Mapping[str, int]:
        """Tuples kept, by alias."""
        return {alias: len(kept) for alias, kept in self._kept.items()}

    def wanted(self) -> Mapping[str, Draw]:
        """What the next batch is to draw, by alias: nothing in most, once there is enough."""
        settings = self._settings
        is_turn = self._batch % settings.sample_every == 0
        is_filled = self.is_ready and self._batch % settings.sample_fill != 0
        return {
            alias: Draw(kept.columns(self._query), kept.share(settings.sample_draw))
            for alias, kept in self._kept.items()
            if is_turn or (len(kept) < settings.sample_enough and not is_filled)
        }

    def take(self, facts: Iterable[Fact]) -> None:
        """Take in what a batch has drawn."""
        found: dict[str, list[InputSample]] = {}
        for fact in facts:
            if isinstance(fact, InputSample):
                found.setdefault(fact.alias, []).append(fact)
        self._batch += 1
        self._drawn = (*self._drawn, self._batch)[-_DRAWN:] if found else self._drawn
        for alias, drawn in found.items():
            kept = self._kept[alias]
            kept = kept.with_drawn(drawn, self._batch, self._query, self._settings)
            self._kept = {**self._kept, alias: kept}

    def forget(self, batches: int) -> None:
        """Forget all that came before the last so many batches: the content is another now."""
        last = self._batch - batches
        self._drawn = tuple(batch for batch in self._drawn if batch > last)
        self._kept = {alias: kept.after(last) for alias, kept in self._kept.items()}

    def training(self, statistics: Statistics) -> tuple[Mapping[str, Training], Mapping[str, str]]:
        """Training of each stream by what is kept, and why others have none.

        The work is bounded by counts of tuples: the same sample and figures give the same.
        """
        # Here, because a run should not wait a second for scikit-learn.
        from penstock.adapt.training.rehearsal import trained_by

        kept = self._kept
        if not kept:
            return {}, {}
        shares = {alias: each.rows for alias, each in kept.items() if each.rows is not None}
        return trained_by(
            replace(statistics, training={}, untrained={}),
            {**shares, **self._read_tables()},
            self._settings,
        )

    def _read_tables(self) -> dict[str, pa.Table]:
        """The tables of the query: they do not change, and are not read again by a restart."""
        for item in self._query.inputs:
            if item.is_table and item.alias not in self._tables:
                columns = training_columns(self._query, item)
                self._tables[item.alias] = take_head(item.source, columns, _TABLE_ROWS)
        return self._tables


def sampled_inputs(query: Query, options: PlanOptions) -> tuple[str, ...]:
    """The streams to sample: all, if meshes may be chosen and tuples of one could be told apart."""
    may_be = "mesh" in options.kinds - options.off and options.plan is None
    if not may_be or not any(is_trained(query, item) for item in query.inputs):
        return ()
    return tuple(item.alias for item in query.streams)
