"""Keywords at places where nothing else may stand, also where they are misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.cql.reading.dialect import Token, TokenType, token_span, tokenize
from penstock.cql.reading.text import Span, Text
from penstock.slips import meant

_STARTS = ("CREATE", "SELECT", "WITH")
_KINDS = ("STREAM", "TABLE", "VIEW")


def respelt_start(text: Text, tokens: Sequence[Token]) -> Sequence[Token]:
    """A statement, of which the first words are keywords of the language.

    Words that are misspelt are mistakes; where all are looked for, they are then read as what was
    meant.
    """
    tokens = respelt(text, tokens, 0, _STARTS)
    if tokens[0].token_type is not TokenType.CREATE:
        return tokens
    tokens = respelt(text, tokens, 1, _KINDS)
    is_query = len(tokens) > 4 and tokens[4].token_type is TokenType.SELECT
    return respelt(text, tokens, 3, ["AS"]) if is_query else tokens


def respelt(
    text: Text, tokens: Sequence[Token], index: int, words: Iterable[str]
) -> Sequence[Token]:
    """The tokens with one of these words at a place where no other may stand."""
    token = tokens[index] if index < len(tokens) else None
    if token is None or token.token_type is not TokenType.VAR:
        return tokens
    word = meant(token.text, words)
    if word is None:
        return tokens
    span = token_span(token)
    begins = "a statement cannot begin with" if index == 0 else "this cannot be created:"
    message = f"{begins} '{token.text}'" if index < 2 else f"'{token.text}' does not fit here"
    text.note(text.error(span, message, f"did you mean {word}?"))
    return [*tokens[:index], *as_keyword(word, span), *tokens[index + 1 :]]


def as_keyword(word: str, span: Span) -> list[Token]:
    """The tokens of a keyword, at the place of what was written instead."""
    tokens = tokenize(Text(word, "keyword"))
    return [Token(t.token_type, t.text, t.line, t.col, span[0], span[1] - 1) for t in tokens]
