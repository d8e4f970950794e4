"""A whole script: sources, and queries over them and over each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from penstock.cql.asking.ask import Ask, ask_of
from penstock.cql.asking.created import created_name, refuse_created
from penstock.cql.asking.making import make
from penstock.cql.declare.declaration import parse_declaration
from penstock.cql.declare.given import Allowed, Given
from penstock.cql.declare.registration import by_name
from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.dialect import Token, token_span
from penstock.cql.reading.hiding import without_secrets
from penstock.cql.reading.nearest import nearest
from penstock.cql.reading.respelling import respelt_start
from penstock.cql.reading.statements import Cut, cut, split
from penstock.cql.reading.text import Span, Text
from penstock.errors import FollowingError, SqlError, UsageError
from penstock.query.foreign.frame import FrameShape
from penstock.query.function import Function
from penstock.query.query import Query
from penstock.query.script import Script
from penstock.query.source import Source


def parse(
    text: str,
    file: str = "query",
    functions: Iterable[Function] = (),
    frames: Mapping[str, FrameShape] | None = None,
) -> Query:
    """The query that a script asks, if it asks one alone; see `parse_script`."""
    script = parse_script(text, file, functions, frames)
    if len(script.members) > 1:
        raise UsageError(
            "the script asks several queries, and one is wanted here",
            hint="keep one SELECT over declared streams",
        )
    return script.members[0].query


def parse_script(
    text: str,
    file: str = "query",
    functions: Iterable[Function] = (),
    frames: Mapping[str, FrameShape] | None = None,
    roots: Allowed | None = None,
) -> Script:
    """The queries that a script asks; SqlError, with the place in the text, where it asks none.

    It may call the given functions by their names; `frames` are the DataFrames of its streams and
    tables. With `roots`, it may name no file outside of these folders.
    """
    return _script(text, file, by_name(functions), Given(frames or {}, roots))


def mistakes(text: str, file: str = "query", functions: Iterable[Function] = ()) -> list[SqlError]:
    """All mistakes of a script, in the order of the text; none if it asks queries.

    A statement that cannot be parsed has one, and nothing is said of the columns that others read
    of it.
    """
    found: list[SqlError] = []
    callable_ = by_name(functions)
    try:
        _script(text, file, callable_, Given())
        return []
    except SqlError as first:
        try:
            _script(text, file, callable_, Given(), found)
        except SqlError as last:
            Text(text, file, found).note(last)
        told = [error for error in found if not isinstance(error, FollowingError)] or [first]
    return sorted(told, key=lambda error: -1 if error.place is None else error.place.start)


def declared(text: str, file: str = "query") -> list[Source]:
    """The sources of a script that can be understood, also where other statements cannot."""
    try:
        statements = cut(Text(text, file, [])).statements
    except SqlError:
        return []
    script = Text(without_secrets(text, statements), file, [])
    creates = [each for each in statements if is_word(each[0], "CREATE")]
    return list(_sources(script, creates, Given()).values())


def _script(
    text: str,
    file: str,
    functions: Mapping[str, Function],
    given: Given,
    found: list[SqlError] | None = None,
) -> Script:
    """The script of a text; with `found`, all mistakes are put there where one can go on."""
    pieces = cut(Text(text, file, found))
    # Tokens have the secrets, and sources get them from there; the text that is kept has none.
    script = Text(without_secrets(text, pieces.statements), file, found)
    try:
        return _parse(script, pieces, functions, given)
    except RecursionError:
        pass
    # Only now, because the stack is still full where the exception is caught.
    place = _deepest(pieces.statements)
    raise script.error(place, "the query is nested too deeply", "split it up")


def _deepest(statements: Sequence[Sequence[Token]]) -> Span:
    """Where the most parentheses of the SELECT are open; if there are none, where it begins."""
    queries = [each for each in statements if not is_word(each[0], "CREATE")]
    select = (queries or statements)[0]
    place, depth, most = token_span(select[0]), 0, 0
    for token in select:
        depth += is_word(token, "(") - is_word(token, ")")
        if depth > most:
            place, most = token_span(token), depth
    return place


def _parse(script: Text, pieces: Cut, functions: Mapping[str, Function], given: Given) -> Script:
    statements = list(split(script, pieces.statements))
    asked: list[Ask] = []
    declared: list[Sequence[Token]] = []
    created: set[str] = set()
    for tokens in statements:
        with script.forgiving():
            tokens = respelt_start(script, tokens)
            created.add(created_name(tokens) or "")
            tokens = refuse_created(script, tokens)
            created.add(created_name(tokens) or "")
            ask = ask_of(script, tokens)
            if ask is None:
                declared.append(tokens)
            else:
                asked.append(ask)
    sources = _sources(script, declared, given)
    are_all_read = not pieces.lost and all(is_word(each[0], "CREATE") for each in statements)
    if are_all_read and not any(ask.is_shown for ask in asked):
        end = len(script.content.rstrip())
        hint = "end the script with SELECT … FROM …"
        script.note(script.error((end, end + 1), "the script has no SELECT", hint))
    known = {*sources, *(ask.name.lower() for ask in asked), ""}
    return make(script, asked, sources, functions, (created | pieces.lost) - known)


def _sources(
    script: Text, statements: Sequence[Sequence[Token]], given: Given
) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    shapes = {name.lower(): frame for name, frame in given.frames.items()}
    known = replace(given, frames=shapes)
    for tokens in statements:
        with script.forgiving():
            source = parse_declaration(script, tokens, known)
            if source.name.lower() in sources:
                place = source.places["name"]
                message = f"{source.name} is declared twice"
                raise script.error((place.start, place.end), message, "rename one of them")
            sources[source.name.lower()] = source
    for name in given.frames:
        if name.lower() not in sources:
            _refuse_frame(name, [source.name for source in sources.values()])
    return sources


def _refuse_frame(name: str, declared: Sequence[str]) -> None:
    """Refuse a DataFrame that no statement is about."""
    otherwise = f"add CREATE STREAM {name} WITH (format = 'dataframe', timestamp = '…')"
    hint = nearest(name, declared, otherwise)
    raise UsageError(
        f"a DataFrame was given for {name}, which the script does not declare", hint=hint
    )
