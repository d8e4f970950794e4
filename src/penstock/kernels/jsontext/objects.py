"""Objects of JSON written by one compiled loop over all columns, from words and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import uncounted
from penstock.kernels.jsontext.digits import Whole, put_number
from penstock.kernels.jsontext.shortest import Powers, powers_of_ten, put_real
from penstock.kernels.jsontext.time_texts import MARCH, MINUTE, put_minute, put_time
from penstock.kernels.jsontext.words import load_byte, load_word, store_byte, store_word

Bytes = NDArray[np.uint8]
Int64s = NDArray[np.int64]

NULL = -(2**63)
"""The word of a value that is not there, of all kinds but reals, whose NaN is that."""

WHOLE, REAL, UTC, LOCAL, TRUTH, TEXT, WRITTEN = range(7)
"""Kinds of values: whole numbers; bits of reals; times in microseconds, with or without a zone; 0
and 1; texts that get quotes; and what is JSON already. A text is the place where it begins."""
_WIDTHS = (20, 24, 29, 28, 5, 6, 4)
"""The most bytes of a value, besides those of its text."""
_ROOM = 64
"""Bytes behind the last object that may be written to."""

_TRUE, _FALSE, _NULL, _U00 = (
    np.uint64(int.from_bytes(each, "little")) for each in (b"true", b"false", b"null", b"u00")
)
_QUOTE, _ESCAPE, _SPACE, _ZERO, _A = (np.uint8(ord(each)) for each in '"\\ 0a')
_EACH = np.uint64(0x0101_0101_0101_0101)
_LETTERS = dict(zip('\b\t\n\f\r"\\', 'btnfr"\\', strict=True))
_SHORT = np.array([ord(_LETTERS.get(chr(each), "\0")) for each in range(128)], np.uint8)
"""The letters of bytes that are escaped by one."""


@dataclass(frozen=True)
class Values:
    """The values of a column: a word each; of texts the bytes besides, and their lengths."""

    kind: int
    words: Int64s
    lengths: Int64s | None = None
    text: Bytes = field(default_factory=lambda: np.empty(0, np.uint8))

    @property
    def room(self) -> int:
        """The most bytes that they take."""
        odd = int(_escaped(self.text)) if self.kind == TEXT else 0
        return _WIDTHS[self.kind] * len(self.words) + len(self.text) + 5 * odd


def written(names: Sequence[bytes], columns: Sequence[Values], end: bytes) -> tuple[Bytes, Int64s]:
    """An object for each row, one behind the other, and where each begins, and the last one ends.

    Names are as they stand before the values, with what comes between; `end` is behind the last.
    """
    size = len(columns[0].words)
    words = np.empty((2 * len(columns), size), np.int64)
    texts = np.concatenate([each.text for each in columns] + [np.zeros(8, np.uint8)])
    begin = 0
    for number, each in enumerate(columns):
        words[2 * number] = each.words
        if each.lengths is not None:
            words[2 * number + 1] = each.lengths
            words[2 * number][each.words != NULL] += begin
            begin += len(each.text)
    fixed, lengths = _padded((*names, end))
    room = size * int(lengths.sum()) + sum(each.room for each in columns) + _ROOM
    made = np.empty(room, np.uint8)
    bounds = np.zeros(size + 1, np.int64)
    kinds = np.array([each.kind for each in columns])
    minute = np.empty(32, np.uint8)
    _write(words, kinds, texts, fixed, lengths, powers_of_ten(), minute, made, bounds)
    return made[: bounds[-1]], bounds


def _padded(texts: Sequence[bytes]) -> tuple[Bytes, Int64s]:
    """Texts in lines of one width, of whole words, and their lengths."""
    lengths = np.array([len(each) for each in texts])
    width = -(-int(lengths.max()) // 8) * 8
    lines = b"".join(each.ljust(width) for each in texts)
    return np.frombuffer(lines, np.uint8).reshape(len(texts), width), lengths


@uncounted
def _escaped(text: Bytes) -> int:
    """The bytes of a text that are not as they are in JSON."""
    found = 0
    for byte in text:
        found += (byte < _SPACE) | (byte == _QUOTE) | (byte == _ESCAPE)
    return found


@uncounted
def _write(
    words: Int64s,
    kinds: Int64s,
    texts: Bytes,
    fixed: Bytes,
    lengths: Int64s,
    powers: Powers,
    minute: Bytes,
    made: Bytes,
    bounds: Int64s,
) -> None:
    """Write all objects. `minute` is room for the text of a minute: times beside each other are
    mostly of the same."""
    begin, text_at, minute_at = made.ctypes.data, texts.ctypes.data, minute.ctypes.data
    fixed_at, width = fixed.ctypes.data, fixed.shape[1]
    at: Whole = begin
    known = np.uint64(2**63)
    for row in range(words.shape[1]):
        for column in range(len(kinds)):
            at = _put_bytes(at, fixed_at + column * width, lengths[column])
            kind, word = kinds[column], words[2 * column, row]
            if kind == REAL:
                at = put_real(at, word, powers)
            elif word == NULL:
                store_word(at, _NULL)
                at += 4
            elif kind == WHOLE:
                at = put_number(at, word)
            elif kind in (UTC, LOCAL):
                since = np.uint64(word - MARCH)
                if since // MINUTE != known:
                    known = since // MINUTE
                    put_minute(minute_at, known)
                at = put_time(at, since, minute_at, kind == UTC)
            elif kind == TRUTH:
                store_word(at, _TRUE if word else _FALSE)
                at += 4 if word else 5
            elif kind == TEXT:
                at = _put_quoted(at, text_at + word, words[2 * column + 1, row])
            else:
                at = _put_bytes(at, text_at + word, words[2 * column + 1, row])
        at = _put_bytes(at, fixed_at + len(kinds) * width, lengths[len(kinds)])
        bounds[row + 1] = at - begin


@uncounted
def _put_bytes(at: Whole, source: Whole, size: Whole) -> Whole:
    for place in range(0, size, 8):
        store_word(at + place, load_word(source + place))
    return at + size


@uncounted
def _put_quoted(at: Whole, source: Whole, size: Whole) -> Whole:
    """Put a text in quotes, with what has to be escaped in it."""
    store_byte(at, _QUOTE)
    at, end = at + 1, source + size
    while source < end:
        word, most = load_word(source), min(end - source, 8)
        if _is_plain(word):
            store_word(at, word)
            at += most
        else:
            for place in range(most):
                at = _put_escaped(at, load_byte(source + place))
        source += most
    store_byte(at, _QUOTE)
    return at + 1


@uncounted
def _is_plain(word: np.uint64) -> bool:
    """Whether none of eight bytes is to be escaped: a byte borrows from its highest bit if what is
    taken from it is more than it is."""
    quotes, escapes = word ^ _EACH * np.uint64(_QUOTE), word ^ _EACH * np.uint64(_ESCAPE)
    controls = (word - _EACH * np.uint64(_SPACE)) & ~word
    odd = controls | (quotes - _EACH) & ~quotes | (escapes - _EACH) & ~escapes
    return bool(odd & (_EACH << np.uint64(7)) == np.uint64(0))


@uncounted
def _put_escaped(at: Whole, byte: np.uint8) -> Whole:
    if byte >= _SPACE and byte != _QUOTE and byte != _ESCAPE:
        store_byte(at, byte)
        return at + 1
    store_byte(at, _ESCAPE)
    if _SHORT[byte]:
        store_byte(at + 1, _SHORT[byte])
        return at + 2
    low = byte & np.uint8(15)
    store_word(at + 1, _U00)
    store_byte(at + 4, _ZERO + (byte >> np.uint8(4)))
    store_byte(at + 5, _ZERO + low if low < 10 else _A + low - np.uint8(10))
    return at + 6
