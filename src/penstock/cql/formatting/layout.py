"""Statements in lines: a clause a line, and lists an item a line where they are too long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from penstock.cql.formatting.keywords import JOINS
from penstock.cql.formatting.pieces import Piece
from penstock.cql.formatting.spacing import flat, with_blank, with_comments

WIDTH = 100
_STEP = 2
_CLAUSES = {
    *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "QUALIFY", "ORDER BY", "LIMIT", "EVERY"),
    *("INTO", "UNION"),
}
_LISTS = {"SELECT", "GROUP BY", "ORDER BY"}
Pieces = Sequence[Piece]


def statement_lines(pieces: Pieces) -> list[str]:
    """The lines of a statement."""
    if pieces[0].word == "CREATE":
        return _create(pieces)
    return _query(pieces, 0)


def _create(pieces: Pieces) -> list[str]:
    if len(pieces) > 4 and pieces[3].word == "AS":
        return [*_lines(pieces[:4], 0), *_query(pieces[4:], 0)]
    depth = 0
    for place, piece in enumerate(pieces):
        depth += (piece.word == "(") - (piece.word == ")")
        if depth == 0 and piece.word == "WITH" and place > 2:
            if len(flat(pieces)) <= WIDTH * 3 // 4 and _is_plain(pieces):
                return _lines(pieces, 0)
            return [*_lines(pieces[:place], 0), *_lines(pieces[place:], 0)]
    return _lines(pieces, 0)


def _query(pieces: Pieces, indent: int) -> list[str]:
    """The lines of a SELECT, or of several in WITH or UNION ALL."""
    return [line for clause in _clauses(pieces) for line in _clause(clause, indent)]


def _clauses(pieces: Pieces) -> Iterator[Pieces]:
    start, depth = 0, 0
    for place, piece in enumerate(pieces):
        is_name = place > 0 and pieces[place - 1].word in ("AS", ".", "INTO")
        if depth == 0 and place > start and piece.word in _CLAUSES and not is_name:
            is_call = piece.word == "EVERY" and _is_call(pieces, place)
            if not is_call:
                yield pieces[start:place]
                start = place
        depth += (piece.word in ("(", "[")) - (piece.word in (")", "]"))
    yield pieces[start:]


def _is_call(pieces: Pieces, place: int) -> bool:
    return place + 1 < len(pieces) and pieces[place + 1].word in ("(", ".")


def _clause(pieces: Pieces, indent: int) -> list[str]:
    if _fits(pieces, indent):
        return _lines(pieces, indent)
    word, inner = pieces[0].word, indent + _STEP
    if word in _LISTS:
        first = 2 if len(pieces) > 1 and pieces[1].word == "DISTINCT" else 1
        items = _split(pieces[first:], lambda before, piece: before.word == ",")
        return [
            *_lines(pieces[:first], indent),
            *(line for item in items for line in _lines(item, inner)),
        ]
    if word == "WITH":
        items = _split(pieces, lambda before, piece: before.word == ",")
    elif word == "FROM":
        items = _split(pieces, _starts_input)
    else:
        items = _split(pieces, _starts_condition())
    head, *rest = items
    return [*_lines(head, indent), *(line for item in rest for line in _lines(item, inner))]


def _starts_input(before: Piece, piece: Piece) -> bool:
    is_join = piece.word in JOINS and before.word not in {*JOINS, "OUTER"}
    return before.word == "," or is_join


def _starts_condition() -> Callable[[Piece, Piece], bool]:
    """Whether a piece is an AND between conditions, none of a BETWEEN or inside of a CASE."""
    between, cases = 0, 0

    def starts(before: Piece, piece: Piece) -> bool:
        nonlocal between, cases
        cases += (piece.word == "CASE") - (piece.word == "END")
        if piece.word == "BETWEEN":
            between += 1
        if piece.word == "AND" and between:
            between -= 1
            return False
        return piece.word == "AND" and not cases

    return starts


def _split(pieces: Pieces, starts: Callable[[Piece, Piece], bool]) -> list[Pieces]:
    """Pieces cut before each that starts an item, outside of parentheses."""
    found: list[Pieces] = []
    start, depth = 0, 0
    for place in range(1, len(pieces)):
        before, piece = pieces[place - 1], pieces[place]
        depth += (before.word in ("(", "[")) - (before.word in (")", "]"))
        if depth == 0 and starts(before, piece):
            found.append(pieces[start:place])
            start = place
    return [*found, pieces[start:]] if pieces else []


def _lines(pieces: Pieces, indent: int) -> list[str]:
    """Pieces on one line if they fit, else with the last parentheses opened up."""
    if not pieces:
        return []
    if _fits(pieces, indent):
        return _flowing(pieces, indent)
    opening, closing = _widest(pieces)
    if closing <= opening + 1:
        return _flowing(pieces, indent)
    inside = pieces[opening + 1 : closing]
    head = _flowing(pieces[: opening + 1], indent)
    # What stands before the closing one is about what is inside.
    last = [" " * (indent + _STEP) + comment.text for comment in pieces[closing].before]
    tail = _flowing([replace(pieces[closing], before=()), *pieces[closing + 1 :]], indent)
    return [*head, *_inside(inside, indent + _STEP), *last, *tail]


def _inside(pieces: Pieces, indent: int) -> list[str]:
    if pieces[0].word in ("SELECT", "WITH"):
        return _query(pieces, indent)
    items = _split(pieces, lambda before, piece: before.word == ",")
    if len(items) == 1:
        items = _split(pieces, lambda before, piece: piece.word in ("AND", "OR"))
    return [line for item in items for line in _lines(item, indent)]


def _widest(pieces: Pieces) -> tuple[int, int]:
    """Where the longest outermost parentheses open and close; (0, 0) if there are none."""
    best, opening, depth = (0, 0), 0, 0
    for place, piece in enumerate(pieces):
        if piece.word == "(":
            opening = place if depth == 0 else opening
            depth += 1
        if piece.word == ")":
            depth -= 1
            if depth == 0 and place - opening > best[1] - best[0]:
                best = (opening, place)
    return best


def _fits(pieces: Pieces, indent: int) -> bool:
    return indent + len(flat(pieces)) <= WIDTH and _is_plain(pieces)


def _is_plain(pieces: Pieces) -> bool:
    """Whether no comment between the pieces needs a line."""
    inner = any(piece.before for piece in pieces[1:]) or any(p.behind for p in pieces[:-1])
    return not inner and not any("\n" in piece.text for piece in pieces)


def _flowing(pieces: Pieces, indent: int) -> list[str]:
    """Pieces one behind the other, with a new line where a comment needs one."""
    margin = " " * indent
    lines: list[str] = []
    line = ""
    for place, piece in enumerate(pieces):
        if piece.before and line:
            lines.append(line)
            line = ""
        for comment in piece.before:
            lines.append(margin + comment.text)
            if comment.blank and place == 0 and indent == 0:
                lines.append("")
        if line:
            line += with_blank(pieces, place)
        else:
            line = (margin if place == 0 else margin + " " * _STEP) + with_comments(piece)
        for comment in piece.behind:
            line += f" {comment.text}"
        if piece.behind:
            lines.append(line)
            line = ""
    return [*lines, line] if line else lines
