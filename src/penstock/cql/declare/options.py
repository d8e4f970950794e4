"""The WITH options of CREATE STREAM and CREATE TABLE: which there are, and their values."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, get_args

from penstock.cql.expressions.literals import parse_moment, whole_number
from penstock.cql.reading.cursor import Cursor
from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.nearest import nearest
from penstock.cql.reading.text import Span, Text
from penstock.duration import Duration
from penstock.query.source import FILE_FORMATS, KEEP, Columns, Format, Unit

FORMATS: tuple[Format, ...] = get_args(Format)
READER = "spark:"
"""`format = 'spark:delta'` begins so."""
Value = str | int | float | bool
Read = TypeVar("Read", covariant=True)
Choice = TypeVar("Choice", bound=str)
Default = TypeVar("Default")


@dataclass(frozen=True)
class Setting:
    """An option as it was written."""

    key: Span
    value: Value
    span: Span
    name: str = ""
    """The option's name in its own case."""


@dataclass(frozen=True)
class Option(Generic[Read]):
    """An option of the language. `read` gives its value; its ValueError says what it must be.

    `example` is a value as one would write it; `formats` are those that know the option; a table
    knows it only if `for_tables`.
    """

    name: str
    read: Callable[[Value], Read]
    example: str
    formats: tuple[str, ...] = FORMATS
    for_tables: bool = False


def take_settings(cursor: Cursor) -> dict[str, Setting]:
    """The options of `WITH (key = value, …)`, by the keys in lower case."""
    settings: dict[str, Setting] = {}
    cursor.expect("(", "write it WITH (format = 'csv', …)")
    is_reader = _names_reader(cursor)
    more = True
    while more:
        key = _take_key(cursor, is_reader)
        name, span = key.text.lower(), token_span(key)
        if name not in OPTIONS and not is_reader:
            hint = nearest(name, OPTIONS, f"the options are {', '.join(OPTIONS)}")
            raise cursor.text.error(span, f"there is no option {name}", hint)
        if name in settings:
            raise cursor.text.error(span, f"{name} is given twice", "keep one of them")
        example = OPTIONS[name].example if name in OPTIONS else "'value'"
        cursor.expect("=", f"write it like {name} = {example}")
        settings[name] = replace(_take_setting(cursor, span), name=key.text)
        more = cursor.takes_another("options are separated by commas")
    return settings


def _names_reader(cursor: Cursor) -> bool:
    """Whether the options of a statement are for a reader of Spark's, which may have any."""
    words = cursor.rest
    return any(
        key.text.lower() == "format" and value.text.lower().startswith(READER)
        for key, sign, value in zip(words, words[1:], words[2:], strict=False)
        if sign.text == "="
    )


def _take_key(cursor: Cursor, is_reader: bool) -> Token:
    """The name of an option; those of Spark's readers may have dots, and then stand in quotes."""
    quoted = cursor.take_type(TokenType.STRING) if is_reader else None
    return quoted or cursor.take_name("an option", f"the options are {', '.join(OPTIONS)}")


@dataclass(frozen=True)
class Settings:
    """The options of a statement as they were written, by name."""

    text: Text
    written: Mapping[str, Setting]

    def check(self, format_: str, is_table: bool) -> None:
        """Refuse the first option that the format does not know, or that has no such value."""
        for name, setting in self.written.items():
            option = OPTIONS[name]
            if is_table and not option.for_tables:
                hint = "leave it out; only streams have it"
                raise self.text.error(setting.key, f"a table has no option {name}", hint)
            if format_ not in option.formats:
                hint = f"leave it out; it belongs to {', '.join(option.formats)}"
                raise self.text.error(setting.key, f"format {format_} has no option {name}", hint)
            self.get(option, None)

    def get(self, option: Option[Read], default: Default) -> Read | Default:
        """The value of an option, converted and checked; the default if it is not given."""
        setting = self.written.get(option.name)
        if setting is None:
            return default
        try:
            return option.read(setting.value)
        except ValueError as error:
            needed, *hints = error.args
            example = f"write it like {option.name} = {option.example}"
            hint = next(filter(None, hints), example)
            raise self.text.error(setting.span, f"{option.name} must be {needed}", hint) from None

    def own(self) -> dict[str, Value]:
        """The values of the options that are a format's own."""
        own = {option.name: option for option in OWN}
        return {
            name: own[name].read(setting.value)
            for name, setting in self.written.items()
            if name in own
        }

    def ours(self, format_: str) -> Settings:
        """The options that are the language's; all others are for the reader, if there is one."""
        if format_ != "spark":
            return self
        known = {name for name, option in OPTIONS.items() if format_ in option.formats}
        return Settings(self.text, {n: each for n, each in self.written.items() if n in known})

    def without(self, ours: Settings) -> tuple[tuple[str, str], ...]:
        """The other options as Spark's reader gets them."""
        others = [each for name, each in self.written.items() if name not in ours.written]
        return tuple((each.name, _as_spark_writes(each.value)) for each in others)


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


