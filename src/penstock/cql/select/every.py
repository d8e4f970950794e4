"""EVERY: how often a view is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from penstock.cql.reading.cursor import Cursor, is_word
from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.text import Span, Text
from penstock.cql.select.windows import MISTAKEN, take_duration
from penstock.duration import MICROS, Duration
from penstock.query.query import Input
from penstock.query.view import EAGER
from penstock.query.window import TimeWindow, is_tumble

_BEHIND = ("QUALIFY", "ORDER BY", "LIMIT")
"""What may also stand behind EVERY."""


@dataclass(frozen=True)
class Every:
    """An EVERY clause: its microseconds, and where it stands."""

    micros: int
    span: Span


def cut_every(text: Text, tokens: Sequence[Token]) -> tuple[list[Token], Every | None]:
    """The tokens of a SELECT without the EVERY clause, and the clause.

    EVERY is a name like any other unless a length of time follows.
    """
    for index, (token, after) in enumerate(pairwise(tokens)):
        is_length = after.token_type in (TokenType.NUMBER, TokenType.STRING)
        if is_length and is_word(token, "EVERY"):
            end = tokens[-1].end + 1
            cursor = Cursor(text, tokens[index + 1 :], (end, end + 1))
            micros = take_duration(cursor, "a period")
            every = Every(micros, (token_span(token)[0], cursor.taken_to))
            if not (cursor.next and any(is_word(cursor.next, word) for word in _BEHIND)):
                cursor.expect_end("EVERY stands last: GROUP BY … HAVING … EVERY 10 SECONDS")
            return [*tokens[:index], *cursor.rest], every
    return list(tokens), None


def period(text: Text, inputs: Sequence[Input], every: Every | None, place: Span) -> int:
    """The microseconds between evaluations: as written, else at each end of a block, else eager."""
    if every is not None:
        return every.micros
    if any(item.window is MISTAKEN for item in inputs):
        return MICROS
    windows = [item.window for item in inputs if isinstance(item.window, TimeWindow)]
    lengths = sorted(window.slide for window in windows if is_tumble(window))
    if not lengths:
        return EAGER
    if gcd(*lengths) != lengths[0]:
        message = "the windows tumble at times that do not fit together"
        hint = f"say when to evaluate: EVERY {Duration(gcd(*lengths))}"
        text.note(text.error(place, message, hint))
    return lengths[0]
