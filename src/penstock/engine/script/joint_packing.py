"""Joint packing: read each slice once, and pack its tuples for all queries that read its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.engine.join.pack import Packing, faults_of
from penstock.engine.join.pack_meter import PackMeter
from penstock.engine.places.place import Place
from penstock.engine.sources.read_slice import Arrivals, read_slice
from penstock.engine.sources.slices import Slice
from penstock.engine.wire.packets import Packet
from penstock.engine.wire.tags import SLICE
from penstock.query.source import Field, Source


@dataclass(frozen=True)
class SharedSource:
    """A declared source as a script reads it: with the columns that any of its queries wants.

    So a row is sound or malformed for all of them, whichever run together.
    """

    source: Source
    columns: tuple[str, ...]


def shared_sources(packings: Iterable[tuple[Source, Sequence[str]]]) -> dict[str, SharedSource]:
    """The declared sources by name, from each query's own and the columns that it reads."""
    fields: dict[str, dict[str, Field]] = {}
    wanted: dict[str, set[str]] = {}
    sources: dict[str, Source] = {}
    for source, columns in packings:
        sources[source.name] = source
        fields.setdefault(source.name, {}).update({field.name: field for field in source.fields})
        wanted.setdefault(source.name, set()).update(columns)
    return {
        name: SharedSource(
            replace(source, fields=tuple(fields[name].values())),
            tuple(column for column in fields[name] if column in wanted[name]),
        )
        for name, source in sources.items()
    }


@dataclass(frozen=True)
class JointPacking:
    """The packing of queries that run together; packets are tagged with the query's number.

    What is wrong with the sources that it `tells_of` is told here: others were read before in the
    same batch.
    """

    packings: tuple[Packing, ...]
    sources: Mapping[str, SharedSource]
    root: Place
    tells_of: frozenset[str] = frozenset()

    def run(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """Tuples for the first stage of each query, and facts with what was read."""
        meters = [packing.meter() for packing in self.packings]
        for packet in packets:
            if packet.tag == SLICE:
                yield from self._pack_slice(Slice.of(packet), meters)
            else:
                for number, packing in enumerate(self.packings):
                    yield from packets_of(number, packing.passed_on(packet))
        for number, (packing, meter) in enumerate(zip(self.packings, meters, strict=True)):
            yield from packets_of(number, packing.told(meter))

    def _pack_slice(self, piece: Slice, meters: Sequence[PackMeter]) -> Iterator[Packet]:
        name = piece.source
        readers = [n for n, packing in enumerate(self.packings) if packing.reads(name)]
        if not readers:
            return
        for place, block in enumerate(self._blocks(piece, readers)):
            if name in self.tells_of:
                yield from packets_of(readers[0], faults_of(self.root, piece, place, block))
            for number in readers:
                made = self.packings[number].pack(name, block, meters[number])
                yield from packets_of(number, made)

    def _blocks(self, piece: Slice, readers: Sequence[int]) -> Iterator[Arrivals]:
        name, packings = piece.source, [self.packings[number] for number in readers]
        hints = dict.fromkeys(hint for packing in packings for hint in packing.hints(name))
        if name in self.sources:
            source, columns = self.sources[name].source, self.sources[name].columns
        else:
            source = packings[0].query.sources[name]
            wanted = {column for packing in packings for column in packing.columns(name)}
            columns = tuple(field.name for field in source.fields if field.name in wanted)
        others = tuple(hint for hint in hints if hint not in columns)
        return read_slice(source, columns, piece, others, self.root)


def packets_of(query: int, packets: Iterable[Packet]) -> Iterator[Packet]:
    """Packets of one query among others; those that it has made for one of these stay so."""
    for packet in packets:
        is_own = packet.tag.query is None
        yield Packet(packet.pid, packet.tag.of(query), packet.data) if is_own else packet
