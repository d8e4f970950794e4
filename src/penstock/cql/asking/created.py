"""CREATE as other systems write it: refused by name, with what is written here instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.cql.asking.ask import Ask
from penstock.cql.reading.cursor import Cursor, is_word
from penstock.cql.reading.dialect import Token, token_span
from penstock.cql.reading.text import Text
from penstock.errors import SqlError
from penstock.query.source import Source

_KINDS = ("STREAM", "TABLE", "VIEW")
_BEFORE = {
    "OR REPLACE": "each name is created once in a script",
    "TEMPORARY": "what a script creates lasts as long as its run",
    "TEMP": "what a script creates lasts as long as its run",
    "MATERIALIZED": "every view is kept up to date",
}
"""Words before the kind, and why there is no need of them."""
_VIEW = "SELECT … FROM … GROUP BY …"


def refuse_created(text: Text, tokens: Sequence[Token]) -> Sequence[Token]:
    """The statement, if it creates nothing as only others do; an SqlError if it does.

    Where all mistakes are looked for, words that there is no need of are left out.
    """
    at = _kind_at(tokens)
    if not at:
        return tokens
    kind, rest = tokens[at].text.upper(), tokens[at + 1 :]
    words = " ".join(token.text.upper() for token in tokens[1:at])
    if words in _BEFORE:
        span = (tokens[1].start, tokens[at - 1].end + 1)
        message = f"CREATE {words} is not in the language: {_BEFORE[words]}"
        text.note(text.error(span, message, _without(kind, rest)))
        return refuse_created(text, [tokens[0], *tokens[at:]])
    if [token.text.upper() for token in rest[:3]] == ["IF", "NOT", "EXISTS"]:
        span = (rest[0].start, rest[2].end + 1)
        message = f"IF NOT EXISTS is not in the language: {_BEFORE['OR REPLACE']}"
        text.note(text.error(span, message, _without(kind, rest[3:])))
        return refuse_created(text, [*tokens[: at + 1], *rest[3:]])
    if len(rest) > 1 and not (kind == "STREAM" or (kind == "VIEW" and is_word(rest[1], "AS"))):
        _refuse_body(text, kind, rest)
    return tokens


def created_name(tokens: Sequence[Token]) -> str | None:
    """The name, in lower case, that a CREATE statement seems to be about."""
    at = _kind_at(tokens)
    behind = tokens[at + 1 :] if at else tokens[2:]
    return behind[0].text.lower() if is_word(tokens[0], "CREATE") and behind else None


def _kind_at(tokens: Sequence[Token]) -> int:
    """Where a CREATE statement says what it creates; 0 if it does not."""
    at = next((n for n, t in enumerate(tokens[:4]) if any(is_word(t, k) for k in _KINDS)), 0)
    return at if is_word(tokens[0], "CREATE") else 0


def _without(kind: str, rest: Sequence[Token]) -> str:
    return f"leave it out: CREATE {kind} {rest[0].text if rest else 'name'} …"


def _refuse_body(text: Text, kind: str, rest: Sequence[Token]) -> None:
    """Refuse a view with anything but a SELECT, and a table with one."""
    name, sign = rest[0].text, rest[1]
    if kind == "VIEW" and is_word(sign, "("):
        hint = f"name them in its SELECT: CREATE VIEW {name} AS SELECT x AS a, …"
        raise text.error(token_span(sign), "a view has no list of columns", hint)
    if kind == "VIEW":
        end = rest[-1].end + 1
        hint = f"write it CREATE VIEW {name} AS {_VIEW}"
        raise Cursor(text, rest[1:], (end, end + 1)).expected("AS", hint)
    if is_word(sign, "AS"):
        hint = f"write CREATE VIEW {name} AS {_VIEW}, or CREATE STREAM {name} AS SELECT … FROM …"
        raise text.error(token_span(sign), "a table is read, and no query makes one", hint)


def no_select(text: Text, ask: Ask, sources: Mapping[str, Source]) -> SqlError:
    """That a query does not begin with SELECT; where an input is in its place, the SELECT of it."""
    first = ask.select[0]
    if ask.kind not in _KINDS:
        message = f"a statement cannot begin with '{text.at(token_span(first))}'"
        hint = "the statements are CREATE STREAM, CREATE TABLE, CREATE VIEW and SELECT"
        return text.error(token_span(first), message, hint)
    source = sources.get(first.text.lower())
    select = _VIEW if ask.kind == "VIEW" else "SELECT … FROM …"
    if ask.kind == "STREAM" and source is not None and source.kind == "stream":
        select = f"SELECT * FROM {first.text} [NOW]"
    message = f"a {ask.kind.lower()} is made by a SELECT, not by '{text.at(token_span(first))}'"
    return text.error(token_span(first), message, f"write CREATE {ask.kind} {ask.name} AS {select}")
