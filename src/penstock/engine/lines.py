"""Files of lines, in pieces of whole lines that fit in memory."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO

import numpy as np

from penstock.engine.place import Place

PIECE_BYTES = 16 << 20
# A stray quote would make one row of the rest of the file; beyond this a line end is a line end.
_ROW_MOST = 64 << 20
_NEWLINE, _QUOTE = b"\n", b'"'


@dataclass(frozen=True)
class Piece:
    """Whole lines of a file; `first_line` is the number of the first, from 1."""

    data: bytes
    first_line: int


def pieces_of(path: Place, *, quoted: bool) -> Iterator[Piece]:
    """The lines of a file, decompressed by its extension, about 16 MiB at a time.

    With `quoted`, a line end between double quotes does not end a piece.
    """
    line, rest = 1, b""
    with path.filesystem.open_input_stream(path.path, compression="detect") as stream:
        while chunk := stream.read(PIECE_BYTES):
            rest += chunk
            end = _last_line_end(rest, quoted)
            if end:
                yield Piece(rest[:end], line)
                line += rest.count(_NEWLINE, 0, end)
                rest = rest[end:]
    if rest:
        yield Piece(rest, line)


def row_line(piece: Piece, row: int, delimiter: str) -> int:
    """The line, from 1, on which a row of a CSV piece ends; blank lines are not rows."""
    text = StringIO(piece.data.decode(errors="replace"), newline="")
    reader = csv.reader(text, delimiter=delimiter)
    rows = (reader.line_num for fields in reader if fields)
    return piece.first_line - 1 + next(line for index, line in enumerate(rows) if index == row)


def _last_line_end(data: bytes, quoted: bool) -> int:
    """How many bytes there are up to the end of the last whole row; 0 if there is none."""
    end = data.rfind(_NEWLINE) + 1
    if not quoted or len(data) > _ROW_MOST or data.count(_QUOTE, 0, end) % 2 == 0:
        return end
    codes = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(codes == ord(_QUOTE))
    ends = np.flatnonzero(codes == ord(_NEWLINE))
    outside = ends[np.searchsorted(quotes, ends) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0