def _text(value: Value) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("text in single quotes")
    return value


def _any_text(value: Value) -> str:
    return value if value == "" else _text(value)


def _one_of(*choices: Choice) -> Callable[[Value], Choice]:
    def read(value: Value) -> Choice:
        for choice in choices:
            if isinstance(value, str) and value.lower() == choice:
                return choice
        quoted = [f"'{choice}'" for choice in choices]
        hint = nearest(str(value), choices)
        raise ValueError(f"{', '.join(quoted[:-1])} or {quoted[-1]}", hint)

    return read


def _format(value: Value) -> Format:
    text = str(value)
    if text.lower().startswith(READER) and text[len(READER) :].strip():
        return "spark"
    try:
        return _one_of(*(each for each in FORMATS if each != "spark"))(value)
    except ValueError as error:
        listed, hint = error.args
        needed = f"{listed.replace(' or ', ', ')} or '{READER}…'"
        raise ValueError(needed, hint or f"write '{READER}delta' for a reader of Spark's") from None


def _as_spark_writes(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


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


def _start(value: Value) -> str:
    text = _text(value)
    if text.lower() in ("earliest", "latest"):
        return text.lower()
    if text.lstrip().startswith("{"):
        return _offsets(text)
    try:
        return _moment(text)
    except ValueError:
        raise ValueError("a time; of Kafka also 'earliest', 'latest' or offsets") from None


def _offsets(text: str) -> str:
    """Offsets by partition: `{"0": 12, "1": 7}`."""
    try:
        given = json.loads(text)
        sound = all(part.isdigit() and type(at) is int and at >= 0 for part, at in given.items())
    except (ValueError, AttributeError):
        sound = False
    if not sound:
        raise ValueError("offsets by partition as JSON", """write it start = '{"0": 12, "1": 7}'""")
    return text


_CSV = ("csv",)
_MADE = ("synthetic",)
_KAFKA = ("kafka",)
_FRAMES = ("dataframe", "spark")

FORMAT: Option[Format] = Option("format", _format, "'csv'", for_tables=True)
PATH = Option("path", _text, "'data/bids'", FILE_FORMATS, for_tables=True)
TIMESTAMP = Option("timestamp", _text, "'ts'")
UNIT: Option[Unit] = Option("unit", _one_of("us", "ms", "s"), "'ms'")
LATENESS = Option("lateness", _duration(0), "'5 seconds'")
IDLE = Option("idle", _duration(1), "'30 seconds'")
RATE = Option("rate", _rate, "1000")
MALFORMED = Option(
    "malformed", _malformed, "'keep:bad.jsonl'", (*FILE_FORMATS, *_KAFKA, *_FRAMES), for_tables=True
)
COLUMNS: Option[Columns] = Option(
    "columns", _one_of("all", "fill"), "'fill'", FILE_FORMATS, for_tables=True
)
OWN: tuple[Option[Value], ...] = (
    Option("header", _flag, "TRUE", _CSV, for_tables=True),
    Option("delimiter", _delimiter, "';'", _CSV, for_tables=True),
    Option("null", _any_text, "'NA'", _CSV, for_tables=True),
    Option("max_files", _at_least(1), "10", FILE_FORMATS),
    Option("arrivals", _one_of("constant", "poisson"), "'poisson'", _MADE),
    Option("shape", _text, "'burst(20 s, 10 s, 5)'", _MADE),
    Option("rows", _at_least(1), "100000", _MADE),
    Option("duration", _duration(1), "'60 seconds'", _MADE),
    Option("start", _start, "'2026-01-01 00:00:00'", (*_MADE, *_KAFKA)),
    Option("seed", _at_least(0), "1", _MADE),
    Option("max_time", _duration(1), "'5 seconds'", _MADE),
    Option("values", _text, "'k: uniform(0, 100)'", _MADE),
    Option("servers", _text, "'localhost:9092'", _KAFKA),
    Option("topic", _text, "'bids'", _KAFKA),
    Option("max_rows", _at_least(1), "100000", _KAFKA),
    Option("isolation", _one_of("read_committed", "read_uncommitted"), "'read_committed'", _KAFKA),
    Option("data_loss", _one_of("fail", "skip"), "'skip'", _KAFKA),
)
"""The options that a format alone understands: `Source.options`."""
_ALL: tuple[Option[Value], ...] = (
    FORMAT,
    PATH,
    TIMESTAMP,
    UNIT,
    LATENESS,
    IDLE,
    RATE,
    MALFORMED,
    COLUMNS,
    *OWN,
)
OPTIONS: Mapping[str, Option[Value]] = {option.name: option for option in _ALL}
