"""Functions of text, by code point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# No text is longer, in characters; positions beyond it would overflow.
_LONGEST = 1 << 40


def lower(text: pa.Array) -> pa.Array:
    """Lower case; beyond ASCII by Unicode's full rules."""
    return pc.ascii_lower(text) if _is_ascii(text) else _each(str.lower, text)


def upper(text: pa.Array) -> pa.Array:
    """Upper case; beyond ASCII by Unicode's full rules (ß gives SS)."""
    return pc.ascii_upper(text) if _is_ascii(text) else _each(str.upper, text)


def trim(text: pa.Array) -> pa.Array:
    """Text without the spaces around it."""
    return pc.utf8_trim(text, characters=" ")


def concat(*texts: Any) -> Any:
    """The texts one after the other, NULL if one is."""
    return pc.binary_join_element_wise(*texts, pa.scalar("", pa.large_string()))


def starts_with(text: Any, prefix: Any) -> Any:
    """Whether each text begins with the prefix."""
    if isinstance(prefix, pa.Scalar) and prefix.is_valid:
        return pc.starts_with(text, prefix.as_py())
    return _each(str.startswith, text, prefix, type_=pa.bool_())


def like(text: Any, pattern: Any) -> Any:
    """Whether each text matches: `%` any text, `_` one character, backslash takes either as is."""
    if not isinstance(pattern, pa.Scalar):
        pattern = pattern[0] if len(pattern) else pa.scalar("", pa.large_string())
    if not pattern.is_valid:
        return pa.nulls(len(text), pa.bool_())
    written: str = pattern.as_py()
    trailing = len(written) - len(written.rstrip("\\"))
    # A backslash with nothing behind it stands for itself.
    return pc.match_like(text, written + "\\" * (trailing % 2))


def substring(text: Any, start: Any, length: Any = None) -> Any:
    """Text from the position `start`: 1 is the first character, 0 too, -1 the last."""
    rest = () if length is None else (length,)
    if all(isinstance(each, pa.Scalar) and each.is_valid for each in (start, *rest)):
        part = _slice(*(each.as_py() for each in (start, *rest)))
        return pc.utf8_slice_codeunits(text, part.start, part.stop)
    return _each(lambda value, *bounds: value[_slice(*bounds)], text, start, *rest)


def _slice(start: int, length: int | None = None) -> slice:
    first = start - 1 if start > 0 else start
    begin = _within(first)
    if length is None:
        return slice(begin, None)
    if length <= 0:
        return slice(0, 0)
    end = _within(first + length)
    return slice(begin, None if begin < 0 <= end else end)


def _within(place: int) -> int:
    """A place that Arrow can count to, and no text is as long as."""
    return min(max(place, -_LONGEST), _LONGEST)


def _is_ascii(text: pa.Array) -> bool:
    return pc.all(pc.string_is_ascii(text)).as_py() is not False


def _each(function: Callable[..., Any], *columns: Any, type_: pa.DataType | None = None) -> Any:
    """The function applied to one row at a time, NULL where an argument is: the rare, slow way."""
    count = next(len(column) for column in columns if not isinstance(column, pa.Scalar))
    lists = [
        [column.as_py()] * count if isinstance(column, pa.Scalar) else column.to_pylist()
        for column in columns
    ]
    results = [None if None in row else function(*row) for row in zip(*lists, strict=True)]
    return pa.array(results, type_ or pa.large_string())
