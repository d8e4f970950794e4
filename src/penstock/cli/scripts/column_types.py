"""The types of columns, guessed from their values; each guess with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from penstock.engine.sources.parsed import converted
from penstock.kernels.jsontext.jsonlines import is_any_list
from penstock.query.source import Field
from penstock.query.types import DataType, decimal, nested

_LEAST, _MOST = -(2**63), 2**63 - 1
_MOST_DIGITS = 38
_LONGEST_WHOLE = len(str(_LEAST))
_BOOLEAN = re.compile(r"true|false", re.IGNORECASE)
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[+-]?(nan|inf(inity)?)", re.IGNORECASE)
_PADDED = re.compile(r"[+-]?0[0-9]")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_ZONE = re.compile(r":[0-9.]+(Z|[+-][0-9]{2}:?[0-9]{2})$")


@dataclass(frozen=True)
class Guess:
    """A type, and why; None of a column that cannot be read."""

    type: DataType | None
    why: str = ""
    lacks_zone: bool = False
    """Whether some of its times do not say their time zone."""


_FEWEST = 20
_NEARLY = 0.95


def are_nearly_all(some: int, count: int) -> bool:
    """Whether the others are so few that they may be mistakes; of a handful, none is."""
    return some == count or (count >= _FEWEST and some >= _NEARLY * count)


def guess_text(values: Iterable[str | None]) -> Guess:
    """The type of a column of texts, as those of CSV: the narrowest that all values have."""
    known = [value for value in values if value is not None]
    if not known:
        return Guess(DataType.STRING, "no value seen")
    for type_, is_so in _TEXTS:
        if all(is_so(value) for value in known) and _is_read(known, type_):
            return _moments(known) if type_ is DataType.TIMESTAMP else Guess(type_)
    finite = [value for value in known if not _NO_NUMBER.fullmatch(value)]
    if finite and all(map(_is_number, finite)) and _is_read(known, DataType.DOUBLE):
        return Guess(DataType.DOUBLE, "with NaN or infinities")
    if all(_WHOLE.fullmatch(value) for value in known):
        return _huge(max(len(value.lstrip("-")) for value in known))
    if any(_PADDED.match(value) for value in known) and all(map(str.isdigit, known)):
        return Guess(DataType.STRING, "digits with leading zeros")
    if all(_NUMBER.fullmatch(value.strip()) for value in known):
        return Guess(DataType.STRING, "numbers with blanks beside them, or too large")
    numbers = sum(_NUMBER.fullmatch(value) is not None for value in known)
    if numbers and numbers < len(known):
        return Guess(DataType.STRING, f"mixed: {numbers} of {len(known)} values are numbers")
    return Guess(DataType.STRING)


def guess_nearly_time(values: Iterable[Any], *, is_json: bool) -> tuple[Guess, list[Any]] | None:
    """The type of a column of which nearly all values are times, or whole numbers, and the values
    that are not; None of any other column. In JSON, digits in quotes are no number."""
    known = [value for value in values if value is not None]
    is_count = _is_number_in_json if is_json else _is_whole
    for type_, is_so in ((DataType.TIMESTAMP, _is_moment), (DataType.BIGINT, is_count)):
        fitting = [value for value in known if is_so(value)]
        if not fitting or not are_nearly_all(len(fitting), len(known)):
            continue
        texts = [str(value) for value in fitting]
        wrong = _faults(texts, type_)
        sound = [text for row, text in enumerate(texts) if row not in wrong]
        if are_nearly_all(len(sound), len(known)) and (guess := guess_text(sound)).type:
            strays = [value for value in known if not is_so(value)]
            return guess, strays + [fitting[row] for row in wrong]
    return None


def _is_moment(value: Any) -> bool:
    return isinstance(value, str) and bool(_MOMENT.fullmatch(value) or _DAY.fullmatch(value))


def _is_number_in_json(value: Any) -> bool:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return is_number and _LEAST <= value <= _MOST


def _moments(known: Sequence[str]) -> Guess:
    """Times, with what they say of their time zone."""
    lacking = sum(_ZONE.search(value) is None for value in known)
    if not lacking:
        return Guess(DataType.TIMESTAMP, "with a time zone")
    some = "" if lacking == len(known) else f"{lacking:,} of {len(known):,} "
    return Guess(DataType.TIMESTAMP, f"{some}without a time zone", lacks_zone=True)


def is_value(text: str) -> bool:
    """Whether a text is a number, a time or a truth value, and hardly the name of a column."""
    kinds = (_NUMBER, _DAY, _MOMENT, _BOOLEAN)
    return any(kind.fullmatch(text) for kind in kinds)


def _is_whole(value: str) -> bool:
    is_short = len(value) <= _LONGEST_WHOLE and _WHOLE.fullmatch(value) is not None
    return is_short and _LEAST <= int(value) <= _MOST


def _is_number(value: str) -> bool:
    is_padded = _PADDED.match(value) is not None
    is_huge = _WHOLE.fullmatch(value) is not None and not _is_whole(value)
    return _NUMBER.fullmatch(value) is not None and not is_padded and not is_huge


_TEXTS: tuple[tuple[DataType, Callable[[str], object]], ...] = (
    (DataType.BOOLEAN, _BOOLEAN.fullmatch),
    (DataType.BIGINT, _is_whole),
    (DataType.DOUBLE, _is_number),
    (DataType.DATE, _DAY.fullmatch),
    (DataType.TIMESTAMP, _is_moment),
)


def _is_read(values: Sequence[str], type_: DataType) -> bool:
    """Whether the engine reads all these texts as values of the type."""
    return not _faults(values, type_)


def _faults(values: Sequence[str], type_: DataType) -> Collection[int]:
    """The places of those texts that the engine does not read as values of the type."""
    faults: dict[int, str] = {}
    converted(Field("x", type_), pa.array(values, pa.string()), faults)
    return faults


def _huge(digits: int) -> Guess:
    if digits > _MOST_DIGITS:
        return Guess(DataType.STRING, f"numbers of {digits} digits, more than any type has")
    return Guess(decimal(_MOST_DIGITS, 0), "numbers beyond 64 bits")


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────


def guess_json(values: Iterable[Any]) -> Guess:
    """The type of a member of JSON objects."""
    known = [value for value in values if value is not None]
    kinds = {_kind(value) for value in known}
    if not known:
        return Guess(DataType.STRING, "no value seen")
    if kinds == {"text"}:
        return _text_in_json(known)
    if kinds == {"boolean"}:
        return Guess(DataType.BOOLEAN)
    if kinds == {"number"}:
        return _number_in_json(known)
    if kinds == {"object"}:
        return _struct(known)
    if kinds == {"list"}:
        return _array(known)
    return Guess(None, f"mixed: {', '.join(sorted(kinds))}")


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
        case dict():
            return "object"
    return "list"


def _text_in_json(known: Sequence[str]) -> Guess:
    """Texts are times where all of them are; numbers in quotes stay texts."""
    guess = guess_text(known)
    is_time = guess.type is not None and guess.type.is_temporal
    return guess if is_time else Guess(DataType.STRING)


def _number_in_json(known: Sequence[int | float]) -> Guess:
    if any(isinstance(value, float) for value in known):
        return Guess(DataType.DOUBLE)
    if all(_LEAST <= value <= _MOST for value in known):
        return Guess(DataType.BIGINT)
    found = _huge(max(len(str(abs(value))) for value in known))
    # What is no number in JSON is no text either.
    return replace(found, type=None) if found.type is DataType.STRING else found


def _struct(known: Sequence[dict[str, Any]]) -> Guess:
    names = dict.fromkeys(name for each in known for name in each)
    inner = {name: guess_json(each.get(name) for each in known).type for name in names}
    if not names or not _are_names(names) or None in inner.values():
        return Guess(None, "an object whose members cannot be declared")
    return Guess(nested("STRUCT", [(name, type_) for name, type_ in inner.items() if type_]))


def _are_names(names: Collection[str]) -> bool:
    """Whether all can be written as names of members, and are different in any case."""
    is_plain = all(re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) for name in names)
    return is_plain and len({name.lower() for name in names}) == len(names)


def _array(known: Sequence[list[Any]]) -> Guess:
    inner = guess_json(item for each in known for item in each).type
    if inner is None:
        return Guess(None, "a list of mixed items")
    return Guess(nested("ARRAY", [("element", inner)]))


# ── Parquet ───────────────────────────────────────────────────────────────────────────────────────


def guess_arrow(type_: pa.DataType) -> Guess:
    """The type of a column of a parquet file."""
    if pa.types.is_timestamp(type_):
        said = "with" if type_.tz else "without"
        return Guess(DataType.TIMESTAMP, f"{said} a time zone", lacks_zone=not type_.tz)
    for is_so, ours in _ARROW:
        if is_so(type_):
            return Guess(ours)
    if pa.types.is_decimal(type_) and 0 <= type_.scale <= type_.precision <= _MOST_DIGITS:
        return Guess(decimal(type_.precision, type_.scale))
    if pa.types.is_nested(type_):
        return _nested_arrow(type_)
    if pa.types.is_dictionary(type_):
        return guess_arrow(type_.value_type)
    if pa.types.is_null(type_):
        return Guess(DataType.STRING, "no value seen")
    return Guess(None, f"{type_} is not read")


def _nested_arrow(type_: pa.DataType) -> Guess:
    """The type of what has parts, if all of them can be read."""
    if pa.types.is_struct(type_):
        parts = [(field.name, guess_arrow(field.type).type) for field in type_]
        names = [name for name, _ in parts]
        kind = "STRUCT" if _are_names(names) else ""
    elif pa.types.is_map(type_):
        sides = (("key", type_.key_type), ("value", type_.item_type))
        kind, parts = "MAP", [(name, guess_arrow(inner).type) for name, inner in sides]
    elif is_any_list(type_):
        kind, parts = "ARRAY", [("element", guess_arrow(type_.value_type).type)]
    else:
        kind, parts = "", []
    found = [(name, inner) for name, inner in parts if inner is not None]
    if not kind or not found or len(found) < len(parts):
        return Guess(None, f"{type_} is not read")
    return Guess(nested(kind, found))


_ARROW: tuple[tuple[Callable[[pa.DataType], bool], DataType], ...] = (
    (pa.types.is_boolean, DataType.BOOLEAN),
    (pa.types.is_int8, DataType.TINYINT),
    (pa.types.is_int16, DataType.SMALLINT),
    (pa.types.is_uint8, DataType.SMALLINT),
    (pa.types.is_int32, DataType.INT),
    (pa.types.is_uint16, DataType.INT),
    (pa.types.is_int64, DataType.BIGINT),
    (pa.types.is_uint32, DataType.BIGINT),
    (pa.types.is_uint64, decimal(20, 0)),
    (pa.types.is_float16, DataType.FLOAT),
    (pa.types.is_float32, DataType.FLOAT),
    (pa.types.is_float64, DataType.DOUBLE),
    (pa.types.is_string, DataType.STRING),
    (pa.types.is_large_string, DataType.STRING),
    (pa.types.is_binary, DataType.BINARY),
    (pa.types.is_large_binary, DataType.BINARY),
    (pa.types.is_date, DataType.DATE),
)
