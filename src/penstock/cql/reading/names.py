"""Names of streams and of inputs, after which columns of the state are named."""

from __future__ import annotations

from penstock.cql.reading.text import Span, Text

# Columns of ours begin so, and must not be taken for an input's.
_NOT_FIRST = "#="


def check_name(text: Text, span: Span, name: str) -> None:
    """Nothing, if a stream or an input can be called so."""
    hint = "give it another name"
    if not name:
        raise text.error(span, "a name cannot be empty", hint)
    if name[0] in _NOT_FIRST:
        raise text.error(span, f"a name cannot begin with {name[0]}", hint)
