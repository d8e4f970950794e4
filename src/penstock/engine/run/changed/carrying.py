"""Carrying state over to a query that was changed: what it lacks, and what becomes of each part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from penstock.engine.join.expiry import coming_to
from penstock.engine.results.columns import has_columns, read_columns
from penstock.engine.rows.layout import Layout
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.run.changed.difference import Difference, fault_of
from penstock.engine.run.changed.kept_rows import Carried
from penstock.engine.run.changed.kept_totals import lacking, renamed, still_shown
from penstock.engine.sinks.sink import result_schema
from penstock.engine.state.checkpoint import Checkpoint
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import INTERVALS, SHOWN, Module, Modules
from penstock.engine.state.store import ChunkInfo, Store, read_rows
from penstock.errors import CheckpointError
from penstock.query import Query

_ANEW = "use another --checkpoint to start anew"


@dataclass(frozen=True)
class Carrying:
    """The state of a query as it was, for the query as it is."""

    checkpoint: Checkpoint
    query: Query
    standing: Manifest

    sharers: tuple[str, ...] = ()
    """Other queries of a script that have found, or find, their combinations together with it."""

    @cached_property
    def difference(self) -> Difference:
        """What is asked otherwise."""
        assert self.checkpoint.changed is not None, "only then is anything carried over"
        return Difference(self.checkpoint.changed, self.query)

    @cached_property
    def layout(self) -> Layout:
        """The columns that are needed from now on."""
        return Layout(self.checkpoint.placed(self.query))

    @property
    def store(self) -> Store:
        return self.checkpoint.store

    # What may be

    def check(self) -> None:
        """Refuse a query that cannot go on with what is there, and say what is missing."""
        fault = fault_of(self.difference) or self._sharing_fault() or self._output_fault()
        if fault is None and any(True for _ in self.standing.chunks()):
            fault = self._state_fault()
        if fault is not None:
            message = f"checkpoint {self.store.root} cannot go on with this query: {fault}"
            raise CheckpointError(message, hint=_ANEW)

    def _sharing_fault(self) -> str | None:
        """That the windows of a query lie with others, who have asked for what is kept there."""
        if not self.sharers or (self.query.view and not self.difference.asks_other_totals):
            return None
        return (
            f"it shares the tuples that are kept with {', '.join(self.sharers)}; "
            "outputs and HAVING of its view may change"
        )

    def _output_fault(self) -> str | None:
        """A result whose type is another than in the results that are there."""
        if not has_columns(self.store):
            return None
        known = read_columns(self.store).schema
        for field in result_schema(self.query):
            if field.name in known.names and known.field(field.name).type != field.type:
                was = known.field(field.name).type
                return (
                    f"its results have a column {field.name} of another type, {was}; "
                    "give the new one another name"
                )
        return None

    def _state_fault(self) -> str | None:
        if self.difference.removed_filters:
            return f"tuples that {self.difference.removed_filters[0]} has dropped are not kept"
        return self._folded_fault() or self._missing_columns() or self._totals_fault()

    def _folded_fault(self) -> str | None:
        """That tuples are not kept one by one, where that would be needed."""
        standing, difference = self.standing, self.difference
        if not difference.asks_other_totals:
            return None
        if standing.weighted:
            names = ", ".join(standing.weighted)
            return f"{names} was aggregated early: of its tuples only the sums of before are kept"
        if standing.sampled or standing.has_ends:
            return "it was shed, and its estimates are of what was asked before"
        return None

    def _missing_columns(self) -> str | None:
        lacks = [each for alias in self.query.aliases for each in self._lacks(alias)]
        if not lacks:
            return None
        return f"its state lacks {', '.join(dict.fromkeys(lacks))}, which nothing needed before"

    def _lacks(self, alias: str) -> Iterator[str]:
        if alias in self.standing.weighted:
            return  # Its sums are there, and no others are asked for.
        for module in self._modules_of(alias):
            for chunks in self.standing.modules.get(module, {}).values():
                if chunks:
                    rows = read_rows(self.store.root, chunks[0])
                    yield from self._carried(alias).lacks(rows.schema.names)
                    return

    def _totals_fault(self) -> str | None:
        """What a view would have to add up, and nobody knows any more."""
        if not self._has_other_totals or self._is_rebuilt:
            return None
        names = ", ".join(item.alias for item in self.query.streams)
        others = [part for part in ("filters", "other predicates", "inputs") if self._differs(part)]
        if others or self.difference.has_other_ticks:
            return f"the tuples of {names} are not kept: only the totals of what was asked before"
        chunks = [c for each in self.standing.modules[INTERVALS].values() for c in each]
        known = read_rows(self.store.root, chunks[0]).schema.names if chunks else None
        wanted = [] if known is None else lacking(self.difference, known)
        if wanted:
            return (
                f"the tuples of {names} are not kept, and their totals do not tell "
                f"{', '.join(wanted)}"
            )
        return None

    def _differs(self, part: str) -> bool:
        return self.difference.differs(part)

    @property
    def _has_other_totals(self) -> bool:
        """Whether the interval table of a view is one of other totals."""
        return self.difference.asks_other_totals and INTERVALS in self.standing.modules

    @property
    def _is_rebuilt(self) -> bool:
        """Whether totals can be made again from the windows of all streams."""
        streams = self.standing.streams
        return all(
            coming_to(self.query, (item.alias,), streams) < FOREVER for item in self.query.streams
        )

    # What becomes of it

    def state(self) -> Manifest:
        """The state before the next batch, with new chunks where rows are others.

        Inner results are made again from the windows, and so are the totals of a view, if they are
        others. It becomes final with that batch.
        """
        standing = self.standing
        modules = {m: self._chunks(m) for m in standing.modules if m not in standing.inner}
        is_anew = self._has_other_totals and self._is_rebuilt
        if is_anew:
            modules.pop(INTERVALS)
        return replace(
            standing,
            modules=modules,
            inner=(),
            gaps={},
            is_recomputed=standing.is_recomputed or is_anew,
            renewed=standing.batch + 1,
        )

    def _chunks(self, module: Module) -> dict[int, tuple[ChunkInfo, ...]]:
        parts: Modules = {module: self.standing.modules[module]}
        return {
            pid: tuple(new for c in chunks if (new := self._chunk(module, pid, c)) is not None)
            for pid, chunks in parts[module].items()
        }

    def _chunk(self, module: Module, pid: int, info: ChunkInfo) -> ChunkInfo | None:
        """A chunk with its rows as they are needed now: itself, if they are the same."""
        rows = read_rows(self.store.root, info)
        new = self._rows(module, rows)
        if new.schema == rows.schema and len(new) == len(rows) and new.equals(rows):
            return info
        return self.store.write_chunk(module.folders(pid), new, info.tier) if len(new) else None

    def _rows(self, module: Module, rows: pa.RecordBatch) -> pa.RecordBatch:
        if module == SHOWN:
            return still_shown(self.query, rows)
        if module == INTERVALS:
            is_kept = self._has_other_totals and not self._is_rebuilt
            return renamed(self.difference, rows) if is_kept else rows
        owner = next((a for a in self.query.aliases if module in self._modules_of(a)), None)
        is_plain = owner is None or owner in self.standing.weighted
        return rows if is_plain else self._carried(str(owner)).rows(rows)

    def _modules_of(self, alias: str) -> tuple[Module, ...]:
        kept = (Module.kept(alias, space) for space in self.layout.spaces[alias])
        return (*kept, Module.ring(alias), Module.pending(alias))

    def _carried(self, alias: str) -> Carried:
        added = self.difference.added_filters
        filters = self.layout.query.filters_of(alias)
        return Carried(self.layout, alias, tuple(c for c in filters if str(c) in added))

    def words(self) -> str:
        """What is said of it: what has changed, and what is kept."""
        kept = sum(chunk.rows for chunk in self.standing.chunks())
        changed = ", ".join(self.difference.words()) or "what it reads"
        return f"{changed}; it goes on with {kept:,} rows of state"
