"""Names and texts as a script writes them: in quotes where they need them."""

from __future__ import annotations

import re

from penstock.cql.reading.dialect import TokenType, tokenize
from penstock.cql.reading.text import Text
from penstock.errors import SqlError

_QUOTES = '"`'


def quoted_name(name: str) -> str:
    """The name, in quotes if it is no plain word; empty if it cannot be written at all."""
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) and _is_plain(name):
        return name
    for quote in _QUOTES:
        written = f"{quote}{name}{quote}"
        if name and _reads(written) == [name]:
            return written
    return ""


def quoted_text(text: str) -> str:
    """The text in single quotes, those in it doubled."""
    return "'" + text.replace("'", "''") + "'"


def _is_plain(name: str) -> bool:
    """Whether a word is none of the language's."""
    tokens = tokenize(Text(name, "name"))
    return [token.token_type for token in tokens] == [TokenType.VAR]


def _reads(written: str) -> list[str] | None:
    try:
        return [token.text for token in tokenize(Text(written, "name"))]
    except SqlError:
        return None
