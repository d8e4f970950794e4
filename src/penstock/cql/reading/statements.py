"""The statements of a script, as tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.dialect import Token, TokenType, token_span, tokenize
from penstock.cql.reading.hiding import without_likely_secrets
from penstock.cql.reading.text import Text
from penstock.errors import SqlError

_KINDS = ("STREAM", "TABLE", "VIEW")


@dataclass(frozen=True)
class Cut:
    """The statements of a script.

    Where all mistakes are looked for, those are left out in which a quote or a comment is never
    closed; `lost` are the words of these, in lower case: one of them may be a name.
    """

    statements: list[list[Token]]
    lost: frozenset[str] = frozenset()


def cut(text: Text) -> Cut:
    """The statements of a script; messages show no secret of its text."""
    content, lost = text.content, set[str]()
    while True:
        found: list[SqlError] = []
        tokens = None
        try:
            tokens = tokenize(Text(content, text.file, found))
        except SqlError as error:
            found.append(error)
        for each in found:
            text.note(_without_secrets(each, text.content))
        if tokens is not None:
            return Cut(_statements(tokens), frozenset(lost))
        if found[-1].place is None:
            raise found[-1]
        content, words = _without_statement(content, found[-1].place.start)
        lost |= words


def _without_secrets(error: SqlError, content: str) -> SqlError:
    place = error.place and replace(error.place, text=without_likely_secrets(content))
    return SqlError(error.message, place=place, hint=error.hint)


def _without_statement(content: str, at: int) -> tuple[str, set[str]]:
    """A script with blanks in the place of one statement, and the words of that."""
    before = tokenize(Text(content[:at], "before", []))
    ends = [token.end + 1 for token in before if token.token_type is TokenType.SEMICOLON]
    start, end = ends[-1] if ends else 0, content.find(";", at)
    end = len(content) if end < 0 else end
    words = {token.text.lower() for token in before if token.start >= start}
    return content[:start] + " " * (end - start) + content[end:], words


def _statements(tokens: Sequence[Token]) -> list[list[Token]]:
    statements: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            statements.append([])
        else:
            statements[-1].append(token)
    return [statement for statement in statements if statement]


def split(text: Text, statements: Sequence[Sequence[Token]]) -> Iterator[Sequence[Token]]:
    """The statements, of which each must be ended before another one begins."""
    for tokens in statements:
        start, depth = 0, 0
        for index, token in enumerate(tokens):
            depth += is_word(token, "(") - is_word(token, ")")
            if depth == 0 and index > start and _begins(tokens[start:], index - start):
                message, hint = f"'{token.text}' does not fit here", "a statement ends with ;"
                text.note(text.error(token_span(token), message, hint))
                yield tokens[start:index]
                start = index
        yield tokens[start:]


def _begins(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token inside of a statement begins another one.

    A SELECT does so behind the options of a stream or table.
    """
    if is_word(tokens[index], "SELECT"):
        is_declaration = is_word(tokens[0], "CREATE") and not is_word(tokens[3], "AS")
        return is_declaration and is_word(tokens[index - 1], ")")
    is_create = is_word(tokens[index], "CREATE") and index + 1 < len(tokens)
    return is_create and any(is_word(tokens[index + 1], kind) for kind in _KINDS)
