"""Pack: read a slice of a source, hash its keys, and address its tuples to their partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.expressions.evaluate import evaluate, one_array, passing
from penstock.engine.folding.fold import folded, with_lanes
from penstock.engine.places.place import Place
from penstock.engine.routes.multiway_routes import Routing
from penstock.engine.routes.rusters import ruster
from penstock.engine.routes.screening import Screened, Screener
from penstock.engine.rows.columns import (
    ARRIVAL,
    PASSES,
    ROUTE,
    TS,
    column_name,
    hash_name,
    is_control,
    plain_name,
)
from penstock.engine.rows.lanes import is_lane
from penstock.engine.rows.layout import Layout, partition_by
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.rows.sample_weights import drawn
from penstock.engine.sinks.malformed_rows import stage_kept
from penstock.engine.sources.read import event_micros, read_file
from penstock.engine.sources.slices import Slice
from penstock.engine.sources.synthetic import Synthetic
from penstock.engine.wire.packets import Packet, pack_meta, pack_rows, unpack_rows
from penstock.kernels.drop import keeps
from penstock.kernels.hashing import combine, hash_column, partition_of
from penstock.plan.drops import NO_DROPS, DropBoxes
from penstock.query import Query
from penstock.query.expression import as_type
from penstock.query.query import Input
from penstock.query.source import Source
from penstock.query.window import RowsWindow

Int64s = NDArray[np.int64]
Arrays = dict[str, pa.Array]

READ = "read"


@dataclass(frozen=True)
class Arrivals:
    """Tuples as they come from a source: declared columns, event times and arrival numbers.

    `malformed`, `kept` and `unreadable` tell of what did not come, as in a `Block`.
    """

    rows: pa.RecordBatch
    times: Int64s
    numbers: Int64s
    malformed: int = 0
    kept: bytes = b""
    unreadable: str | None = None

    def at(self, mask: NDArray[np.bool_]) -> Arrivals:
        """Those where the mask is true."""
        rows = self.rows.filter(pa.array(mask))
        return replace(self, rows=rows, times=self.times[mask], numbers=self.numbers[mask])


@dataclass(frozen=True)
class Packing:
    """What packing needs to know: where tuples go, which are late, and which are shed.

    `open_tick` is the next one at which a view is evaluated. `screeners` take the tuples of an
    input through its filters; those of other inputs are taken in the query's order. Malformed rows
    that are kept go to files below `root`, the checkpoint's.
    """

    layout: Layout
    routing: Routing
    partitions: int
    late_below: Mapping[str, int]
    drops: DropBoxes = NO_DROPS
    open_tick: int = -FOREVER
    screeners: Mapping[str, Screener] = field(default_factory=dict)
    root: Place | None = None

    @property
    def query(self) -> Query:
        return self.layout.query

    def run(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """Tuples for the first step, and a fact with what was read of each source."""
        for packet in packets:
            if packet.tag == "meta":
                yield packet
                yield from self._tell_view(packet)
                continue
            if packet.tag == "slice":
                yield from self._pack_slice(Slice.of(packet))
            else:
                name = packet.tag.removeprefix("rows:")
                for block in _from_spark(self._source(name), packet):
                    yield from self._pack_block(name, block)

    def _pack_slice(self, piece: Slice) -> Iterator[Packet]:
        name = piece.source
        columns, hints = self._columns(name), self._hints(name)
        for number, block in enumerate(read_slice(self._source(name), columns, piece, hints)):
            if block.kept:
                assert self.root is not None, "there is a checkpoint where rows are kept"
                staged = stage_kept(self.root, block.kept)
                yield pack_meta(0, "kept", source=name, at=[piece.number, number], **asdict(staged))
            if block.unreadable is not None:
                yield pack_meta(0, "unreadable", source=name, reason=block.unreadable)
            yield from self._pack_block(name, block)

    def _pack_block(self, name: str, block: Arrivals) -> Iterator[Packet]:
        on_time = block.times >= self.late_below.get(name, -FOREVER)
        late = len(on_time) - int(on_time.sum())
        if late:
            block = block.at(on_time)
        highest = int(block.times.max()) if len(block.times) else None
        lowest = int(block.times.min()) if len(block.times) else None
        fact = pack_meta(
            0,
            "read",
            source=name,
            rows=len(on_time),
            late=late,
            malformed=block.malformed,
            unreadable=int(block.unreadable is not None),
            highest=highest,
            lowest=lowest,
        )
        yield fact
        yield from self._tell_view(fact)
        for item in self.query.reading(name) if len(block.times) else ():
            yield from self._address(item, block)

    def _tell_view(self, fact: Packet) -> Iterator[Packet]:
        """What was read, also to where a view and its inputs are kept: it decides which ticks are
        evaluated. Numbered tuples have their ends, so that theirs need not know."""
        if self.query.view is None:
            return
        homes = () if self.query.is_sequenced else self.layout.spaces.values()
        for space in sorted({self.layout.view_space, *(s for mine in homes for s in mine)}):
            base = space * self.partitions
            yield from (Packet(base + p, READ, fact.data) for p in range(self.partitions))

    def _address(self, item: Input, block: Arrivals) -> Iterator[Packet]:
        kept = self._kept(item, block)
        if len(kept.times) < len(block.times):
            yield pack_meta(0, "shed", alias=item.alias, rows=len(block.times) - len(kept.times))
        screened = self._screened(item, kept)
        yield from screened.facts
        if self.query.filters_of(item.alias):
            taken, passed = len(kept.times), int(screened.passes.sum())
            yield pack_meta(0, "screened", alias=item.alias, taken=taken, passed=passed)
        rows = tuples_of(self.layout, item, kept, screened, self.drops)
        if self.query.is_sequenced:
            if len(rows):
                yield pack_rows(0, f"new:{item.alias}", rows)
            return
        rows = with_lanes(self.layout, item.alias, rows)
        rows = folded(self.layout, item.alias, rows, self.open_tick)
        yield from address(self.layout, self.routing, self.partitions, item.alias, rows)

    def _kept(self, item: Input, block: Arrivals) -> Arrivals:
        """What an input's drop box lets through; a table has none."""
        fraction = self.drops.fraction(item.alias)
        if item.is_table or fraction >= 1.0:
            return block
        return block.at(keeps(self.drops.seed, item.alias, block.numbers, fraction))

    def _screened(self, item: Input, block: Arrivals) -> Screened:
        screener = self.screeners.get(item.alias)
        if screener is not None:
            return screener.screen(block.rows)
        return Screened(passing(self.query.filters_of(item.alias), block.rows, plain_name))

    def _source(self, name: str) -> Source:
        return self.query.sources[name]

    def _columns(self, name: str) -> tuple[str, ...]:
        aliases = [item.alias for item in self.query.reading(name)]
        wanted = {column for alias in aliases for column in self.layout.reads(alias)}
        return tuple(f.name for f in self._source(name).fields if f.name in wanted)

    def _hints(self, name: str) -> tuple[str, ...]:
        """The columns that screeners look at, whoever else does."""
        aliases = [item.alias for item in self.query.reading(name)]
        looks = [self.screeners[alias] for alias in aliases if alias in self.screeners]
        return tuple(dict.fromkeys(column for each in looks for column in each.attributes))


