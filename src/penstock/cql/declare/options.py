"""The WITH options of CREATE STREAM and CREATE TABLE: which there are, and their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from penstock.cql.expressions.literals import parse_moment, whole_number
from penstock.cql.reading.cursor import Cursor
from penstock.cql.reading.dialect import TokenType, token_span
from penstock.cql.reading.nearest import nearest
from penstock.cql.reading.text import Span, Text
from penstock.duration import Duration
from penstock.query.source import FILE_FORMATS, KEEP, Format

FORMATS: tuple[str, ...] = get_args(Format)
Value = str | int | float | bool


@dataclass(frozen=True)
class Setting:
    """An option as it was written."""

    key: Span
    value: Value
    span: Span


@dataclass(frozen=True)
class Option:
    """An option of the language. `read` gives its value; its ValueError says what it must be.

    `example` is a value as one would write it; `formats` are those that know the option; a table
    knows it only if `for_tables`; it is one of a format's own (`Source.options`) if `own`.
    """

    read: Callable[[Value], Any]
    example: str
    formats: tuple[str, ...] = FORMATS
    for_tables: bool = False
    own: bool = False


def take_settings(cursor: Cursor) -> dict[str, Setting]:
    """The options of `WITH (key = value, …)`, by the keys in lower case."""
    settings: dict[str, Setting] = {}
    cursor.expect("(", "write it WITH (format = 'csv', …)")
    more = True
    while more:
        key = cursor.take_name("an option", f"the options are {', '.join(OPTIONS)}")
        name, span = key.text.lower(), token_span(key)
        if name not in OPTIONS:
            hint = nearest(name, OPTIONS, f"the options are {', '.join(OPTIONS)}")
            raise cursor.text.error(span, f"there is no option {name}", hint)
        if name in settings:
            raise cursor.text.error(span, f"{name} is given twice", "keep one of them")
        cursor.expect("=", f"write it like {name} = {OPTIONS[name].example}")
        settings[name] = _take_setting(cursor, span)
        more = cursor.takes_another("options are separated by commas")
    return settings


def read_settings(
    text: Text, settings: Mapping[str, Setting], format_: str, is_table: bool
) -> dict[str, Any]:
    """The values of options that suit the format, converted and checked."""
    return {
        name: _read(text, name, setting, format_, is_table) for name, setting in settings.items()
    }


def read_setting(text: Text, name: str, setting: Setting) -> Any:
    """The value of one option, converted and checked."""
    try:
        return OPTIONS[name].read(setting.value)
    except ValueError as error:
        needed, *hints = error.args
        example = f"write it like {name} = {OPTIONS[name].example}"
        hint = next(filter(None, hints), example)
        raise text.error(setting.span, f"{name} must be {needed}", hint) from None


def _take_setting(cursor: Cursor, key: Span) -> Setting:
    start = cursor.span[0]
    sign = "-" if cursor.take_word("-") else ""
    if number := cursor.take_type(TokenType.NUMBER):
        digits = sign + number.text
        whole = whole_number(digits) if number.text.isdecimal() else None
        value: Value = float(digits) if whole is None else whole
    elif flag := cursor.take_type(TokenType.TRUE, TokenType.FALSE):
        value = flag.token_type is TokenType.TRUE
    elif string := cursor.take_type(TokenType.STRING):
        value = string.text
    else:
        hint = "a value is a number, TRUE, FALSE, or text in single quotes"
        raise cursor.expected("the option's value", hint)
    return Setting(key, value, (start, cursor.taken_to))


def _read(text: Text, name: str, setting: Setting, format_: str, is_table: bool) -> Any:
    option = OPTIONS[name]
    if is_table and not option.for_tables:
        hint = "leave it out; only streams have it"
        raise text.error(setting.key, f"a table has no option {name}", hint)
    if format_ not in option.formats:
        hint = f"leave it out; it belongs to {', '.join(option.formats)}"
        raise text.error(setting.key, f"format {format_} has no option {name}", hint)
    return read_setting(text, name, setting)


def _text(value: Value) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("text in single quotes")
    return value


def _any_text(value: Value) -> str:
    return value if value == "" else _text(value)


def _one_of(*choices: str) -> Callable[[Value], str]:
    def read(value: Value) -> str:
        if isinstance(value, str) and value.lower() in choices:
            return value.lower()
        quoted = [f"'{choice}'" for choice in choices]
        hint = nearest(str(value), choices)
        raise ValueError(f"{', '.join(quoted[:-1])} or {quoted[-1]}", hint)

    return read


def _malformed(value: Value) -> str:
    text = str(value)
    if not text.lower().startswith(KEEP):
        return _one_of("fail", "drop", f"{KEEP}PATH")(value)
    path = text[len(KEEP) :].strip()
    if not path or "://" in path or path.endswith("/"):
        raise ValueError(f"'fail', 'drop' or '{KEEP}PATH' with a local file as PATH")
    return KEEP + path


def _flag(value: Value) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise ValueError("TRUE or FALSE")
    return str(value).lower() == "true"


def _rate(value: Value) -> float:
    if isinstance(value, bool | str) or not 0 < value < math.inf:
        raise ValueError("a number of tuples per second, above 0")
    return float(value)


def _at_least(least: int) -> Callable[[Value], int]:
    def read(value: Value) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"a whole number, {least} or more")
        return value

    return read


def _duration(least: int) -> Callable[[Value], int]:
    def read(value: Value) -> int:
        try:
            micros = Duration.parse(str(value)).micros
        except ValueError:
            raise ValueError("a length of time") from None
        if micros < least:
            raise ValueError("longer than 0" if least else "0 seconds or longer")
        return micros

    return read


def _delimiter(value: Value) -> str:
    character = "\t" if value == "\\t" else value
    if not isinstance(character, str) or len(character) != 1:
        raise ValueError("one character, or '\\t' for a tab")
    return character


def _moment(value: Value) -> str:
    try:
        parse_moment(_text(value))
    except (ValueError, OverflowError):
        raise ValueError("a time") from None
    return str(value)


_CSV = ("csv",)
_MADE = ("synthetic",)

OPTIONS: Mapping[str, Option] = {
    "format": Option(_one_of(*FORMATS), "'csv'", for_tables=True),
    "path": Option(_text, "'data/bids'", FILE_FORMATS, for_tables=True),
    "timestamp": Option(_text, "'ts'"),
    "unit": Option(_one_of("us", "ms", "s"), "'ms'"),
    "lateness": Option(_duration(0), "'5 seconds'"),
    "idle": Option(_duration(1), "'30 seconds'"),
    "rate": Option(_rate, "1000"),
    "malformed": Option(_malformed, "'keep:bad.jsonl'", FILE_FORMATS, for_tables=True),
    "columns": Option(_one_of("all", "fill"), "'fill'", FILE_FORMATS, for_tables=True),
    "header": Option(_flag, "TRUE", _CSV, for_tables=True, own=True),
    "delimiter": Option(_delimiter, "';'", _CSV, for_tables=True, own=True),
    "null": Option(_any_text, "'NA'", _CSV, for_tables=True, own=True),
    "max_files": Option(_at_least(1), "10", FILE_FORMATS, own=True),
    "arrivals": Option(_one_of("constant", "poisson"), "'poisson'", _MADE, own=True),
    "rows": Option(_at_least(1), "100000", _MADE, own=True),
    "duration": Option(_duration(1), "'60 seconds'", _MADE, own=True),
    "start": Option(_moment, "'2026-01-01 00:00:00'", _MADE, own=True),
    "seed": Option(_at_least(0), "1", _MADE, own=True),
    "max_time": Option(_duration(1), "'5 seconds'", _MADE, own=True),
    "values": Option(_text, "'k: uniform(0, 100)'", _MADE, own=True),
}
