"""The pieces of a script: its tokens as they are written, with the comments around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.cql.formatting.keywords import is_keyword
from penstock.cql.reading.dialect import Token, TokenType, token_span, tokenize
from penstock.cql.reading.text import Text

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/|\{#.*?#\}", re.DOTALL)


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
        replace(piece, text=piece.word) if is_keyword(pieces, place) else piece
        for place, piece in enumerate(pieces)
    ]


def same(left: Text, right: Text) -> bool:
    """Whether two scripts are the same but for whitespace and the case of keywords."""
    return _compared(left) == _compared(right) and _comments(left) == _comments(right)


def _compared(text: Text) -> list[tuple[TokenType, str]]:
    found, _ = statements(text)
    return [(piece.kind, piece.text) for pieces in found for piece in pieces]


def _comments(text: Text) -> list[str]:
    found, end = [], 0
    tokens: list[Token] = tokenize(text)
    for start, stop in [*(token_span(token) for token in tokens), (len(text.content),) * 2]:
        found += [comment[0].rstrip() for comment in _COMMENT.finditer(text.content[end:start])]
        end = stop
    return found
