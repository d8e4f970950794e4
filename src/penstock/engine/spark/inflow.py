"""The inflow of a run: the DataFrames that it reads, spooled at the beginning of each batch."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import PurePath

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from penstock.engine.places.place import Place
from penstock.engine.sources.slices import Slice
from penstock.engine.sources.spool import Spool, slices_of
from penstock.engine.spark.frames import spooling
from penstock.engine.spark.jvm import own_folder
from penstock.engine.spark.ticker import ticks
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store
from penstock.engine.wire.facts import Fact, SpooledRows
from penstock.engine.wire.packets import from_batches, unpack_facts
from penstock.engine.wire.tags import META
from penstock.engine.wire.task_errors import raise_error
from penstock.query import Query
from penstock.query.script import Script

Offsets = Mapping[str, int]
_FEW = 64
"""Columns; of as many numbers a row has a kilobyte at most."""


@dataclass(frozen=True)
class SparkLogs:
    """Where Spark keeps the logs of a query, and which batch of ours its first one there is."""

    folder: Place
    first: int = 0
    is_temporary: bool = False

    def remove(self) -> None:
        """Have no logs that nobody reads again."""
        if self.is_temporary:
            shutil.rmtree(self.folder, ignore_errors=True)


class Inflow:
    """Rows that come through Spark. Its offset log says which of them a batch has; once they are
    listed in the spool, the batch reads them from there."""

    def __init__(
        self,
        spark: SparkSession,
        asked: Query | Script,
        frames: Mapping[str, DataFrame],
        store: Store,
        served: Collection[str] = (),
    ):
        """`served` are what another process has the frames of: a batch has rows of its streams,
        and its tables have been spooled by `prepare` there."""
        self._asked = asked
        self._spool = Spool(store)
        sources = asked.sources
        made = {name: spooling(frame, sources[name], store.root) for name, frame in frames.items()}
        self._streams = {n: each for n, each in made.items() if not sources[n].is_table}
        self._tables = {n: each for n, each in made.items() if sources[n].is_table}
        self._names = (*self._streams, *(n for n in served if not sources[n].is_table))
        self._prepared = [name for name in served if sources[name].is_table]
        self._spark = spark

    @property
    def has_streams(self) -> bool:
        """Whether batches have rows that only Spark knows of: none may be skipped or given up."""
        return bool(self._names)

    @property
    def is_narrow(self) -> bool:
        """Whether all rows of its DataFrames are of a few numbers each."""
        fields = [self._asked.sources[name].whole_fields for name in self._names]
        return all(len(each) <= _FEW and all(f.type.is_narrow for f in each) for each in fields)

    def logs(self, store: Store, standing: Manifest) -> SparkLogs:
        """The logs of a query that goes on from a manifest.

        Spark reaches a store by a connector alone, which must be installed beside it. Where no rows
        come through Spark, its logs say nothing that our checkpoint does not: then they lie in a
        temporary folder of the driver.
        """
        if store.is_local or self.has_streams:
            return SparkLogs(store.root / "spark")
        folder = tempfile.mkdtemp(prefix="logs-", dir=own_folder())
        return SparkLogs(Place.of(folder), _next_batch(store, standing.batch), is_temporary=True)

    def is_due(self, done: Offsets) -> bool:
        """Whether the next batch must run, whatever else it reads."""
        return self.has_streams or bool(self._unread(done))

    def prepare(self, done: Offsets) -> None:
        """Spool the tables that no batch has read, for a process that has no frames of them."""
        if new := self._new_tables(done):
            self._spool.enter_tables(self._spooled([*new.values()]))

    def packets(self, tasks: int) -> DataFrame:
        """One stream: ticks to read slices at, where something is read so, and the DataFrames.

        Spark knows its sources by their places, so these follow from the query alone.
        """
        sources = self._asked.sources.values()
        is_ticking = any(not s.is_of_spark or s.format == "rate" for s in sources)
        first = [ticks(self._spark, tasks)] if is_ticking or not self._streams else []
        return reduce(DataFrame.union, [*first, *self._streams.values()])

    def take(
        self, frame: DataFrame, number: int, done: Offsets, tasks: int, clock: int | None = None
    ) -> tuple[list[Slice], Offsets]:
        """Spool what batch `number` has, if it was not; its slices, and the rows by then. `clock`
        tells what of them would be in the future."""
        new = self._unread(done)
        if not self._names and not new:
            return [], {}
        files = self._spool.listed(number)
        if files is None:
            frames = [*([frame] if self._names else ()), *self._new_tables(done).values()]
            prepared = [each for each in self._spool.tables() if each.source in new]
            files = (*self._spooled(frames), *prepared)
            self._spool.enter(number, files)
        elif self._names:
            self.pass_over(frame)
        slices, after = slices_of(files, done, tasks)
        sources = self._asked.sources
        slices = [replace(each, latest=sources[each.source].latest(clock)) for each in slices]
        # What sent nothing is told too: a table without rows is read once like any other.
        return slices, {n: done.get(n, 0) for n in (*self._names, *new)} | after

    def pass_over(self, frame: DataFrame) -> None:
        """Have Spark read rows that we have already, for the state of its own operators.

        Where it cannot any more, there may be no such state; if there is, it will say so.
        """
        if self._names:
            with suppress(PySparkException):
                _facts(frame)

    def sweep(self, done: int) -> None:
        """Delete what no batch after `done` reads."""
        if self._names or self._tables or self._prepared:
            self._spool.sweep(done)

    def _new_tables(self, done: Offsets) -> dict[str, DataFrame]:
        """The tables that no batch has read yet."""
        return {name: frame for name, frame in self._tables.items() if name not in done}

    def _unread(self, done: Offsets) -> list[str]:
        return [name for name in (*self._tables, *self._prepared) if name not in done]

    def _spooled(self, frames: Sequence[DataFrame]) -> tuple[SpooledRows, ...]:
        if not frames:
            return ()
        facts = _facts(reduce(DataFrame.union, frames))
        raise_error(facts)
        return tuple(fact for fact in facts if isinstance(fact, SpooledRows))


def _next_batch(store: Store, done: int) -> int:
    """The batch that an earlier run has begun, or the next one: Spark's numbers have gaps."""
    begun = (int(PurePath(name).stem) for name in store.names("feed"))
    return min((number for number in begun if number > done), default=done + 1)


def _facts(frame: DataFrame) -> list[Fact]:
    """What the tasks of a DataFrame tell; ticks tell nothing."""
    packets = from_batches(frame.toArrow().to_batches())
    return unpack_facts(packet for packet in packets if packet.tag == META)
