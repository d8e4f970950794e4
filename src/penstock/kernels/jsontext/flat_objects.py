"""Lines of JSON with a flat object each: where the values of some members stand.

Only what is plain is understood: no nested values, no escapes, names in ASCII. Whoever asks must
have another reader for the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled, inlined, uncounted

Bytes = NDArray[np.uint8]
Int64s = NDArray[np.int64]
Places = NDArray[np.int32]

ABSENT, WHOLE, FRACTION, TEXT, TRUE, FALSE = range(6)
"""What a value is: not there or null, a whole number, another number, a text, true, false."""
_QUOTE, _BACKSLASH, _LINE_END = ord('"'), ord("\\"), ord("\n")
_OPEN, _CLOSE, _COLON, _COMMA = ord("{"), ord("}"), ord(":"), ord(",")
_MINUS, _PLUS, _POINT, _ZERO, _NINE = ord("-"), ord("+"), ord("."), ord("0"), ord("9")
_SMALL_E, _LARGE_E, _CASE = ord("e"), ord("E"), 0x20
_WORDS = np.frombuffer(b"nulltruefalse", np.uint8)
_MOST_DIGITS = 18
"""Digits that always fit into 64 bits."""


@inlined
def _is_blank(byte: int) -> bool:
    return byte == 0x20 or byte == 0x09 or byte == 0x0D


@inlined
def _is_digit(byte: int) -> bool:
    return _ZERO <= byte <= _NINE


@uncounted
def _past_blanks(data: Bytes, at: int) -> int:
    while at < len(data) and _is_blank(data[np.uintp(at)]):
        at += 1
    return at


@uncounted
def _past_text(data: Bytes, at: int) -> int:
    """The place of the quote that ends a text; -1 if that is not plain."""
    while at < len(data):
        byte = data[np.uintp(at)]
        if byte == _QUOTE:
            return at
        if byte == _BACKSLASH or byte < 0x20:
            return -1
        at += 1
    return -1


@uncounted
def _past_digits(data: Bytes, at: int) -> int:
    while at < len(data) and _is_digit(data[np.uintp(at)]):
        at += 1
    return at


@uncounted
def past_number(data: Bytes, at: int) -> tuple[int, int]:
    """The place behind a number, and what it is; -1 if it is none."""
    if data[at] == _MINUS:
        at += 1
    first = at
    at = _past_digits(data, at)
    if at == first or (data[first] == _ZERO and at > first + 1):
        return -1, ABSENT
    kind = WHOLE
    if at < len(data) and data[at] == _POINT:
        kind, first = FRACTION, at + 1
        at = _past_digits(data, first)
        if at == first:
            return -1, ABSENT
    if at < len(data) and (data[at] == _SMALL_E or data[at] == _LARGE_E):
        kind, at = FRACTION, at + 1
        if at < len(data) and (data[at] == _MINUS or data[at] == _PLUS):
            at += 1
        first = at
        at = _past_digits(data, first)
        if at == first:
            return -1, ABSENT
    return at, kind


@uncounted
def _past_word(data: Bytes, at: int) -> tuple[int, int]:
    """The place behind null, true or false, and what it is; -1 if it is none of them."""
    first, length, kind = 0, 4, ABSENT
    if data[at] == _WORDS[4]:
        first, kind = 4, TRUE
    elif data[at] == _WORDS[8]:
        first, length, kind = 8, 5, FALSE
    if at + length > len(data):
        return -1, ABSENT
    for i in range(length):
        if data[at + i] != _WORDS[first + i]:
            return -1, ABSENT
    return at + length, kind


@uncounted
def _is_next(data: Bytes, at: int, names: Bytes, ends: Int64s, number: int) -> int:
    """The place of the quote behind the name of a certain member, if that stands here; else -1."""
    start = int(ends[number - 1]) if number else 0
    size = int(ends[number]) - start
    if at + size >= len(data) or data[np.uintp(at + size)] != _QUOTE:
        return -1
    for i in range(size):
        if data[np.uintp(at + i)] != names[np.uintp(start + i)]:
            return -1
    return at + size


@uncounted
def _named(data: Bytes, at: int, end: int, names: Bytes, ends: Int64s, hint: int) -> int:
    """The number of the member with that name; -1 if it is none of those wanted, -2 if it may be
    one in another spelling."""
    for turn in range(len(ends)):
        number = (hint + turn) % len(ends)
        start = ends[number - 1] if number else 0
        if ends[number] - start != end - at:
            continue
        is_same = is_alike = True
        for i in range(end - at):
            one, other = data[at + i], names[start + i]
            is_same &= one == other
            is_alike &= (one | _CASE) == (other | _CASE)
        if is_same:
            return number
        if is_alike:
            return -2
    for i in range(at, end):
        if data[i] >= 0x80:
            return -2
    return -1


@compiled
def find_members(
    data: Bytes, names: Bytes, ends: Int64s, rows: int
) -> tuple[bool, NDArray[np.uint8], Places, Places]:
    """Whether all lines are plain, and of each wanted member, by row, what its value is and from
    where to where it stands, a text without its quotes.

    Names lie one after another, each up to its end.
    """
    kinds = np.zeros((len(ends), rows), np.uint8)
    starts, stops = np.zeros((len(ends), rows), np.int32), np.zeros((len(ends), rows), np.int32)
    at = 0
    for row in range(rows):
        at = _find(data, at, row, names, ends, kinds, starts, stops)
        if at < 0:
            return False, kinds, starts, stops
    return at >= len(data), kinds, starts, stops


@uncounted
def _find(
    data: Bytes,
    at: int,
    row: int,
    names: Bytes,
    ends: Int64s,
    kinds: NDArray[np.uint8],
    starts: Places,
    stops: Places,
) -> int:
    """Look through one line; the place behind it, or -1 if it is not plain."""
    size, hint = len(data), 0
    at = _past_blanks(data, at)
    if at >= size or data[at] != _OPEN:
        return -1
    at = _past_blanks(data, at + 1)
    is_first = True
    while True:
        if at >= size:
            return -1
        if is_first and data[at] == _CLOSE:
            break
        if data[at] != _QUOTE:
            return -1
        name = at + 1
        # Members mostly come in the order in which they were declared.
        member = hint if hint < len(ends) else 0
        at = _is_next(data, name, names, ends, member) if len(ends) else -1
        if at < 0:
            at = _past_text(data, name)
            if at < 0:
                return -1
            member = _named(data, name, at, names, ends, hint)
        at = _past_blanks(data, at + 1)
        if member == -2 or at >= size or data[at] != _COLON:
            return -1
        at = _past_blanks(data, at + 1)
        if at >= size:
            return -1
        start = at
        if data[at] == _QUOTE:
            start, kind = at + 1, TEXT
            stop = _past_text(data, start)
            if stop < 0:
                return -1
            at = stop + 1
        elif data[at] == _MINUS or _is_digit(data[at]):
            at, kind = past_number(data, at)
            stop = at
        else:
            at, kind = _past_word(data, at)
            stop = at
        if at < 0:
            return -1
        if member >= 0:
            if stops[member, row]:
                return -1
            kinds[member, row], starts[member, row], stops[member, row] = kind, start, stop
            hint = member + 1
        at = _past_blanks(data, at)
        if at >= size:
            return -1
        if data[at] == _CLOSE:
            break
        if data[at] != _COMMA:
            return -1
        at = _past_blanks(data, at + 1)
        is_first = False
    at = _past_blanks(data, at + 1)
    if at < size and data[at] != _LINE_END:
        return -1
    return at + 1


@compiled
def whole_numbers(
    data: Bytes, kinds: NDArray[np.uint8], starts: Places, stops: Places
) -> tuple[bool, Int64s]:
    """Whether all values are whole numbers, or not there, that fit for sure; and the numbers."""
    found = np.zeros(len(starts), np.int64)
    for row in range(len(starts)):
        if kinds[row] == ABSENT:
            continue
        at, stop = np.int64(starts[row]), np.int64(stops[row])
        is_below = data[at] == _MINUS
        at += is_below
        if kinds[row] != WHOLE or stop - at > _MOST_DIGITS:
            return False, found
        number = np.int64(0)
        while at < stop:
            number = number * 10 + (np.int64(data[np.uintp(at)]) - _ZERO)
            at += 1
        found[row] = -number if is_below else number
    return True, found


@compiled
def packed(
    data: Bytes, starts: NDArray[np.signedinteger], stops: NDArray[np.signedinteger]
) -> tuple[Bytes, NDArray[np.int32]]:
    """The values one after another, and where each begins; the last place is the end."""
    places = np.zeros(len(starts) + 1, np.int32)
    for row in range(len(starts)):
        places[row + 1] = places[row] + (stops[row] - starts[row])
    found = np.empty(places[-1], np.uint8)
    for row in range(len(starts)):
        # Places that may be below 0 would count from the end: to look takes most of the time.
        base, start = np.uintp(places[row]), np.uintp(starts[row])
        for i in range(np.uintp(stops[row]) - start):
            found[base + i] = data[start + i]
    return found, places
