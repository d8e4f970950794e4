"""The text of a script, and errors that point into it."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import Caret, SqlError

Span = tuple[int, int]


@dataclass(frozen=True)
class Text:
    """A text that a user wrote, and the name of the file it came from."""

    content: str
    file: str

    def place(self, span: Span) -> Caret:
        """Where a stretch of characters stands; the end is exclusive."""
        return Caret(self.content, *span, self.file)

    def at(self, span: Span) -> str:
        """The characters of a stretch."""
        return self.content[slice(*span)]

    def error(self, span: Span, message: str, hint: str | None = None) -> SqlError:
        """An error with a caret under the stretch, for the caller to raise."""
        return SqlError(message, place=self.place(span), hint=hint)
