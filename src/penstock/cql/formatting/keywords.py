"""Keywords among the words of a script: many of them are names as well, by where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from penstock.cql.reading.dialect import TokenType
from penstock.duration import UNITS

WINDOWS = {"RANGE", "ROWS", "TUMBLE", "NOW", "UNBOUNDED", "PARTITION BY", "WINDOW"}
# Keywords wherever a query may have a word that is no name.
_ALWAYS = {
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP BY", "HAVING", "QUALIFY", "ORDER BY", "LIMIT"),
    *("UNION", "ALL", "JOIN", "LEFT", "RIGHT", "FULL", "OUTER", "INNER", "CROSS", "SEMI", "ANTI"),
    *("ON", "AND", "OR", "NOT", "IN", "EXISTS", "BETWEEN", "LIKE", "IS", "NULL", "TRUE", "FALSE"),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "INTERVAL", "PARTITION BY", "WITH", "AS", "INTO"),
}
_CREATE = ("CREATE", "STREAM", "TABLE", "VIEW")
# Behind these stands a name, whatever the word is.
_BEFORE_NAMES = ("AS", "INTO", ".")
_CLAUSES = {"SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "QUALIFY", "LIMIT", "EVERY", "INTO"}
JOINS = {"JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "SEMI", "ANTI"}
STARTING = {*_CLAUSES, *JOINS, "ORDER BY", "UNION", "WITH", "AND", "OR"}
"""Keywords that may begin a line inside of a statement."""
_LENGTHS = (TokenType.NUMBER, TokenType.STRING)
# Short units (`ms`), which have no plural, are written in small letters.
_UNITS = {form.upper() for unit in UNITS if f"{unit}s" in UNITS for form in (unit, f"{unit}s")}


class Worded(Protocol):
    """A token: its word in capitals, empty for texts and names in quotes, and its kind."""

    @property
    def word(self) -> str: ...

    @property
    def kind(self) -> TokenType: ...


Words = Sequence[Worded]


def is_keyword(pieces: Words, place: int) -> bool:
    """Whether a piece of a statement is a keyword, and no name, type or function."""
    word, before, after = pieces[place].word, _word(pieces, place - 1), _word(pieces, place + 1)
    if before in _BEFORE_NAMES or after == ".":
        return word == "SELECT" and before == "AS"
    opening = _window(pieces, place)
    if opening is not None:
        return _in_window(pieces, opening, place)
    if pieces[0].word == "CREATE" and not _asks(pieces):
        return _in_declaration(pieces, place)
    if pieces[0].word == "CREATE" and place < 4:
        return (place < 2 and word in _CREATE) or (place == 3 and word == "AS")
    return word in _ALWAYS or _is_by_its_place(pieces, place)


def _word(pieces: Words, place: int) -> str:
    return pieces[place].word if 0 <= place < len(pieces) else ""


def _is_length(pieces: Words, place: int) -> bool:
    return 0 <= place < len(pieces) and pieces[place].kind in _LENGTHS


def _asks(pieces: Words) -> bool:
    """Whether a CREATE statement has a SELECT behind AS."""
    return len(pieces) > 4 and pieces[3].word == "AS"


def _in_declaration(pieces: Words, place: int) -> bool:
    """In CREATE STREAM and CREATE TABLE, where columns and options may have any name."""
    word, before, after = pieces[place].word, _word(pieces, place - 1), _word(pieces, place + 1)
    if word == "WITH":
        return after == "(" and before in (")", pieces[2].word)
    if word in ("TRUE", "FALSE"):
        return before == "="
    return place < 2 and word in _CREATE


def _window(pieces: Words, place: int) -> int | None:
    """Where the brackets of a window open that a piece stands in; None if it is in none."""
    for at in range(place - 1, -1, -1):
        if pieces[at].word in ("]", "(", ")", ";"):
            return None
        if pieces[at].word == "[":
            return at if pieces[at + 1].word in WINDOWS else None
    return None


def _in_window(pieces: Words, opening: int, place: int) -> bool:
    word, kind = pieces[place].word, pieces[opening + 1].word
    if place == opening + 1:
        return True
    if kind == "PARTITION BY":
        return word == "ROWS" and _is_length(pieces, place + 1)
    return word in ("SLIDE", "UNTIL", "NOW") or _is_unit(pieces, place)


def _is_unit(pieces: Words, place: int) -> bool:
    return pieces[place].word in _UNITS and _is_length(pieces, place - 1)


def _is_by_its_place(pieces: Words, place: int) -> bool:
    """Of words that may be names of columns, whether this one is none."""
    before, after = _word(pieces, place - 1), _word(pieces, place + 1)
    match pieces[place].word:
        case "EVERY":
            return _is_length(pieces, place + 1)
        case "FILTER" | "OVER":
            return before in (")", "NULLS") and after == "("
        case "ASC" | "DESC":
            return before not in ("ORDER BY", ",") and _is_ordering(pieces, place)
        case "NULLS":
            is_order = after in ("FIRST", "LAST") and _is_ordering(pieces, place)
            return before == "IGNORE" or is_order
        case "FIRST" | "LAST":
            return before == "NULLS" and _is_ordering(pieces, place)
        case "IGNORE":
            return after == "NULLS"
    return _is_unit(pieces, place) and _word(pieces, place - 2) in ("EVERY", "INTERVAL")


def _is_ordering(pieces: Words, place: int) -> bool:
    """Whether a piece stands in an ORDER BY, and in no parentheses inside of it."""
    depth = 0
    for piece in reversed(pieces[:place]):
        depth += (piece.word == ")") - (piece.word == "(")
        if depth < 0:
            return False
        if depth == 0 and (piece.word == "ORDER BY" or piece.word in _CLAUSES):
            return piece.word == "ORDER BY"
    return False
