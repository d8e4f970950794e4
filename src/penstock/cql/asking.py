"""Which statements of a script ask queries, under which names, and in what order they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.dialect import Token, token_span
from penstock.cql.reading.text import Span, Text
from penstock.query.script import RESULT


@dataclass(frozen=True)
class Ask:
    """A statement that asks a query: `CREATE STREAM x AS SELECT …`, `CREATE VIEW v AS SELECT …`, or
    `SELECT … INTO name`, whose results go to a sink."""

    name: str
    place: Span
    select: Sequence[Token]
    is_shown: bool


def ask_of(text: Text, tokens: Sequence[Token]) -> Ask | None:
    """The query that a statement asks; None for a declaration."""
    if not is_word(tokens[0], "CREATE"):
        return _shown(text, tokens)
    kind = next((each for each in ("STREAM", "VIEW") if is_word(tokens[1], each)), None)
    if len(tokens) < 5 or kind is None or not is_word(tokens[3], "AS"):
        return None
    return Ask(tokens[2].text, token_span(tokens[2]), tokens[4:], is_shown=False)


def _shown(text: Text, tokens: Sequence[Token]) -> Ask:
    """A SELECT of its own, with the name that INTO gives it."""
    for index, token in enumerate(tokens[:-1]):
        if is_word(token, "INTO"):
            name = tokens[index + 1]
            rest = [*tokens[:index], *tokens[index + 2 :]]
            return Ask(name.text, token_span(name), rest, is_shown=True)
    return Ask(RESULT, token_span(tokens[0]), tokens, is_shown=True)


def in_order(text: Text, asked: Sequence[Ask]) -> list[Ask]:
    """The queries in an order in which each comes after those that it reads."""
    known: dict[str, Ask] = {}
    for ask in asked:
        if ask.name.lower() in known:
            message = f"two queries are named {ask.name}"
            raise text.error(ask.place, message, "name each of them: SELECT … INTO name")
        known[ask.name.lower()] = ask
    ordered: list[Ask] = []
    waiting = list(asked)
    while waiting:
        left = {ask.name.lower() for ask in waiting if not ask.is_shown}
        ready = [ask for ask in waiting if not left & _names(ask)]
        if not ready:
            message = f"{waiting[0].name} is read by what it reads itself"
            hint = "queries may not go round in a circle"
            raise text.error(waiting[0].place, message, hint)
        ordered += ready
        waiting = [ask for ask in waiting if ask not in ready]
    return ordered


def _names(ask: Ask) -> set[str]:
    """The names that follow FROM, JOIN or a comma."""
    return {token.text.lower() for token in ask.select}
