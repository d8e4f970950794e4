"""Plain lines of CSV: where the fields of some columns stand, and what numbers they are.

Only what is plain is understood: every line has all fields, and quotes stand around whole fields
without quotes or line ends in them. Whoever asks must have another reader for the rest.

Places in inner loops are unsigned: of one that may be below 0 Numba looks whether it is, since it
would count from the end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined, uncounted
from penstock.kernels.jsontext.flat_objects import past_number

Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]

_QUOTE, _LINE_END, _RETURN = ord('"'), ord("\n"), ord("\r")
_MINUS, _ZERO = ord("-"), ord("0")
_ONES, _TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_QUOTES, _LINE_ENDS = _ONES * np.uint64(_QUOTE), _ONES * np.uint64(_LINE_END)
_MOST_DIGITS = 18
"""Digits that always fit into 64 bits."""


@compiled
def find_fields(
    data: Bytes, delimiter: int, columns: NDArray[np.int64], wanted: int, rows: int
) -> tuple[bool, Int32s, Int32s]:
    """Whether all lines are plain, and from where to where the fields of wanted columns stand, by
    column and row. In quotes they begin behind one, so that an empty one is told by what is before.

    `columns` has for each field of a line the number under which it is wanted, or -1.
    """
    starts = np.zeros((wanted, rows), np.int32)
    stops = np.zeros((wanted, rows), np.int32)
    words, at = data[: len(data) // 8 * 8].view(np.uint64), 0
    for row in range(rows):
        at = _find(data, words, delimiter, at, row, columns, starts, stops)
        if at < 0:
            return False, starts, stops
    return at >= len(data), starts, stops


@inlined
def _has(word: np.uint64, eight: np.uint64) -> np.uint64:
    """Not 0 if a byte of a word is the one of which `eight` has eight."""
    other = word ^ eight
    return (other - _ONES) & ~other & _TOPS


@uncounted
def _past_text(data: Bytes, words: NDArray[np.uint64], at: int) -> int:
    """The place of the quote that ends a text; -1 if it has line ends. Eight bytes at a time."""
    size = len(data)
    while at < size:
        if at % 8 == 0:
            word = at // 8
            while word < len(words):
                eight = words[np.uintp(word)]
                if _has(eight, _QUOTES) | _has(eight, _LINE_ENDS):
                    break
                word += 1
            at = max(at, word * 8)
            if at >= size:
                return -1
        byte = data[np.uintp(at)]
        if byte == _QUOTE:
            return at
        if byte == _LINE_END:
            return -1
        at += 1
    return -1


@uncounted
def _find(
    data: Bytes,
    words: NDArray[np.uint64],
    delimiter: int,
    at: int,
    row: int,
    columns: NDArray[np.int64],
    starts: Int32s,
    stops: Int32s,
) -> int:
    """Look through one line; the place behind it, or -1 if it is not plain."""
    size, last = len(data), len(columns) - 1
    if at < size and (data[at] == _LINE_END or data[at] == _RETURN):
        return -1
    for number in range(last + 1):
        start = at
        if at < size and data[at] == _QUOTE:
            start = at + 1
            stop = _past_text(data, words, start)
            if stop < 0:
                return -1
            at = stop + 1
        else:
            while at < size:
                byte = data[np.uintp(at)]
                if byte in (delimiter, _LINE_END, _RETURN):
                    break
                if byte == _QUOTE:
                    return -1
                at += 1
            stop = at
        column = columns[number]
        if column >= 0:
            starts[column, row], stops[column, row] = start, stop
        if number < last:
            if at >= size or data[at] != delimiter:
                return -1
            at += 1
    if at < size and data[at] == _RETURN:
        at += 1
        if at >= size:
            return -1
    if at < size and data[at] != _LINE_END:
        return -1
    return at + 1


@compiled
def whole_numbers(
    data: Bytes, starts: Int32s, stops: Int32s
) -> tuple[bool, NDArray[np.int64], NDArray[np.bool_]]:
    """Whether all fields are whole numbers that fit for sure, or empty; the numbers, and which are
    empty."""
    found = np.zeros(len(starts), np.int64)
    absent = np.zeros(len(starts), np.bool_)
    for row in range(len(starts)):
        at, stop = starts[row], stops[row]
        if at == stop:
            absent[row] = True
            continue
        is_below = data[at] == _MINUS
        at += is_below
        if at == stop or stop - at > _MOST_DIGITS:
            return False, found, absent
        number = np.int64(0)
        while at < stop:
            digit = np.int64(data[np.uintp(at)]) - _ZERO
            if digit < 0 or digit > 9:
                return False, found, absent
            number = number * 10 + digit
            at += 1
        found[row] = -number if is_below else number
    return True, found, absent


@compiled
def in_quotes(data: Bytes, starts: Int32s) -> NDArray[np.bool_]:
    """Which fields begin behind a quote."""
    found = np.zeros(len(starts), np.bool_)
    for row in range(len(starts)):
        found[row] = starts[row] > 0 and data[starts[row] - 1] == _QUOTE
    return found


@compiled
def are_numbers(data: Bytes, starts: Int32s, stops: Int32s) -> bool:
    """Whether all fields are numbers as JSON has them, or empty."""
    for row in range(len(starts)):
        at, stop = starts[row], stops[row]
        if at < stop and past_number(data, at)[0] != stop:
            return False
    return True