def read_slice(
    source: Source, columns: tuple[str, ...], piece: Slice, hints: tuple[str, ...] = ()
) -> Iterator[Arrivals]:
    """The tuples of a slice, in the order in which they arrived; `hints` as in `read_file`."""
    if source.format == "synthetic":
        both = tuple(dict.fromkeys((*columns, *hints)))
        for rows, numbers in Synthetic.of(source).generate(piece.first, piece.last, both):
            yield Arrivals(rows, event_micros(source, rows), numbers)
        return
    assert piece.path is not None
    for block in read_file(source, piece.path, columns, hints):
        places = np.arange(block.first_row, block.first_row + len(block.batch))
        if block.rows is not None:
            places = block.rows.to_numpy()
        yield Arrivals(
            block.batch,
            _times(source, block.batch),
            piece.arrival(places),
            block.malformed,
            block.kept,
            block.unreadable,
        )


def tuples_of(
    layout: Layout,
    item: Input,
    block: Arrivals,
    screened: Screened,
    drops: DropBoxes = NO_DROPS,
) -> pa.RecordBatch:
    """The tuples of one input with hashed keys, less those that can never be in a result.

    In a ROWS window such tuples still count: there they stay, marked as not passing.
    """
    arrays = {c.name: block.rows.column(c.name) for c in _declared(item, block.rows)}
    passes = screened.passes
    out: Arrays = {TS: pa.array(block.times)}
    if screened.rusters is not None:
        out[ROUTE] = pa.array(screened.rusters, pa.int16())
    if layout.query.is_sequenced:
        out[ARRIVAL] = pa.array(block.numbers)
    for key in layout.keys_of(item.alias):
        hashes, known = _hash_key(layout, item, key, block.rows)
        out[hash_name(key)] = pa.array(hashes)
        passes = passes if known is None else passes & known
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
        return pa.RecordBatch.from_pydict(out)
    rows = pa.RecordBatch.from_pydict(out)
    return rows if passes.all() else rows.filter(pa.array(passes))


