"""Names of streams and of inputs, after which files and columns of the state are named."""

from __future__ import annotations

from penstock.sql.text import Span, Text

# A file's name has 255 bytes, and what is kept of an input has a little more in its name.
_MOST_BYTES = 100
_NOT_FIRST = "#=."
_NOWHERE = "/\\"


def check_name(text: Text, span: Span, name: str) -> None:
    """Nothing, if a stream or an input can be called so."""
    hint = "give it another name"
    if not name:
        raise text.error(span, "a name cannot be empty", hint)
    if len(name.encode(errors="replace")) > _MOST_BYTES:
        raise text.error(span, f"a name cannot be longer than {_MOST_BYTES} bytes", hint)
    if name[0] in _NOT_FIRST:
        raise text.error(span, f"a name cannot begin with {name[0]}", hint)
    if any(sign in name for sign in _NOWHERE) or not name.isprintable():
        raise text.error(span, "a name cannot have slashes or unprintable signs in it", hint)
