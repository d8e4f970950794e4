"""Pack: read a slice of a source, hash its keys, and address its tuples to their partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import evaluate, one_array
from penstock.engine.folding.fold import folded, with_lanes
from penstock.engine.join.key_sketches import KeyCounters, KeyShares
from penstock.engine.join.pack_meter import PackMeter
from penstock.engine.join.sampling import Draw, sample_of
from penstock.engine.places.place import Place
from penstock.engine.routes.address import address
from penstock.engine.routes.multiway_routes import Routing
from penstock.engine.routes.screening import Screened, Screener, metered
from penstock.engine.rows.columns import (
    ARRIVAL,
    PASSES,
    ROUTE,
    TS,
    column_name,
    hash_name,
    plain_name,
)
from penstock.engine.rows.layout import Layout, partition_by
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.rows.sample_weights import drawn
from penstock.engine.sinks.malformed_rows import stage_kept
from penstock.engine.sources.read_slice import Arrivals, read_slice
from penstock.engine.sources.slices import Slice
from penstock.engine.state.frontier import Reading
from penstock.engine.wire.exchange import hash_values
from penstock.engine.wire.facts import KeptRows, UnreadableFile
from penstock.engine.wire.packets import Packet, pack_fact, pack_rows
from penstock.engine.wire.tags import READ, Tag
from penstock.kernels.drop import keeps
from penstock.kernels.hashing import combine
from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.query import Query
from penstock.query.expression import as_type
from penstock.query.query import Input
from penstock.query.view import CHANGE, UPSERT
from penstock.query.window import RowsWindow

Int64s = NDArray[np.int64]
Arrays = dict[str, pa.Array]


@dataclass(frozen=True)
class Packing:
    """The step that reads: it decides where tuples go, which are late, and which are shed.

    `open_tick` is the next one at which a view is evaluated. `screeners` take the tuples of an
    input through its filters; those of other inputs are taken in the query's order. Malformed rows
    that are kept go to files below `root`, the checkpoint's. `key_shares` say how large a part of
    the keys is sketched, if they are; `samples` are drawn of some inputs. `heard` is what a script
    knows of its streams before anybody reads. What `leaves` names is read by another job. One that
    does not `send` only tells what was read: another query of its script keeps the tuples for it.
    """

    layout: Layout
    routing: Routing
    partitions: int
    late_below: Mapping[str, int]
    drops: DropBoxes = NO_DROPS
    open_tick: int = -FOREVER
    screeners: Mapping[str, Screener] = field(default_factory=dict)
    root: Place | None = None
    key_shares: KeyShares | None = field(default_factory=dict)
    samples: Mapping[str, Draw] = field(default_factory=dict)
    heard: tuple[Reading, ...] = ()
    leaves: frozenset[str] = frozenset()
    sends: bool = True

    @property
    def query(self) -> Query:
        return self.layout.query

    def run(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """Tuples for the first step, and facts with what was read of each source."""
        meter = self.meter()
        for packet in packets:
            match packet.tag:
                case Tag("slice"):
                    yield from self._pack_slice(Slice.of(packet), meter)
                case _:
                    yield from self.passed_on(packet)
        yield from self.told(meter)

    def meter(self) -> PackMeter:
        """Counts what one task packs."""
        shares = self.key_shares
        return PackMeter(None if shares is None else KeyCounters(shares))

    def passed_on(self, packet: Packet) -> Iterator[Packet]:
        """A packet that is nothing to be read, and what is known by then."""
        yield packet
        yield from self._tell_view(packet)
        if self.heard:
            known = pack_fact(0, *self.heard)
            yield known
            yield from self._tell_view(known)

    def reads(self, name: str) -> bool:
        """Whether tuples of a source are wanted."""
        return name in self.query.sources and name not in self.leaves

    def _pack_slice(self, piece: Slice, meter: PackMeter) -> Iterator[Packet]:
        name = piece.source
        if not self.reads(name):
            return
        columns, hints = self.columns(name), self.hints(name)
        arrivals = read_slice(self.query.sources[name], columns, piece, hints, self.root)
        for number, block in enumerate(arrivals):
            yield from faults_of(self.root, piece, number, block)
            yield from self.pack(name, block, meter)

    def pack(self, name: str, block: Arrivals, meter: PackMeter) -> Iterator[Packet]:
        """The tuples of a block of a source, for all inputs that read it."""
        on_time = block.times >= self.late_below.get(name, -FOREVER)
        late = len(on_time) - int(on_time.sum())
        if late:
            block = block.at(on_time)
        kept = {item.alias: self._kept(item, block) for item in self.query.reading(name)}
        for item in self.query.reading(name) if len(block.times) else ():
            if item.alias in self.layout.sampled and self._sheds(item):
                meter.take_shed_times(item.alias, int(block.times.min()), int(block.times.max()))
        begun = [int(each.times.min()) for each in kept.values() if len(each.times)]
        meter.take_reading(
            Reading(
                source=name,
                rows=len(on_time),
                late=late,
                malformed=block.malformed,
                unreadable=int(block.unreadable is not None),
                highest=None if self._is_derived(name) else _last(block.times),
                lowest=min(begun, default=None),
                part=block.part,
            )
        )
        for item in self.query.reading(name) if self.sends and len(block.times) else ():
            yield from self._address(item, block, kept[item.alias], meter)

    def told(self, meter: PackMeter) -> Iterator[Packet]:
        """What a task has read, and all that it has learned of it: once for all of its slices."""
        if meter.readings:
            read = pack_fact(0, *meter.readings)
            yield read
            yield from self._tell_view(read)
        if meter.counts:
            yield pack_fact(0, *meter.counts)
        facts = list(meter.read())
        if facts:
            yield pack_fact(0, *facts)

    def _tell_view(self, fact: Packet) -> Iterator[Packet]:
        """Send what was read also to where a view and its inputs are kept: it decides which ticks
        are evaluated, and which tuples of an outer join are past having partners. Numbered tuples
        have their ends, so that theirs need not know."""
        if self.query.view is None and self.query.outer is None:
            return
        is_kept = self.sends and not self.query.is_sequenced
        homes = self.layout.spaces.values() if is_kept else ()
        views = () if self.query.view is None else (self.layout.view_space,)
        for space in sorted({*views, *(s for mine in homes for s in mine)}):
            base = space * self.partitions
            yield from (Packet(base + p, READ, fact.data) for p in range(self.partitions))

    def _address(
        self, item: Input, block: Arrivals, kept: Arrivals, meter: PackMeter
    ) -> Iterator[Packet]:
        """What is `kept` of a block, addressed to where it belongs."""
        yield from self._sample(item.alias, block)
        if len(kept.times) < len(block.times) and not self._is_derived(item.source.name):
            meter.take_shed(item.alias, len(block.times) - len(kept.times))
        screened = self._screened(item, kept)
        yield from (pack_fact(0, fact) for fact in meter.take(screened.facts))
        passed = int(np.count_nonzero(screened.passes))
        if self.query.filters_of(item.alias):
            meter.take_filtered(item.alias, len(kept.times), passed)
        packed = tuples_of(self.layout, item, kept, screened, self.drops)
        rows = packed.rows
        meter.take_keys(item.alias, passed, packed.known, rows)
        if self.query.is_sequenced:
            if len(rows):
                yield pack_rows(0, Tag("new", item.alias), rows)
            return
        rows = with_lanes(self.layout, item.alias, rows)
        rows = folded(self.layout, item.alias, rows, self.open_tick)
        yield from address(self.layout, self.routing, self.partitions, item.alias, rows)

    def _sample(self, alias: str, block: Arrivals) -> Iterator[Packet]:
        """The sample of a block, before drop boxes and filters, if one is wanted."""
        draw = self.samples.get(alias)
        drawn = None if draw is None else sample_of(alias, draw, block)
        if drawn is not None:
            yield pack_fact(0, drawn)

    def _kept(self, item: Input, block: Arrivals) -> Arrivals:
        """The tuples that an input's drop box lets through; a table has none.

        Of the changes of a view, a window has what came and not what went.
        """
        if item.source.key is not None and not item.is_relation:
            return block.at(_is_upsert(block.rows))
        if not self._sheds(item):
            return block
        fraction = self.drops.fraction(item.alias)
        return block.at(keeps(self.drops.seed, item.alias, block.numbers, fraction))

    def _sheds(self, item: Input) -> bool:
        """Whether an input has a drop box that is on."""
        return not (item.is_table or item.is_relation) and self.drops.fraction(item.alias) < 1.0

    def _screened(self, item: Input, block: Arrivals) -> Screened:
        screener = self.screeners.get(item.alias)
        if screener is not None:
            return screener.screen(block.rows, int(block.numbers[0]) if len(block.numbers) else 0)
        conditions = self.query.filters_of(item.alias)
        passes, flows = metered(item.alias, 0, conditions, block.rows)
        return Screened(passes, facts=tuple(flows))

    def _is_derived(self, name: str) -> bool:
        """Whether a source is another query, which says itself how far it has come."""
        return self.query.sources[name].format == "derived"

    def columns(self, name: str) -> tuple[str, ...]:
        """The columns that are read of a source."""
        source = self.query.sources[name]
        aliases = [item.alias for item in self.query.reading(name)]
        wanted = {column for alias in aliases for column in self.layout.reads(alias)}
        if source.key is not None:
            wanted.add(CHANGE)
        return tuple(f.name for f in source.fields if f.name in wanted)

    def hints(self, name: str) -> tuple[str, ...]:
        """The columns that screeners look at or samples want, whoever else does."""
        aliases = [item.alias for item in self.query.reading(name)]
        looks = [self.screeners[alias].attributes for alias in aliases if alias in self.screeners]
        wants = [self.samples[alias].columns for alias in aliases if alias in self.samples]
        return tuple(dict.fromkeys(column for each in (*looks, *wants) for column in each))


def faults_of(root: Place | None, piece: Slice, number: int, block: Arrivals) -> Iterator[Packet]:
    """What did not come of block `number` of a slice; rows that are kept go below `root`."""
    if block.kept:
        assert root is not None, "there is a checkpoint where rows are kept"
        staged = stage_kept(root, block.kept)
        yield pack_fact(0, KeptRows(piece.source, (piece.place, number), staged))
    if block.unreadable is not None:
        yield pack_fact(0, UnreadableFile(piece.source, block.unreadable))


def _last(times: Int64s) -> int | None:
    return int(times.max()) if len(times) else None


def _is_upsert(rows: pa.RecordBatch) -> NDArray[np.bool_]:
    """Which changes of a view show a row."""
    shows: NDArray[np.bool_] = pc.equal(rows.column(CHANGE), UPSERT).to_numpy(zero_copy_only=False)
    return shows


@dataclass(frozen=True)
class Packed:
    """Tuples of one input with hashed keys, and how many of those that met the filters have no NULL
    in each key class."""

    rows: pa.RecordBatch
    known: Mapping[int, int]


def tuples_of(
    layout: Layout,
    item: Input,
    block: Arrivals,
    screened: Screened,
    drops: DropBoxes = NO_DROPS,
) -> Packed:
    """The tuples of one input, less those that can never be in a result.

    In a ROWS window such tuples still count: there they stay, marked as not passing.
    """
    arrays = {c.name: block.rows.column(c.name) for c in _declared(item, block.rows)}
    passes, counts = screened.passes, {}
    met = int(np.count_nonzero(passes))
    out: Arrays = {TS: pa.array(block.times)}
    if screened.rusters is not None:
        out[ROUTE] = pa.array(screened.rusters)
    if layout.query.is_sequenced:
        out[ARRIVAL] = pa.array(block.numbers)
    for key in layout.keys_of(item.alias):
        hashes, known = _hash_key(layout, item, key, block.rows)
        out[hash_name(key)] = pa.array(hashes)
        counts[key] = met if known is None else int(np.count_nonzero(screened.passes & known))
        if known is not None and not layout.keeps_unknown(item.alias, key):
            passes = passes & known
    if not layout.keys_of(item.alias):
        out[ARRIVAL] = pa.array(block.numbers)
    for column in layout.payload(item.alias):
        out[column_name(column)] = arrays[column.name]
    if item.alias in layout.sampled:
        out |= drawn(drops, item.alias, block.numbers)
    if isinstance(item.window, RowsWindow):
        for name in partition_by(item):
            out[f"{item.alias}.{name}"] = arrays[name]
        out[PASSES] = pa.array(passes)
        return Packed(pa.RecordBatch.from_pydict(out), counts)
    rows = pa.RecordBatch.from_pydict(out)
    return Packed(rows if passes.all() else rows.filter(pa.array(passes)), counts)


def _hash_key(
    layout: Layout, item: Input, key: int, rows: pa.RecordBatch
) -> tuple[Int64s, NDArray[np.bool_] | None]:
    """The hashes of a key and which of them have no NULL in it (None: all)."""
    known = None
    hashes = []
    key_class = layout.keys[key]
    for part, type_ in zip(key_class.parts(item.alias), key_class.types, strict=True):
        values = one_array(evaluate(as_type(part, type_), rows, plain_name))
        if values.null_count:
            valid = values.is_valid().to_numpy(zero_copy_only=False)
            known = valid if known is None else known & valid
        hashes.append(hash_values(values))
    return combine(hashes), known


def _declared(item: Input, rows: pa.RecordBatch) -> list[pa.Field]:
    names = {f.name for f in item.source.fields}
    return [f for f in rows.schema if f.name in names]
