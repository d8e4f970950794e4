"""The clauses of a SELECT as a syntax tree, also where keywords of theirs are misspelt."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from sqlglot import exp

from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.dialect import (
    NUMBERS_HINT,
    Token,
    TokenType,
    parse_statement,
    token_span,
)
from penstock.cql.reading.respelling import as_keyword
from penstock.cql.reading.text import Span, Text
from penstock.cql.select.every import Every, cut_every
from penstock.errors import FollowingError, SqlError
from penstock.slips import all_meant

_ONCE = (
    *("FROM", "WHERE", "GROUP BY", "HAVING", "QUALIFY", "ORDER BY", "LIMIT", "EVERY", "INTO"),
    "SELECT",
)
"""Keywords that a SELECT has once at most."""
_KEYWORDS = (
    *_ONCE,
    *("JOIN", "LEFT", "RIGHT", "FULL", "OUTER", "INNER", "CROSS", "SEMI", "ANTI", "ON", "AS"),
    *("AND", "OR", "NOT", "IN", "IS", "LIKE", "BETWEEN", "EXISTS", "NULL", "DISTINCT"),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "INTERVAL", "FILTER"),
    *("OVER", "PARTITION BY", "DESC", "ASC", "UNION ALL"),
)
_BEFORE_LISTS = {
    *(TokenType.SELECT, TokenType.DISTINCT, TokenType.FROM, TokenType.WHERE, TokenType.L_PAREN),
    *(TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.PARTITION_BY, TokenType.HAVING),
}
_BEHIND_LISTS = {
    *(TokenType.COMMA, TokenType.R_PAREN, TokenType.FROM, TokenType.WHERE, TokenType.HAVING),
    *(TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.QUALIFY, TokenType.LIMIT),
}
_COMMA = "take it away, or add what is missing"
_NEAR = 3
"""Tokens before the one that does not fit: a misspelt keyword is first taken for a name."""


@dataclass(frozen=True)
class _Slip:
    """A keyword that is misspelt: where, what was meant, and the tokens with that instead."""

    span: Span
    word: str
    tokens: Sequence[Token]
    reach: float
    """Where the grammar then has no place for a token."""


def parse_clauses(
    text: Text, tokens: Sequence[Token], names: Collection[str]
) -> tuple[exp.Expr, Every | None]:
    """The syntax tree of a SELECT without its windows, and its EVERY.

    A keyword that is misspelt is a mistake, with the one that fits there; where all mistakes are
    looked for, it is then read as that. `names`, in lower case, are no keywords.
    """
    try:
        return _parsed(text, tokens)
    except SqlError:
        reach = _reach(text, tokens)
    while slip := _slip(text, tokens, reach, names):
        message = f"'{text.at(slip.span)}' does not fit here"
        text.note(text.error(slip.span, message, f"did you mean {slip.word}?"))
        tokens, reach = slip.tokens, slip.reach
    tree, every = _parsed(text, tokens)
    if not isinstance(tree, exp.Select):
        # A keyword between two queries was misspelt, so that they have not been told apart.
        place = text.place(token_span(tokens[0]))
        raise FollowingError("this is more than one query", place=place)
    return tree, every


def _parsed(text: Text, tokens: Sequence[Token]) -> tuple[exp.Expr, Every | None]:
    rest, every = cut_every(text, tokens)
    return parse_statement(text, list(_whole_lists(text, [*_whole_numbers(text, rest)]))), every


def _whole_numbers(text: Text, tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens, if no number runs into a name: sqlglot would take `0xFF` for `0 AS xFF`."""
    before = tokens[0]
    for token in tokens:
        is_number = before.token_type is TokenType.NUMBER and before.end + 1 == token.start
        if is_number and token.token_type is TokenType.VAR:
            span = (before.start, token.end + 1)
            text.note(text.error(span, f"'{text.at(span)}' is not a number", NUMBERS_HINT))
        else:
            yield token
        before = token


def _whole_lists(text: Text, tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens, if something stands on both sides of each comma: sqlglot overlooks that."""
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.COMMA:
            if tokens[index - 1].token_type in _BEFORE_LISTS:
                text.note(
                    text.error(token_span(token), "there is nothing before this comma", _COMMA)
                )
                continue
            after = tokens[index + 1].token_type if index + 1 < len(tokens) else None
            if after is None or after in _BEHIND_LISTS:
                text.note(
                    text.error(token_span(token), "there is nothing behind this comma", _COMMA)
                )
                continue
        yield token


def _reach(text: Text, tokens: Sequence[Token]) -> float:
    """Where the first token stands that the grammar has no place for; infinite if all have one."""
    try:
        _parsed(replace(text, found=[]), tokens)
    except SqlError as error:
        return inf if error.place is None else error.place.start
    return inf


def _slip(
    text: Text, tokens: Sequence[Token], reach: float, names: Collection[str]
) -> _Slip | None:
    """The misspelt keyword with which the grammar gets farthest, if it gets any farther at all."""
    failing = next((n for n, token in enumerate(tokens) if token.start >= reach), len(tokens))
    slips = [
        slip
        for index in range(max(1, failing - _NEAR), min(failing + 2, len(tokens)))
        for slip in _respelt(text, tokens, index, names)
        if slip.reach > reach
    ]
    return max(slips, key=lambda slip: slip.reach, default=None)


def _is_name(tokens: Sequence[Token], index: int, names: Collection[str]) -> bool:
    """Whether a token names something: it is a known name, has dots, or is used elsewhere."""
    token = tokens[index]
    if token.token_type is not TokenType.VAR or token.text.lower() in names:
        return True
    others = [other.text.lower() for n, other in enumerate(tokens) if n != index]
    around = [other.text for other in tokens[max(0, index - 1) : index + 2 : 2]]
    return "." in around or token.text.lower() in others


def _respelt(
    text: Text, tokens: Sequence[Token], index: int, names: Collection[str]
) -> Iterator[_Slip]:
    """The keywords that may have been meant by a token, or by it and the next one."""
    beside = _beside(tokens, index)
    free = [w for w in _KEYWORDS if w not in _ONCE or not any(is_word(t, w) for t in beside)]
    for count in (1, 2):
        taken = tokens[index : index + count]
        if all(_is_name(tokens, index + n, names) for n in range(len(taken))):
            continue
        span = (taken[0].start, taken[-1].end + 1)
        for word in all_meant(" ".join(token.text for token in taken), free):
            # The name of the results, behind INTO, is no part of the tree.
            is_into = word == "INTO"
            instead = [] if is_into else as_keyword(word, span)
            rest = [*tokens[:index], *instead, *tokens[index + count + is_into :]]
            yield _Slip(span, word, rest, _reach(text, rest))


def _beside(tokens: Sequence[Token], index: int) -> list[Token]:
    """The tokens inside of the same parentheses as one of them."""
    opened, groups = [-1], list[int]()
    for n, token in enumerate(tokens):
        if is_word(token, ")") and len(opened) > 1:
            opened.pop()
        groups.append(opened[-1])
        if is_word(token, "("):
            opened.append(n)
    return [token for token, of in zip(tokens, groups, strict=True) if of == groups[index]]
