"""Large files shared out among the tasks of a batch, where they can be taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from penstock.engine.places.place import Place
from penstock.engine.sources.files import is_packed
from penstock.engine.sources.lines import PIECE_BYTES
from penstock.engine.sources.slices import Slice
from penstock.query.source import Source

# Bytes of a part below which another task costs more than it helps. Objects of JSON that go on over
# lines are read as long as a file is one piece.
_LEAST = {"csv": 1 << 20, "json": PIECE_BYTES}
# With twice as many parts as a fair share would be, tasks that get one more do little more.
_FINER = 2


def shared_out(
    slices: Sequence[Slice], sources: Mapping[str, Source], tasks: int
) -> Sequence[Slice]:
    """The slices of a batch, those in parts that are more than one task should read."""
    whole = sum(piece.weight for piece in slices)
    if tasks < 2 or not whole:
        return slices
    return [part for piece in slices for part in _parts(piece, sources, tasks, whole)]


def _parts(piece: Slice, sources: Mapping[str, Source], tasks: int, whole: int) -> Iterator[Slice]:
    least = _LEAST.get(sources[piece.source].format)
    # Of a file that is copied or packed nobody knows where a part begins.
    if least is None or piece.path is None or piece.copy_of or piece.checksum is not None:
        return iter((piece,))
    count = min(tasks, -(-_FINER * tasks * piece.weight // whole), piece.weight // least)
    if count < 2 or is_packed(piece.path) or not Place.of(piece.path).is_local:
        return iter((piece,))
    return piece.parts(count, piece.weight)
