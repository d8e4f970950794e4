"""The pieces of a script: its tokens as they are written, with the comments around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.dialect import Token, TokenType, token_span, tokenize
from penstock.cql.reading.text import Text

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/|\{#.*?#\}", re.DOTALL)
_KEYWORDS = {
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP BY", "HAVING", "QUALIFY", "ORDER BY", "LIMIT"),
    *("UNION", "ALL", "JOIN", "LEFT", "RIGHT", "FULL", "OUTER", "INNER", "CROSS", "SEMI", "ANTI"),
    *("ON", "AND", "OR", "NOT", "IN", "EXISTS", "BETWEEN", "LIKE", "IS", "NULL", "TRUE", "FALSE"),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "INTERVAL", "PARTITION BY", "WITH", "AS", "INTO"),
}
_CREATE = ("CREATE", "STREAM", "TABLE", "VIEW")
WINDOWS = {"RANGE", "ROWS", "TUMBLE", "NOW", "UNBOUNDED", "PARTITION BY", "WINDOW"}
# Behind these stands a name, whatever the word is.
_BEFORE_NAMES = ("AS", "INTO", ".")


@dataclass(frozen=True)
class Comment:
    """A comment; `blank` lines stood behind it."""

    text: str
    blank: bool = False


@dataclass(frozen=True)
class Piece:
    """A token as it is to be written."""

    text: str
    kind: TokenType
    before: tuple[Comment, ...] = ()
    """Comments on lines of their own before it."""

    behind: tuple[Comment, ...] = ()
    """Comments behind it on its line."""

    is_glued: bool = False
    """Whether it stands right behind the token before it."""

    @property
    def word(self) -> str:
        """The keyword or sign that it is; empty for texts and names in quotes."""
        is_quoted = self.kind in (TokenType.STRING, TokenType.IDENTIFIER)
        return "" if is_quoted else " ".join(self.text.upper().split())


def statements(text: Text) -> tuple[list[list[Piece]], tuple[Comment, ...]]:
    """The pieces of each statement, `;` at its end, and the comments behind them all."""
    tokens = tokenize(text)
    found: list[list[Piece]] = [[]]
    end = 0
    for token in tokens:
        behind, before, is_glued = _between(text.content[end : token_span(token)[0]], end == 0)
        _set_behind(found, behind)
        written = text.at(token_span(token))
        found[-1].append(Piece(written, token.token_type, before, is_glued=is_glued))
        if token.token_type is TokenType.SEMICOLON:
            found.append([])
        end = token_span(token)[1]
    behind, waiting, _ = _between(text.content[end:], end == 0)
    _set_behind(found, behind)
    cased = [_cased(pieces) for pieces in found if pieces]
    return [pieces for pieces in cased if any(map(_says_something, pieces))], waiting


def _says_something(piece: Piece) -> bool:
    """Whether a piece is more than the end of an empty statement."""
    return piece.word != ";" or bool(piece.before or piece.behind)


def _set_behind(found: list[list[Piece]], behind: tuple[Comment, ...]) -> None:
    last = next((pieces for pieces in reversed(found) if pieces), None)
    if behind and last is not None:
        last[-1] = replace(last[-1], behind=behind)


def _between(gap: str, is_first: bool) -> tuple[tuple[Comment, ...], tuple[Comment, ...], bool]:
    """What stands between two tokens: comments on the line of the first, those on lines of their
    own, and whether there is nothing at all."""
    behind: list[Comment] = []
    before: list[Comment] = []
    on_line, end = not is_first, 0
    for comment in _COMMENT.finditer(gap):
        on_line = on_line and "\n" not in gap[end : comment.start()]
        after = gap[comment.end() :]
        blank = re.match(r"[^\S\n]*\n[^\S\n]*\n", after) is not None
        kept = Comment(comment[0].rstrip(), blank)
        (behind if on_line else before).append(kept)
        on_line = on_line and "\n" not in comment[0]
        end = comment.end()
    return tuple(behind), tuple(before), not gap


def _cased(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with keywords in capitals where they are no names."""
    return [
        replace(piece, text=piece.word) if _is_keyword(pieces, place) else piece
        for place, piece in enumerate(pieces)
    ]


def _is_keyword(pieces: Sequence[Piece], place: int) -> bool:
    word = pieces[place].word
    before = pieces[place - 1].word if place else ""
    after = pieces[place + 1].word if place + 1 < len(pieces) else ""
    if before in _BEFORE_NAMES or after == ".":
        return word == "SELECT" and before == "AS"
    if before == "[":
        return word in WINDOWS
    if pieces[0].word == "CREATE" and not _asks(pieces):
        is_with = word == "WITH" and after == "("
        return (place < 2 and word in _CREATE) or (is_with and before in (")", pieces[2].word))
    if pieces[0].word == "CREATE" and place < 4:
        return (place < 2 and word in _CREATE) or (place == 3 and word == "AS")
    return word in _KEYWORDS


def _asks(pieces: Sequence[Piece]) -> bool:
    """Whether a CREATE statement has a SELECT behind AS."""
    return len(pieces) > 4 and pieces[3].word == "AS"


def same(left: Text, right: Text) -> bool:
    """Whether two scripts are the same but for whitespace and the case of keywords."""
    return list(_compared(left)) == list(_compared(right)) and _comments(left) == _comments(right)


def _compared(text: Text) -> Iterator[tuple[TokenType, str]]:
    tokens: list[Token] = tokenize(text)
    before = None
    for token in tokens:
        written = text.at(token_span(token))
        if any(is_word(token, word) for word in (*_KEYWORDS, *_CREATE, *WINDOWS)):
            written = " ".join(written.split())
            is_name = before is not None and any(is_word(before, w) for w in _BEFORE_NAMES)
            written = written if is_name and written.upper() != "SELECT" else written.upper()
        is_extra = token.token_type is TokenType.SEMICOLON and (
            before is None or before.token_type is TokenType.SEMICOLON
        )
        if not is_extra:
            yield token.token_type, written
        before = token


def _comments(text: Text) -> list[str]:
    found, end = [], 0
    tokens: list[Token] = tokenize(text)
    for start, stop in [*(token_span(token) for token in tokens), (len(text.content),) * 2]:
        found += [comment[0].rstrip() for comment in _COMMENT.finditer(text.content[end:start])]
        end = stop
    return found
