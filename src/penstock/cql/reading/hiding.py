"""Texts without their secrets: stars in the place of passwords, so that nothing keeps them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.text import Span
from penstock.query.secret import is_reference, is_secret_name

# A name, =, and all that may be text after it, also where it is not closed.
_ASSIGNED = re.compile(r"([\w.\-]+)(['\"`”]?\s*=\s*)(['“])((?:[^'”\n]|'')*)")


def without_secrets(content: str, statements: Sequence[Sequence[Token]]) -> str:
    """The text with stars in the place of each secret that an option of a CREATE statement has.

    There are as many as it has characters, so that carets stand right. One that is kept elsewhere
    (`env:NAME`) is none.
    """
    for tokens in statements:
        if tokens[0].text.upper() == "CREATE":
            for start, end in _secrets(tokens):
                content = content[:start] + "*" * (end - start) + content[end:]
    return content


def without_likely_secrets(content: str) -> str:
    """The same of a text that cannot be cut into tokens: whatever looks like one has stars."""

    def starred(found: re.Match[str]) -> str:
        if not is_secret_name(found[1]) or is_reference(found[4]):
            return found[0]
        return found[1] + found[2] + found[3] + "*" * len(found[4])

    return _ASSIGNED.sub(starred, content)


def _secrets(tokens: Sequence[Token]) -> Iterator[Span]:
    """Where the secrets of a statement stand, without their quotes."""
    for place in range(2, len(tokens)):
        token, (start, end) = tokens[place], token_span(tokens[place])
        if tokens[place - 1].text != "=" or not is_secret_name(_name(tokens, place - 2)):
            continue
        if token.token_type is not TokenType.STRING:
            # That is a mistake, of which the message shows the line.
            yield start, end
        elif not is_reference(token.text):
            yield start + 1, end - 1


def _name(tokens: Sequence[Token], place: int) -> str:
    """The name that ends with a token, with all that is joined to it by dots."""
    first = place
    while first > 1 and tokens[first - 1].text == ".":
        first -= 2
    return "".join(token.text for token in tokens[first : place + 1])
