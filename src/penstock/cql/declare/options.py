"""The WITH options of CREATE STREAM and CREATE TABLE: which there are, and their values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar, get_args
from zoneinfo import ZoneInfo

from penstock.cql.declare import kafka_settings, kafka_values
from penstock.cql.declare.kafka_settings import PREFIX
from penstock.cql.expressions.literals import whole_number
from penstock.cql.reading.cursor import Cursor
from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.nearest import is_proposal, nearest
from penstock.cql.reading.text import Span, Text
from penstock.duration import Duration
from penstock.query.secret import Secret
from penstock.query.source import FILE_FORMATS, KEEP, MADE_FORMATS, Columns, Format, Unit

FORMATS: tuple[Format, ...] = tuple(each for each in get_args(Format) if each != "derived")
READER = "spark:"
"""`format = 'spark:orc'` begins so."""
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
    name: str
    """That of the option as we know it, which may be Spark's; of its readers' as it is written."""
    is_unknown: bool = False
    """Whether there is no such option, or no value, which is noted already."""


@dataclass(frozen=True)
class Option(Generic[Read]):
    """An option of the language. `read` gives its value; its ValueError says what it must be.

    `example` is a value as one would write it; `formats` are those that know the option; a table
    knows it only if `for_tables`, a stream only if `for_streams`. One that Spark calls so `means`
    an option of ours.
    """

    name: str
    read: Callable[[Value], Read]
    example: str
    formats: tuple[str, ...] = FORMATS
    for_tables: bool = False
    for_streams: bool = True
    means: str | None = None


_SIZE = re.compile(r"\s*(\d{1,18})\s*(b|kb|mb|gb|kib|mib|gib)?\s*", re.IGNORECASE)
_UNITS = {
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
}


def take_settings(cursor: Cursor) -> dict[str, Setting]:
    """The options of `WITH (key = value, …)`, by our names for them in lower case."""
    settings: dict[str, Setting] = {}
    cursor.expect("(", "write it WITH (format = 'csv', …)")
    is_reader = _names_reader(cursor)
    more = True
    while more:
        start = cursor.span
        with cursor.text.forgiving():
            key = _take_key(cursor)
            span, option = token_span(key), _taken(cursor.text, key, is_reader=is_reader)
            setting = Setting(span, "", span, option.name, is_unknown=True)
            known = settings.get(option.means or option.name)
            if known is None:
                settings[option.means or option.name] = setting
            else:
                is_same, other = known.name == option.name, known.name
                says = "is given twice" if is_same else f"says what {other} says"
                message = f"{option.name} {says}"
                cursor.text.note(cursor.text.error(span, message, "keep one of them"))
            cursor.expect("=", f"write it like {option.name} = {option.example}")
            taken = _take_setting(cursor, span, option.name)
            if known is None:
                settings[option.means or option.name] = replace(
                    taken, is_unknown=not option.formats
                )
            more = cursor.takes_another("options are separated by commas")
            continue
        settings.setdefault("", Setting(start, "", start, "", is_unknown=True))
        _, more = cursor.skip_item()
    return settings


def _names_reader(cursor: Cursor) -> bool:
    """Whether the options of a statement are for a reader of Spark's, which may have any."""
    words = cursor.rest
    return any(
        key.text.lower() == "format" and value.text.lower().startswith(READER)
        for key, sign, value in zip(words, words[1:], words[2:], strict=False)
        if sign.text == "="
    )


def _take_key(cursor: Cursor) -> Token:
    """The name of an option, which may stand in quotes of any kind, and must if it has dots."""
    key = cursor.take_type(TokenType.STRING)
    if key is None:
        key = cursor.take_name("an option", f"the options are {', '.join(_OURS)}")
    if cursor.next and cursor.next.text == ".":
        span = (token_span(key)[0], cursor.span[1])
        says = "the name of an option that has dots stands in quotes"
        raise cursor.text.error(span, says, f"write '{key.text}.…' = …")
    return key


def _taken(text: Text, key: Token, *, is_reader: bool) -> Option[Value | Secret | None]:
    """The option of that name; where all mistakes are looked for, also one that there is not."""
    with text.forgiving():
        return _option(text, key.text, token_span(key), is_reader=is_reader)
    return Option(key.text, _anything, "'value'", ())


