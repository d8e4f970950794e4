"""Statements that ask queries, under which names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from penstock.cql.reading.cursor import Cursor, is_word
from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.names import check_name
from penstock.cql.reading.respelling import respelt
from penstock.cql.reading.text import Span, Text
from penstock.query.script import RESULT

Kind = Literal["STREAM", "VIEW", "SCALAR", "ANY"]
_CREATE = "write it CREATE VIEW v AS SELECT … FROM … GROUP BY …"
_ENDING = (
    TokenType.VAR,
    TokenType.IDENTIFIER,
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.R_BRACKET,
    TokenType.R_PAREN,
)
_INTO = "name the results: SELECT … FROM … INTO name"


@dataclass(frozen=True)
class Ask:
    """A query to be: `CREATE STREAM x AS SELECT …`, `CREATE VIEW v AS SELECT …`, or
    `SELECT … INTO name`, whose results go to a sink."""

    name: str
    place: Span
    select: Sequence[Token]
    kind: Kind = "ANY"
    is_shown: bool = False

    is_readable: bool = True
    """Whether others may read it by its name."""

    local: Mapping[str, str] = field(default_factory=dict)
    """Names that this query alone may read, in lower case, and what they are called outside."""

    scalars: tuple[str, ...] = ()
    """The one-row views inside of its expressions."""

    only: tuple[Token, ...] = ()
    """The columns that are shown, where these are not all."""

    branches: tuple[str, ...] = ()
    """The queries whose results it is, where it is a UNION ALL and no SELECT of its own."""


def ask_of(text: Text, tokens: Sequence[Token]) -> Ask | None:
    """The query that a statement asks; None for a declaration."""
    if not is_word(tokens[0], "CREATE"):
        return _shown(text, tokens)
    kind = _kind(tokens)
    if kind is None:
        return None
    name, body = tokens[2], tokens[4:]
    check_name(text, token_span(name), name.text)
    if not body:
        end = tokens[-1].end + 1
        raise Cursor(text, (), (end, end + 1)).expected(
            "SELECT", "write it CREATE VIEW v AS SELECT … FROM … GROUP BY …"
        )
    return Ask(name.text, token_span(name), body, kind)


def _kind(tokens: Sequence[Token]) -> Kind | None:
    """What `CREATE … AS` creates; None where there is no AS behind a name."""
    if len(tokens) < 4 or not is_word(tokens[3], "AS"):
        return None
    if is_word(tokens[1], "STREAM"):
        return "STREAM"
    return "VIEW" if is_word(tokens[1], "VIEW") else None


def _shown(text: Text, tokens: Sequence[Token]) -> Ask:
    """A SELECT of its own, with the name that INTO gives it."""
    tokens = _respelt_end(text, tokens)
    depth = 0
    for index, token in enumerate(tokens):
        depth += is_word(token, "(") - is_word(token, ")")
        if is_word(token, "INTO") and not depth and index:
            end = tokens[-1].end + 1
            cursor = Cursor(text, tokens[index + 1 :], (end, end + 1))
            name = cursor.take_name("a name", _INTO)
            check_name(text, token_span(name), name.text)
            rest = [*tokens[:index], *cursor.rest]
            return Ask(name.text, token_span(name), rest, is_shown=True)
    place = token_span(tokens[0])
    return Ask(RESULT, place, tokens, is_shown=True, is_readable=False)


def _respelt_end(text: Text, tokens: Sequence[Token]) -> Sequence[Token]:
    """A SELECT whose last words are INTO and a name, also where INTO is misspelt.

    Nothing else is two names behind what ends an expression or an input.
    """
    kinds = [token.token_type for token in tokens[-3:]]
    is_end = kinds[1:] == [TokenType.VAR] * 2 and kinds[0] in _ENDING
    return respelt(text, tokens, len(tokens) - 2, ["INTO"]) if is_end else tokens
