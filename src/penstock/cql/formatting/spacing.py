"""Pieces on one line: where a blank stands between them."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.cql.formatting.keywords import WINDOWS
from penstock.cql.formatting.pieces import Piece
from penstock.cql.reading.dialect import TokenType

_NONE_BEFORE = {",", ";", ")", "]", "."}
_NONE_BEHIND = {"(", "[", "."}
# Behind these, + and - are signs of a number and ( is no call.
_OPERATORS = {
    *("+", "-", "*", "/", "%", "||", "=", "<>", "!=", "<", "<=", ">", ">=", "(", "[", ","),
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP BY", "HAVING", "QUALIFY", "ORDER BY", "LIMIT"),
    *("AND", "OR", "NOT", "IN", "EXISTS", "BETWEEN", "LIKE", "IS", "CASE", "WHEN", "THEN", "ELSE"),
    *("ON", "AS", "WITH", "OVER", "FILTER", "UNION", "ALL", "JOIN", "ANY", "PARTITION BY"),
}
_IN_TYPES = {"<", ">", ":", ">>"}


def flat(pieces: Sequence[Piece]) -> str:
    """Pieces on one line, without comments that need lines of their own."""
    return "".join(with_blank(pieces, place) for place in range(len(pieces)))


def with_blank(pieces: Sequence[Piece], place: int) -> str:
    """A piece and the comments on its line, with a blank before it if one stands there."""
    piece = pieces[place]
    is_open = place > 0 and pieces[place - 1].word in _NONE_BEHIND
    has_blank = place and (not is_open if piece.ahead else needs_blank(pieces, place))
    return (" " if has_blank else "") + with_comments(piece)


def with_comments(piece: Piece) -> str:
    """A piece behind the comments on its line."""
    return "".join(f"{comment.text} " for comment in piece.ahead) + piece.text


def needs_blank(pieces: Sequence[Piece], place: int) -> bool:
    """Whether a blank stands before a piece, which is not the first."""
    before, piece = pieces[place - 1], pieces[place]
    if "." in (piece.word, before.word) and TokenType.NUMBER in (piece.kind, before.kind):
        return not piece.is_glued
    if piece.word in _NONE_BEFORE or before.word in _NONE_BEHIND:
        return False
    if piece.word == "[":
        after = pieces[place + 1].word if place + 1 < len(pieces) else ""
        return after in WINDOWS or before.word == "]"
    if piece.word == "(":
        return before.word in _OPERATORS or not piece.is_glued
    if {piece.word, before.word} & _IN_TYPES and piece.is_glued and _is_declared(pieces):
        return False
    is_sign = place == 1 or pieces[place - 2].word in _OPERATORS
    if before.word in ("+", "-") and is_sign:
        return not (piece.text[0].isalnum() or piece.text[0] in '("`_')
    return not _is_one(before, piece)


def _is_declared(pieces: Sequence[Piece]) -> bool:
    """Whether pieces are of a column list: no comparison, but types with < and >."""
    return any(piece.word.startswith(("STRUCT", "ARRAY", "MAP")) for piece in pieces)


def _is_one(before: Piece, piece: Piece) -> bool:
    """Whether two tokens were written as one word, such as 10s, and may only so be read."""
    return piece.is_glued and before.kind is TokenType.NUMBER and piece.kind is TokenType.VAR