def _option(
    text: Text, written: str, span: Span, *, is_reader: bool = False
) -> Option[Value | Secret | None]:
    """The option of that name, in any case, or an error."""
    name = written.lower()
    if name in OPTIONS:
        return OPTIONS[name]
    if is_reader:
        return Option(written, _anything, "'value'", ("spark",), for_tables=True)
    is_passed_on = name.startswith(PREFIX) and name != PREFIX
    instead = kafka_settings.refused(name) if is_passed_on else UNHELD.get(name)
    if instead is not None:
        raise text.error(span, f"{written} is not for streams to set", instead)
    if is_passed_on:
        return Option(name, partial(kafka_settings.passed_on, name), "'text'", _KAFKA)
    hint = nearest(name, _OURS, f"the options are {', '.join(_OURS)}")
    raise text.error(span, f"there is no option {name}", hint)


@dataclass(frozen=True)
class Settings:
    """The options of a statement as they were written, by name."""

    text: Text
    written: Mapping[str, Setting]

    @property
    def has_unknown(self) -> bool:
        """Whether there is an option that is not understood, which may be any that is missing."""
        return any(setting.is_unknown for setting in self.written.values())

    def checked(self, format_: str | None, is_table: bool) -> Settings:
        """The options, if the format knows them, and each has a value that it may have.

        A table with a key is kept by a stream, and has the options of one. Where all mistakes are
        looked for, options with mistakes have values that one would write, and those that are not
        understood are left out.
        """
        is_kept = KEY.name in self.written
        checked: dict[str, Setting] = {}
        for name, setting in self.written.items():
            if setting.is_unknown:
                continue
            with self.text.forgiving():
                if format_ is not None and not self.has_unknown:
                    self._check_kind(setting, is_table, is_kept)
                self._check_value(setting, format_)
                checked[name] = setting
                continue
            option = _option(self.text, setting.name, setting.key)
            checked[name] = replace(setting, value=_example(option))
        return Settings(self.text, checked)

    def _check_kind(self, setting: Setting, is_table: bool, is_kept: bool) -> None:
        """Refuse an option that is not of the kind of source."""
        name, option = setting.name, _option(self.text, setting.name, setting.key)
        if is_kept and option is REFRESH:
            hint = "leave it out; its stream of upserts keeps it up to date"
            raise self.text.error(setting.key, f"a table with a key has no option {name}", hint)
        if option is DELETE and not is_kept and is_table:
            hint = "add key = 'id', the columns that tell its rows apart"
            raise self.text.error(setting.key, "delete is for a table with a key", hint)
        if is_table and not is_kept and not option.for_tables:
            hint = "leave it out; only streams and tables with a key have it"
            raise self.text.error(setting.key, f"a table has no option {name}", hint)
        if not is_table and not option.for_streams:
            hint = "leave it out; only tables have it"
            raise self.text.error(setting.key, f"a stream has no option {name}", hint)

    def _check_value(self, setting: Setting, format_: str | None) -> None:
        """Refuse an option that is not of the format, where that is known, or its values."""
        name, option = setting.name, _option(self.text, setting.name, setting.key)
        if format_ is not None and format_ not in option.formats:
            hint = f"leave it out; it belongs to {', '.join(option.formats)}"
            raise self.text.error(setting.key, f"format {format_} has no option {name}", hint)
        self.get(option, None)

    def get(self, option: Option[Read], default: Default) -> Read | Default:
        """The value of an option, converted and checked; the default if it is not given."""
        setting = self.written.get(option.means or option.name)
        if setting is None or setting.is_unknown:
            return default
        try:
            return option.read(setting.value)
        except ValueError as error:
            needed, *hints = error.args
            example = f"write it like {option.name} = {option.example}"
            hint = next(filter(None, hints), example)
            raise self.text.error(setting.span, f"{option.name} must be {needed}", hint) from None

    def own(self) -> dict[str, Value]:
        """The values of the options that are a format's own, by our names for them."""
        own = {option.name: option for option in (*OWN, *SPARKS)}
        return {
            name: own[setting.name].read(setting.value)
            for name, setting in self.written.items()
            if setting.name in own
        }

    def passed_on(self) -> dict[str, str | Secret]:
        """The settings of Kafka's client, without the beginning of their names."""
        return {
            name.removeprefix(PREFIX): kafka_settings.passed_on(name, setting.value)
            for name, setting in self.written.items()
            if name.startswith(PREFIX)
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


def _take_setting(cursor: Cursor, key: Span, name: str) -> Setting:
    start = cursor.span[0]
    sign = "-" if cursor.take_word("-") else ""
    if number := cursor.take_type(TokenType.NUMBER):
        digits = sign + number.text
        whole = whole_number(digits) if number.text.isdecimal() else None
        value: Value = float(digits) if whole is None else whole
    elif flag := cursor.take_type(TokenType.TRUE, TokenType.FALSE):
        value = flag.token_type is TokenType.TRUE
    elif slip := cursor.take_slip(["TRUE", "FALSE"], "the option's value"):
        value = slip == "TRUE"
    elif string := cursor.take_type(TokenType.STRING):
        value = string.text
    else:
        hint = "a value is a number, TRUE, FALSE, or text in single quotes"
        raise cursor.expected("the option's value", hint)
    return Setting(key, value, (start, cursor.taken_to), name)


def _example(option: Option[Read]) -> Value:
    """The value that an option has in its example."""
    written = option.example
    if written.startswith("'"):
        return written[1:-1].replace("''", "'")
    return int(written) if written.isdecimal() else written == "TRUE"


def _anything(value: Value) -> Value:
    return value


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
        raise ValueError(needed, hint or f"write '{READER}orc' for a reader of Spark's") from None


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


def _group(value: Value) -> int:
    """The size of a group that is out of order; events are taken in steps of 953 through it."""
    size = _at_least(1)(value)
    if size > 10_000 or size % 953 == 0:
        raise ValueError("a whole number from 1 to 10,000, and no multiple of 953")
    return size


def _duration(least: int) -> Callable[[Value], int]:
    def read(value: Value) -> int:
        try:
            micros = Duration.parse(str(value)).micros
        except ValueError as error:
            _, hint = error.args
            raise ValueError("a length of time", hint if is_proposal(hint) else None) from None
        if micros < least:
            raise ValueError("longer than 0" if least else "0 seconds or longer")
        return micros

    return read


def _future(value: Value) -> int | None:
    if str(value).strip().lower() == "none":
        return None
    try:
        return _duration(0)(value)
    except ValueError as error:
        needed, *hints = error.args
        raise ValueError(f"{needed}, or 'none'", *hints) from None


def _max_age(value: Value) -> int:
    """A length of time in microseconds; −1 for none."""
    age = _future(value)
    return -1 if age is None else age


def _bytes(value: Value) -> int:
    match = _SIZE.fullmatch(str(value)) if not isinstance(value, bool) else None
    count = int(match[1]) * _UNITS[(match[2] or "b").lower()] if match else 0
    if count < 1:
        raise ValueError("a number of bytes, or a size")
    return count


def _delimiter(value: Value) -> str:
    character = "\t" if value == "\\t" else value
    if not isinstance(character, str) or len(character) != 1:
        raise ValueError("one character, or '\\t' for a tab")
    return character


def _timezone(value: Value) -> str:
    name = _text(value)
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("the name of a time zone") from None
    return name


_CSV = ("csv",)
_SYNTHETIC = ("synthetic",)
_NEXMARK = ("nexmark",)
_KAFKA = ("kafka",)
_FRAMES = ("dataframe", "spark")

FORMAT: Option[Format] = Option("format", _format, "'csv'", for_tables=True)
PATH = Option("path", _text, "'data/bids'", FILE_FORMATS, for_tables=True)
TIMESTAMP = Option("timestamp", _text, "'ts'")
UNIT: Option[Unit] = Option("unit", _one_of("us", "ms", "s"), "'ms'")
LATENESS = Option("lateness", _duration(0), "'5 seconds'")
IDLE = Option("idle", _duration(1), "'30 seconds'")
FUTURE: Option[int | None] = Option(
    "future", _future, "'1 day'", tuple(each for each in FORMATS if each not in MADE_FORMATS)
)
RATE = Option("rate", _rate, "1000")
REFRESH = Option(
    "refresh", _duration(0), "'10 minutes'", FILE_FORMATS, for_tables=True, for_streams=False
)
KEY = Option("key", _text, "'id'", for_tables=True, for_streams=False)
DELETE = Option("delete", _text, "'op = ''D'''", for_tables=True, for_streams=False)
MALFORMED = Option(
    "malformed", _malformed, "'keep:bad.jsonl'", (*FILE_FORMATS, *_KAFKA, *_FRAMES), for_tables=True
)
COLUMNS: Option[Columns] = Option(
    "columns", _one_of("all", "fill"), "'fill'", FILE_FORMATS, for_tables=True
)
OWN: tuple[Option[Value], ...] = (
    Option("header", _flag, "TRUE", _CSV, for_tables=True),
    Option("delimiter", _delimiter, "';'", (*_CSV, *_KAFKA), for_tables=True),
    Option("null", _any_text, "'NA'", (*_CSV, *_KAFKA), for_tables=True),
    Option("timezone", _timezone, "'Europe/Vienna'", (*FILE_FORMATS, *_KAFKA), for_tables=True),
    Option("max_files", _at_least(1), "10", FILE_FORMATS),
    Option("max_bytes", _bytes, "'128 MiB'", FILE_FORMATS),
    Option("max_row", _bytes, "'64 MiB'", ("csv", "json"), for_tables=True),
    Option("max_age", _max_age, "'7 days'", FILE_FORMATS),
    Option("arrivals", _one_of("constant", "poisson"), "'poisson'", _SYNTHETIC),
    Option("shape", _text, "'burst(20 s, 10 s, 5)'", MADE_FORMATS),
    Option("rows", _at_least(1), "100000", MADE_FORMATS),
    Option("duration", _duration(1), "'60 seconds'", MADE_FORMATS),
    Option("start", kafka_values.start, "'2026-01-01 00:00:00'", (*MADE_FORMATS, *_KAFKA)),
    Option("seed", _at_least(0), "1", MADE_FORMATS),
    Option("max_time", _duration(1), "'5 seconds'", MADE_FORMATS),
    Option("values", _text, "'k: uniform(0, 100)'", _SYNTHETIC),
    Option("stream", _one_of("person", "auction", "bid"), "'bid'", _NEXMARK),
    Option("out_of_order", _group, "100", _NEXMARK),
    Option("hot_sellers", _at_least(1), "4", _NEXMARK),
    Option("hot_auctions", _at_least(1), "2", _NEXMARK),
    Option("hot_bidders", _at_least(1), "4", _NEXMARK),
    Option("servers", _text, "'localhost:9092'", _KAFKA),
    Option("topic", kafka_values.topic, "'bids'", _KAFKA),
    Option("value", _one_of("json", "csv", "avro"), "'json'", _KAFKA),
    Option("schema", _text, "'bid.avsc'", _KAFKA),
    Option("registry_header", _flag, "TRUE", _KAFKA),
    Option("max_rows", _at_least(1), "100000", _KAFKA),
    Option("isolation", _one_of("read_committed", "read_uncommitted"), "'read_committed'", _KAFKA),
    Option("group", _text, "'bid-readers'", _KAFKA),
    Option("data_loss", _one_of("fail", "skip"), "'skip'", _KAFKA),
)
"""The options that a format alone understands: `Source.options`."""
SPARKS: tuple[Option[Value], ...] = (
    Option("subscribe", kafka_values.topic, "'bids'", _KAFKA, means="topic"),
    Option("kafka.bootstrap.servers", _text, "'localhost:9092'", _KAFKA, means="servers"),
    Option("startingOffsets", kafka_values.starting_offsets, "'earliest'", _KAFKA, means="start"),
    Option(
        "startingTimestamp",
        kafka_values.starting_timestamp,
        "'1767225600000'",
        _KAFKA,
        means="start",
    ),
    Option("maxOffsetsPerTrigger", kafka_values.max_offsets, "100000", _KAFKA, means="max_rows"),
    Option("failOnDataLoss", kafka_values.fail_on_data_loss, "FALSE", _KAFKA, means="data_loss"),
)
"""Options by the names that Spark has for them."""
UNHELD: Mapping[str, str] = {
    "subscribepattern": "a stream reads one topic: topic = 'bids'",
    "assign": "a stream reads all partitions of one topic: topic = 'bids'",
    "startingoffsetsbytimestamp": "write start = '2026-01-01 00:00:00'",
    "endingoffsets": "leave it out; --available-now reads up to where the topic ends",
    "minpartitions": "leave it out; 50,000 records are one task's",
    "maxrecordsperpartition": "leave it out; 50,000 records are one task's",
    "minoffsetspertrigger": "leave it out; --trigger says how often there is a batch",
    "maxtriggerdelay": "leave it out; --trigger says how often there is a batch",
    "includeheaders": "declare a column kafka_headers STRING",
    "groupidprefix": "no group is joined: positions are in the checkpoint",
}
"""Options that Spark has and we do not, and what to do instead."""
_ALL: tuple[Option[Value | None], ...] = (
    FORMAT,
    PATH,
    TIMESTAMP,
    UNIT,
    LATENESS,
    IDLE,
    FUTURE,
    RATE,
    REFRESH,
    KEY,
    DELETE,
    MALFORMED,
    COLUMNS,
    *OWN,
)
_OURS = tuple(option.name for option in _ALL)
OPTIONS: Mapping[str, Option[Value | None]] = {
    option.name.lower(): option for option in (*_ALL, *SPARKS)
}