def address(
    layout: Layout, routing: Routing, partitions: int, alias: str, rows: pa.RecordBatch
) -> Iterator[Packet]:
    """Tuples to every space in which they are kept, and to where they start probing."""
    if not len(rows):
        return
    for space in layout.spaces[alias]:
        places = placement(layout, space, rows, partitions)
        yield from scatter(rows, places, f"new:{alias}", space * partitions, partitions)
    for route in routing.routes_of(alias):
        if not route.starts_at_home:
            mine = ruster(rows, route.ruster)
            mine = mine.select([name for name in mine.schema.names if name != ARRIVAL])
            yield from spread(mine, route.tag("drive"), route.legs[0].space, partitions)


def placement(layout: Layout, space: int, rows: pa.RecordBatch, partitions: int) -> Int64s:
    """The partition of each tuple within a space, which follows from the tuple alone."""
    if space < len(layout.keys):
        return partition_of(rows.column(hash_name(space)).to_numpy(), partitions)
    hashes = [hash_values(rows.column(name)) for name in _spreading(rows.schema.names)]
    return partition_of(combine(hashes), partitions)


def _spreading(names: list[str]) -> list[str]:
    """The columns by which tuples without a key are spread.

    Folded rows are spread by what they are folded by, so that those of later batches meet them.
    """
    if ARRIVAL in names:
        return [ARRIVAL]
    control = [name for name in names if is_control(name)]
    payload = [name for name in names if not is_control(name) and not is_lane(name)]
    return payload if payload and any(map(is_lane, names)) else control


def hash_values(column: pa.Array) -> Int64s:
    """A hash for each value of a column, that of 0 or of no text for NULL."""
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64)
    return hash_column(column.fill_null(_filler(column.type)) if column.null_count else column)


def spread(rows: pa.RecordBatch, tag: str, space: int, partitions: int) -> Iterator[Packet]:
    """Rows to all partitions of a space."""
    packet = pack_rows(space * partitions, tag, rows)
    return (replace(packet, pid=packet.pid + p) for p in range(partitions))


def scatter(
    rows: pa.RecordBatch, places: Int64s, tag: str, base: int, partitions: int
) -> Iterator[Packet]:
    """Rows as one packet for each partition that gets any."""
    if partitions == 1:
        yield pack_rows(base, tag, rows)
        return
    for p in range(partitions):
        mine = np.flatnonzero(places == p)
        if len(mine):
            yield pack_rows(base + p, tag, rows.take(pa.array(mine)))


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
            values = values.fill_null(_filler(values.type))
        hashes.append(hash_column(values))
    return combine(hashes), known


def _filler(kind: pa.DataType) -> pa.Scalar:
    if pa.types.is_boolean(kind):
        return pa.scalar(False)
    return pa.scalar("" if pa.types.is_large_string(kind) else 0, kind)


def _declared(item: Input, rows: pa.RecordBatch) -> list[pa.Field]:
    names = {f.name for f in item.source.fields}
    return [f for f in rows.schema if f.name in names]


def _times(source: Source, rows: pa.RecordBatch) -> Int64s:
    """Event times; the rows of a table have been there for ever."""
    return np.full(len(rows), -FOREVER) if source.is_table else event_micros(source, rows)


def _from_spark(source: Source, packet: Packet) -> Iterator[Arrivals]:
    rows = unpack_rows([packet])
    if rows is not None:
        numbers = rows.column("value").to_numpy()
        yield Arrivals(rows, event_micros(source, rows), numbers)
