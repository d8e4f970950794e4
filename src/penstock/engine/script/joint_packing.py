"""Joint packing: read each slice once, and pack its tuples for all queries that read its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from penstock.engine.join.pack import Packing, faults_of
from penstock.engine.join.pack_meter import PackMeter
from penstock.engine.places.place import Place
from penstock.engine.script.parsed_slices import ParsedWriter, read_parsed
from penstock.engine.sources.read_slice import Arrivals, read_slice
from penstock.engine.sources.slices import Slice
from penstock.engine.wire.facts import ParsedSlice
from penstock.engine.wire.packets import Packet, pack_fact
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
    same batch. The rows of sources that it `keeps` are left for those who read them after it, and
    `parsed` says where others have left those of slices, by the text of these.
    """

    packings: tuple[Packing, ...]
    sources: Mapping[str, SharedSource]
    root: Place
    tells_of: frozenset[str] = frozenset()
    keeps: frozenset[str] = frozenset()
    parsed: Mapping[str, str] = field(default_factory=dict)

    def run(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """Tuples for the first stage of each query, and facts with what was read."""
        meters = [packing.meter() for packing in self.packings]
        for packet in packets:
            if packet.tag == SLICE:
                yield from self._pack_slice(packet, meters)
            else:
                for number, packing in enumerate(self.packings):
                    yield from packets_of(number, packing.passed_on(packet))
        for number, (packing, meter) in enumerate(zip(self.packings, meters, strict=True)):
            yield from packets_of(number, packing.told(meter))

    def _pack_slice(self, packet: Packet, meters: Sequence[PackMeter]) -> Iterator[Packet]:
        piece, text = Slice.of(packet), bytes(packet.payload).decode()
        name = piece.source
        readers = [n for n, packing in enumerate(self.packings) if packing.reads(name)]
        if not readers:
            return
        left = ParsedWriter(self.root) if self._is_kept(name, readers) else None
        for place, block in enumerate(self._blocks(piece, text, readers)):
            if left is not None:
                left.take(block)
            if name in self.tells_of:
                yield from packets_of(readers[0], faults_of(self.root, piece, place, block))
            for number in readers:
                made = self.packings[number].pack(name, block, meters[number])
                yield from packets_of(number, made)
        file = None if left is None else left.close()
        if file is not None:
            yield pack_fact(0, ParsedSlice(text, file))

    def _is_kept(self, name: str, readers: Sequence[int]) -> bool:
        """Whether the rows of a source are left for others, with the columns that all want."""
        return name in self.keeps and not self._hints(name, readers)

    def _hints(self, name: str, readers: Sequence[int]) -> tuple[str, ...]:
        hints = (hint for number in readers for hint in self.packings[number].hints(name))
        return tuple(dict.fromkeys(hints))

    def _blocks(self, piece: Slice, text: str, readers: Sequence[int]) -> Iterator[Arrivals]:
        name, packings = piece.source, [self.packings[number] for number in readers]
        hints = self._hints(name, readers)
        if name in self.sources:
            source, columns = self.sources[name].source, self.sources[name].columns
            if text in self.parsed and not hints:
                return read_parsed(self.root, self.parsed[text], source)
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
