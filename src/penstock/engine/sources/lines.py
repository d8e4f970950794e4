"""Files of lines, or spans of them, in pieces of whole lines that fit in memory."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from io import StringIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import NativeFile

from penstock.engine.places.place import Place

Codes = NDArray[np.uint8]
PIECE_BYTES = 8 << 20
ROW_MOST = 64 << 20
"""Bytes that a row may have, if nothing is said."""
HEAD = 4096
"""Bytes that are kept of a row that has more."""
_CACHED = 1 << 17
_NEWLINE, _QUOTE = b"\n", b'"'
END = 1 << 62
"""The last byte of any file."""


@dataclass(frozen=True)
class Span:
    """The lines of a file that begin at byte `first` or later, and before byte `last`."""

    first: int = 0
    last: int = END

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the file."""
        return self.first <= 0 and self.last >= END


WHOLE = Span()


@dataclass(frozen=True)
class SpanText:
    """The text of a span; `lines` end before it, and `head` is how the file begins."""

    text: pa.Buffer
    lines: int
    head: bytes


@dataclass(frozen=True)
class Piece:
    """Whole lines of a file; `first_line` is the number of the first, from 1."""

    data: bytes
    first_line: int
    skipped: int = 0
    """The bytes of a single row that has too many, of which `data` is the beginning."""

    @cached_property
    def line_ends(self) -> int:
        """How many lines end in it."""
        return _count(self.data, _NEWLINE)


def pieces_of(path: Place, *, quoted: bool, most: int = ROW_MOST) -> Iterator[Piece]:
    """The lines of a file, decompressed by its extension, about 8 MiB at a time.

    With `quoted`, a line end between double quotes does not end a piece. Of a line that is longer
    than `most` bytes, only the beginning is held.
    """
    with path.filesystem.open_input_stream(path.path, compression="detect") as stream:
        yield from _pieces(stream, 1, quoted, most)


def pieces_in(part: SpanText, *, quoted: bool, most: int = ROW_MOST) -> Iterator[Piece]:
    """The same of a part of a file that is not packed."""
    return _pieces(pa.BufferReader(part.text), part.lines + 1, quoted, most)


def _pieces(stream: NativeFile, line: int, quoted: bool, most: int) -> Iterator[Piece]:
    rest = b""
    while chunk := stream.read(PIECE_BYTES):
        if len(rest) > most:
            long, rest = _skipped(stream, rest, chunk, line)
            yield long
            line += 1
            continue
        whole, rest = _cut(rest, chunk, quoted, most)
        for piece in _bounded(Piece(whole, line), most):
            yield piece
            line += piece.line_ends if not piece.skipped else 1
    yield from _bounded(Piece(rest, line), most)


def _skipped(stream: NativeFile, begun: bytes, chunk: bytes, line: int) -> tuple[Piece, bytes]:
    """A line that is too long, and what follows it: the rest of it is read, and not held."""
    size, head = len(begun), begun[:HEAD]
    while chunk and _NEWLINE not in chunk:
        size += len(chunk)
        chunk = stream.read(PIECE_BYTES)
    end, _, rest = chunk.partition(_NEWLINE)
    return Piece(head, line, size + len(end)), rest


def _bounded(piece: Piece, most: int) -> Iterator[Piece]:
    """The same lines, those apart that are too long."""
    if len(piece.data) <= most:
        if piece.data:
            yield piece
        return
    held, first = list[bytes](), piece.first_line
    for number, line in enumerate(piece.data.split(_NEWLINE), piece.first_line):
        if len(line) <= most:
            held.append(line)
            continue
        if held:
            yield Piece(_NEWLINE.join((*held, b"")), first)
        held, first = [], number + 1
        yield Piece(line[:HEAD], number, len(line))
    if any(held):
        yield Piece(_NEWLINE.join(held), first)


def lines_at(piece: Piece, rows: Collection[int]) -> dict[int, tuple[int, str]]:
    """The number, from 1, and the text of lines of a piece, counted without the blank ones."""
    found: dict[int, tuple[int, str]] = {}
    wanted, row = set(rows), 0
    for number, line in enumerate(piece.data.split(_NEWLINE), piece.first_line):
        if len(found) == len(wanted):
            break
        if line.strip():
            if row in wanted:
                found[row] = (number, text_of(line))
            row += 1
    return found


