"""Spans: parts of one file of lines, which several tasks read side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.engine.places.place import Place

END = 1 << 62
"""The last byte of any file."""
_QUOTE, _NEWLINE = ord('"'), ord("\n")
_CACHED = 1 << 17
_HEAD = 1 << 16


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


def text_of_span(path: Place, span: Span, *, quoted: bool) -> SpanText | None:
    """The text of a part of a local file. None if the file cannot be taken apart.

    Between double quotes a line end ends no row, so that `quoted` files which have such are not.
    """
    with pa.memory_map(path.path) as file:
        text = file.read_buffer()
    codes = np.frombuffer(text, np.uint8)
    if quoted and any(np.any(part == _QUOTE) for part in _parts(codes)):
        return None
    first, last = _line_from(codes, span.first), _line_from(codes, span.last)
    lines = sum(int(np.count_nonzero(part == _NEWLINE)) for part in _parts(codes[:first]))
    head = codes[: max(_line_from(codes, 1), _HEAD)].tobytes()
    return SpanText(text.slice(first, last - first), lines, head)


def _parts(codes: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Iterator[np.ndarray]:
    """Bytes in parts that stay in the processor's cache while they are looked at."""
    return (codes[at : at + _CACHED] for at in range(0, len(codes), _CACHED))


def _line_from(codes: np.ndarray[tuple[int], np.dtype[np.uint8]], at: int) -> int:
    """Where the first line begins that does so at a byte or later; the end, if none does."""
    if at <= 0:
        return 0
    before = at - 1
    for part in _parts(codes[before:]):
        ends = np.flatnonzero(part == _NEWLINE)
        if len(ends):
            return before + int(ends[0]) + 1
        before += len(part)
    return len(codes)
