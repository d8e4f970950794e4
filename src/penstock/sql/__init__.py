"""Text to query: the language, with a caret under every mistake."""

from penstock.sql.script import parse

__all__ = ["parse"]
