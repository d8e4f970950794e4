"""CREATE STREAM and CREATE TABLE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from penstock.cql.declare.avro_file import with_schema
from penstock.cql.declare.frame_columns import with_frame
from penstock.cql.declare.given import Given
from penstock.cql.declare.nexmark_columns import with_nexmark
from penstock.cql.declare.options import (
    COLUMNS,
    DELETE,
    FORMAT,
    FORMATS,
    FUTURE,
    IDLE,
    KEY,
    LATENESS,
    MALFORMED,
    PATH,
    RATE,
    READER,
    REFRESH,
    TIMESTAMP,
    UNIT,
    Setting,
    Settings,
    Value,
    take_settings,
)
from penstock.cql.declare.safe_sources import refuse_unsafe
from penstock.cql.declare.source_checks import (
    RATE_FIELDS,
    needs,
    with_event_time,
    with_key,
)
from penstock.cql.expressions.types import TYPES_HINT, parse_type
from penstock.cql.reading.cursor import Cursor
from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.names import check_name
from penstock.cql.reading.text import Span, Text
from penstock.errors import FollowingError
from penstock.query.source import FILE_FORMATS, Field, Format, Source
from penstock.query.types import DataType

_OWN_DEFAULTS: Mapping[str, Mapping[str, Value]] = {
    "csv": {"header": True, "delimiter": ",", "null": ""},
    "synthetic": {"arrivals": "constant"},
}
_TABLE_FORMATS = (*FILE_FORMATS, "dataframe", "spark")
_KINDS = "the language has CREATE STREAM, CREATE TABLE and CREATE VIEW … AS SELECT …"
_SHAPE = "write it CREATE STREAM name (column TYPE, …) WITH (format = 'csv', …)"


def parse_declaration(text: Text, tokens: Sequence[Token], given: Given) -> Source:
    """The stream or table that a CREATE statement declares; frames by names in lower case."""
    end = tokens[-1].end + 1
    cursor = Cursor(text, tokens, (end, end + 1))
    cursor.take()
    is_table = cursor.take_word("TABLE") is not None
    if not is_table:
        cursor.expect("STREAM", _KINDS)
    name = cursor.take_name("a name", _SHAPE)
    check_name(text, token_span(name), name.text)
    tally = text.tally
    fields = _take_fields(cursor) if cursor.take_word("(") else ()
    # The columns are known, so that other statements can be looked at.
    places = {"name": text.place(token_span(name))}
    source = Source(name.text, fields, "parquet", is_table, places=places)
    with text.forgiving():
        source = _whole(cursor, name, fields, given, is_table)
    # Those that a format has by itself are not, where something is wrong.
    return source if fields or text.tally == tally else replace(source, fields=())


def _whole(
    cursor: Cursor,
    name: Token,
    fields: tuple[Field, ...],
    given: Given,
    is_table: bool,
) -> Source:
    """The declaration of a name and columns that have been read."""
    text, settings = cursor.text, _take_with(cursor)
    source = _source(text, name, fields, settings, is_table)
    with text.forgiving():
        source = with_frame(source, given.frames.get(source.name.lower()))
    with text.forgiving():
        source = with_nexmark(source)
    for error in needs(source):
        text.note(error)
    if given.roots is not None:
        refuse_unsafe(source, given.roots)
    with text.forgiving():
        source = with_schema(source)
    if source.is_table or not source.fields:
        return source
    with text.forgiving():
        source = with_key(source)
    with text.forgiving():
        source = with_event_time(text, source, settings)
    return source


def _take_with(cursor: Cursor) -> dict[str, Setting]:
    cursor.expect("WITH", _SHAPE)
    settings = take_settings(cursor)
    with cursor.text.forgiving():
        cursor.expect_end("a statement ends with ;")
    return settings


def _take_fields(cursor: Cursor) -> tuple[Field, ...]:
    fields: list[Field] = []
    more = True
    while more:
        with cursor.text.forgiving():
            name = cursor.take_name("a column's name", _SHAPE)
            field = Field(name.text, _take_type(cursor))
            if any(field.name.lower() == other.name.lower() for other in fields):
                message = f"there are two columns named {name.text}"
                cursor.text.note(cursor.text.error(token_span(name), message, "rename one of them"))
            else:
                fields.append(field)
            more = cursor.takes_another("a column is a name and a type, and nothing else")
            continue
        skipped, more = cursor.skip_item()
        # They may be columns, of which a comma or a type is missing.
        fields += [Field(t.text, DataType.NULL) for t in skipped if t.token_type is TokenType.VAR]
    return tuple(fields)


def _take_type(cursor: Cursor) -> DataType:
    """The type that stands next; where all mistakes are looked for, NULL in the place of none."""
    with cursor.text.forgiving():
        return _type(cursor)
    return DataType.NULL


def _type(cursor: Cursor) -> DataType:
    start, end = token_span(cursor.take_name("a type", TYPES_HINT))
    open_ = 0
    while cursor.next and (open_ or cursor.next.text in ("(", "<")):
        token = cursor.take()
        open_ += sum(token.text.count(sign) for sign in "(<")
        open_ -= sum(token.text.count(sign) for sign in ")>")
        end = token_span(token)[1]
    return parse_type(cursor.text, (start, end))


def _source(
    text: Text,
    name: Token,
    fields: tuple[Field, ...],
    settings: Mapping[str, Setting],
    is_table: bool,
) -> Source:
    given = Settings(text, settings)
    is_kept = is_table and KEY.name in settings
    known: Format | None = None
    # What it lacks may only be misspelt, or be nothing that it needs.
    follows = FollowingError(f"{name.text} is not known", place=text.place(token_span(name)))
    if given.has_unknown:
        text.note(follows)
    with text.forgiving():
        known = _format(given, token_span(name), is_table, is_kept)
    if known is None:
        text.note(follows)
    format_: Format = known or "parquet"
    ours = given.ours(format_).checked(known, is_table)
    key = ours.get(KEY, None)
    places = {key: text.place(setting.span) for key, setting in settings.items()}
    return Source(
        name.text,
        fields or (RATE_FIELDS if format_ == "rate" else ()),
        format_,
        is_table=is_table and not is_kept,
        path=ours.get(PATH, None),
        timestamp=ours.get(TIMESTAMP, None),
        unit=ours.get(UNIT, None),
        lateness=ours.get(LATENESS, Source.lateness),
        idle=ours.get(IDLE, None),
        future=ours.get(FUTURE, Source.future),
        rate=ours.get(RATE, None),
        refresh=ours.get(REFRESH, None),
        malformed=ours.get(MALFORMED, Source.malformed),
        columns=ours.get(COLUMNS, Source.columns),
        options=tuple({**_OWN_DEFAULTS.get(format_, {}), **ours.own()}.items()),
        client=tuple(sorted(ours.passed_on().items())),
        reader=str(settings["format"].value)[len(READER) :] if format_ == "spark" else None,
        reader_options=given.without(ours),
        key=None if key is None else tuple(name.strip() for name in key.split(",")),
        delete=ours.get(DELETE, None),
        places={"name": text.place(token_span(name)), **places},
    )


def _format(given: Settings, name: Span, is_table: bool, is_kept: bool) -> Format:
    text = given.text
    known = _TABLE_FORMATS if is_table and not is_kept else FORMATS
    written = [f"{READER}…" if each == "spark" else each for each in known]
    hint = "add format = " + " or ".join(f"'{each}'" for each in written)
    format_ = given.get(FORMAT, None)
    if format_ is None:
        raise text.error(
            name, f"{'table' if is_table else 'stream'} {text.at(name)} has no format", hint
        )
    if format_ not in known:
        message = f"a table cannot have the format {format_}"
        raise text.error(given.written["format"].span, message, hint.replace("add", "write"))
    return format_
