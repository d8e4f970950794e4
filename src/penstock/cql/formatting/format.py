"""A whole script in one layout."""

from __future__ import annotations

from penstock.cql.formatting.layout import statement_lines
from penstock.cql.formatting.pieces import same, statements
from penstock.cql.reading.text import Text
from penstock.errors import PenstockError


def formatted(content: str, file: str = "query") -> str:
    """The script with a clause a line, keywords in capitals, and a blank line between statements.

    Comments stay with what they stand beside. SqlError where it cannot be cut into words.
    """
    text = Text(content, file)
    found, rest = statements(text)
    parts = ["\n".join(line.rstrip() for line in statement_lines(each)) for each in found]
    if rest:
        parts.append("\n".join(comment.text for comment in rest))
    made = "\n\n".join(parts) + "\n" if parts else ""
    if not same(text, Text(made, file)):
        hint = "please report it; nothing was written"
        raise PenstockError(f"{file} cannot be laid out without a change of it", hint=hint)
    return made
