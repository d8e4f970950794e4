"""The pieces of a script: its tokens as they are written, with the comments around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.cql.formatting.keywords import STARTING, is_keyword
from penstock.cql.reading.dialect import Token, TokenType, token_span, tokenize
from penstock.cql.reading.text import Text

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/|\{#.*?#\}", re.DOTALL)
_OPENING = {",", "(", "[", "."}
_CLOSING = {",", ";", ")", "]"}


@dataclass(frozen=True)
class Comment:
    """A comment; `blank` lines stood behind it."""

    text: str
    blank: bool = False

    @property
    def ends_line(self) -> bool:
        """Whether nothing may follow on its line."""
        return self.text.startswith("--") or "\n" in self.text


@dataclass(frozen=True)
class Piece:
    """A token as it is to be written."""

    text: str
    kind: TokenType
    before: tuple[Comment, ...] = ()
    """Comments on lines of their own before it."""

    ahead: tuple[Comment, ...] = ()
    """Comments before it on its line."""

    behind: tuple[Comment, ...] = ()
    """Comments behind it on its line."""

    is_glued: bool = False
    """Whether it stands right behind the token before it."""

    is_first: bool = False
    """Whether it begins a line."""

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
        gap, written = text.content[end : token_span(token)[0]], text.at(token_span(token))
        last = found[-1][-1].word if found[-1] else ""
        piece = Piece(written, token.token_type, is_glued=not gap, is_first="\n" in gap)
        between = _between(gap, end == 0, _belongs_behind(last, piece.word))
        _set_behind(found, between.behind)
        found[-1].append(replace(piece, before=between.before, ahead=between.ahead))
        if token.token_type is TokenType.SEMICOLON:
            found.append([])
        end = token_span(token)[1]
    rest = _between(text.content[end:], end == 0, is_behind=True)
    _set_behind(found, rest.behind)
    cased = [_cased(_with_commas(pieces)) for pieces in found if pieces]
    return [pieces for pieces in cased if any(map(_says_something, pieces))], (
        *rest.before,
        *rest.ahead,
    )


def _says_something(piece: Piece) -> bool:
    """Whether a piece is more than the end of an empty statement."""
    return piece.word != ";" or bool(piece.before or piece.ahead or piece.behind)


def _set_behind(found: list[list[Piece]], behind: tuple[Comment, ...]) -> None:
    last = next((pieces for pieces in reversed(found) if pieces), None)
    if behind and last is not None:
        last[-1] = replace(last[-1], behind=behind)


@dataclass(frozen=True)
class _Between:
    """The comments between two tokens: on the line of the first, on lines of their own, and on the
    line of the second."""

    behind: tuple[Comment, ...]
    before: tuple[Comment, ...]
    ahead: tuple[Comment, ...]


def _between(gap: str, is_first: bool, is_behind: bool) -> _Between:
    """What a gap has; comments with both tokens on their line are the first's if `is_behind`."""
    comments = list(_COMMENT.finditer(gap))
    kept = [Comment(each[0].rstrip(), _is_blank(gap[each.end() :])) for each in comments]
    ends = [0, *(each.end() for each in comments)]
    blanks = [gap[end : each.start()] for end, each in zip(ends, comments, strict=False)]
    behind = 0
    while not is_first and behind < len(kept) and "\n" not in blanks[behind]:
        behind += 1
        if kept[behind - 1].ends_line:
            break
    ahead, after = len(kept), gap[ends[-1] :]
    while ahead and "\n" not in after and not kept[ahead - 1].ends_line:
        ahead, after = ahead - 1, blanks[ahead - 1]
    if behind > ahead:
        behind = ahead = behind if is_behind else ahead
    elif is_behind and not is_first:
        ahead = len(kept)
    return _Between(tuple(kept[:behind]), tuple(kept[behind:ahead]), tuple(kept[ahead:]))


def _is_blank(after: str) -> bool:
    """Whether a blank line begins what stands behind a comment."""
    return re.match(r"[^\S\n]*\n[^\S\n]*\n", after) is not None


def _belongs_behind(last: str, word: str) -> bool:
    """Whether a comment between two words belongs to the first, as before all that may begin a
    line; behind what opens a list or goes on with it, it belongs to what follows."""
    return word in _CLOSING or (word in STARTING and last not in _OPENING)


def _with_commas(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with commas and the last `;` before the comments that stood before them.

    `a -- x ⏎ , b` → `a, -- x ⏎ b`. What stands beside a comma that begins a line is about the item
    that follows.
    """
    made = list(pieces)
    for place, piece in enumerate(made):
        if not place or piece.word not in (",", ";"):
            continue
        last, after = made[place - 1], made[place + 1 : place + 2]
        if piece.word == "," and piece.is_first and after:
            moved = (*piece.before, *piece.behind, *after[0].before)
            made[place + 1] = replace(after[0], before=moved)
            piece = replace(piece, before=(), behind=())
        is_free = not piece.behind or not any(each.ends_line for each in last.behind)
        if is_free and not piece.before:
            made[place - 1] = replace(last, behind=())
            piece = replace(piece, behind=(*last.behind, *piece.behind))
        made[place] = piece
    return made


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