def csv_rows_at(piece: Piece, rows: Collection[int], delimiter: str) -> dict[int, tuple[int, str]]:
    """The line, from 1, on which rows of a CSV piece begin, and their text; blank ones are none."""
    found: dict[int, tuple[int, str]] = {}
    wanted, row = set(rows), 0
    held: list[str] = []

    def lines() -> Iterator[str]:
        for line in StringIO(text_of(piece.data), newline=""):
            held.append(line)
            yield line

    reader = csv.reader(lines(), delimiter=delimiter)
    try:
        for fields in reader:
            if len(found) == len(wanted):
                break
            if fields:
                if row in wanted:
                    line = piece.first_line + reader.line_num - len(held)
                    found[row] = (line, "".join(held).strip("\r\n"))
                row += 1
            held.clear()
    except csv.Error:
        # It gives up on very long fields; then lines are near enough.
        return lines_at(piece, rows) | found
    return found


def text_of(data: bytes) -> str:
    """Bytes as text; those that are no UTF-8 are seen as \\xff."""
    return data.decode(errors="backslashreplace").rstrip("\r\n")


def _cut(rest: bytes, chunk: bytes, quoted: bool, most: int) -> tuple[bytes, bytes]:
    """Whole rows of what was left and what came, and what is left of them."""
    end = chunk.rfind(_NEWLINE) + 1
    whole = b"".join((rest, memoryview(chunk)[:end]))
    if end and (not quoted or _count(whole, _QUOTE) % 2 == 0):
        return whole, chunk[end:]
    data = rest + chunk
    # A stray quote would make one row of the rest of the file: beyond this a line end is one.
    end = _last_line_end(data, quoted and len(data) <= most)
    return data[:end], data[end:]


def _count(data: bytes | Codes, byte: bytes) -> int:
    """How often a byte occurs: where that is often, sooner than `bytes.count` tells it."""
    codes = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
    return sum(int(np.count_nonzero(part == ord(byte))) for part in _parts(codes))


def _last_line_end(data: bytes, quoted: bool) -> int:
    """How many bytes there are up to the end of the last whole row; 0 if there is none."""
    end = data.rfind(_NEWLINE) + 1
    if not quoted or _count(data[:end], _QUOTE) % 2 == 0:
        return end
    codes = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(codes == ord(_QUOTE))
    ends = np.flatnonzero(codes == ord(_NEWLINE))
    outside = ends[np.searchsorted(quotes, ends) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def text_of_span(path: Place, span: Span, *, quoted: bool) -> SpanText:
    """The text of a part of a local file. With `quoted`, a line end between double quotes is none:
    a line begins after one that has an even number of them before it."""
    with pa.memory_map(path.path) as file:
        text = file.read_buffer()
    codes = np.frombuffer(text, np.uint8)
    first, last = (_line_from(codes, at, quoted) for at in (span.first, span.last))
    head = codes[: max(_line_from(codes, 1, quoted=False), 1 << 16)].tobytes()
    return SpanText(text.slice(first, last - first), _count(codes[:first], _NEWLINE), head)


def _line_from(codes: Codes, at: int, quoted: bool) -> int:
    """Where the first line begins that does so at a byte or later; the end, if none does."""
    if at <= 0 or at >= len(codes):
        return max(0, min(at, len(codes)))
    before = at - 1
    quotes = _count(codes[:before], _QUOTE) if quoted else 0
    for part in _parts(codes[before:]):
        ends = np.flatnonzero(part == ord(_NEWLINE))
        if quoted:
            places = np.flatnonzero(part == ord(_QUOTE))
            ends = ends[(quotes + np.searchsorted(places, ends)) % 2 == 0]
            quotes += len(places)
        if len(ends):
            return before + int(ends[0]) + 1
        before += len(part)
    return len(codes)


def _parts(codes: Codes) -> Iterator[Codes]:
    """Bytes in parts that stay in the processor's cache while they are looked at."""
    return (codes[at : at + _CACHED] for at in range(0, len(codes), _CACHED))
