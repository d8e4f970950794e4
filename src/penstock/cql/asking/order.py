"""The order of queries: each after those that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from penstock.cql.asking.ask import Ask
from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.dialect import Token, token_span
from penstock.cql.reading.text import Span, Text

_ENDS_FROM = ("WHERE", "GROUP BY", "HAVING", "QUALIFY", "ORDER BY", "LIMIT", "EVERY", "UNION")


def in_order(text: Text, asked: Sequence[Ask], declared: Iterable[str]) -> list[Ask]:
    """The queries in an order in which each comes after those that it reads.

    Those that stand first in the script come first where they may.
    """
    waiting = _named_once(text, asked, {name.lower() for name in declared})
    known = {ask.name.lower(): ask for ask in waiting if ask.is_readable}
    ordered: list[Ask] = []
    while waiting:
        left = {ask.name.lower() for ask in waiting if ask.is_readable}
        ready = [ask for ask in waiting if not left & reads(ask)]
        if not ready:
            circular = _circular(waiting[0], {name: known[name] for name in left})
            message = f"{circular.name} is read by what it reads itself"
            hint = "queries may read each other, but not go round in a circle"
            text.note(text.error(circular.place, message, hint))
            waiting.remove(circular)
        ordered += ready
        waiting = [ask for ask in waiting if ask not in ready]
    return ordered


def _named_once(text: Text, asked: Sequence[Ask], declared: set[str]) -> list[Ask]:
    """The queries, if no two things have the same name.

    Where all mistakes are looked for, nobody reads what has the name of something before it.
    """
    named: list[Ask] = []
    for ask in asked:
        with text.forgiving():
            _check_name(text, ask, {other.name.lower() for other in named}, declared)
            named.append(ask)
            continue
        named.append(replace(ask, is_readable=False))
    return named


def _check_name(text: Text, ask: Ask, seen: set[str], declared: set[str]) -> None:
    name = ask.name.lower()
    if name in seen:
        message = f"two queries are named {ask.name}"
        raise text.error(ask.place, message, "name each of them: SELECT … INTO name")
    if name in declared and ask.is_readable:
        message = f"{ask.name} is declared as a stream or table too"
        raise text.error(ask.place, message, "give the query another name")


def _circular(ask: Ask, waiting: Mapping[str, Ask]) -> Ask:
    """Of queries that wait for each other, the one at which the circle closes."""
    seen: list[str] = []
    while ask.name.lower() not in seen:
        seen.append(ask.name.lower())
        ask = waiting[next(name for name in waiting if name in reads(ask))]
    return ask


def reads(ask: Ask) -> set[str]:
    """The names that a query reads, in lower case, as they are called outside of it."""
    return set(read_at(ask)) | set(ask.scalars) | set(ask.branches)


def read_at(ask: Ask) -> dict[str, Span]:
    """The names that FROM has, as in `reads`, and where each stands first."""
    found: dict[str, Span] = {}
    for token in _from(ask.select):
        name = token.text.lower()
        found.setdefault(ask.local.get(name, name), token_span(token))
    return found


def _from(tokens: Sequence[Token]) -> Iterator[Token]:
    """The names that follow FROM, JOIN, or a comma between inputs."""
    depth, is_from, is_next = 0, False, False
    for token in tokens:
        depth += token.text in ("(", "[")
        depth -= token.text in (")", "]")
        if is_next:
            yield token
            is_next = False
        elif depth == 0 and any(is_word(token, word) for word in _ENDS_FROM):
            is_from = False
        elif is_word(token, "FROM") or is_word(token, "JOIN"):
            is_from, is_next = True, True
        elif is_word(token, ",") and is_from and depth == 0:
            is_next = True
