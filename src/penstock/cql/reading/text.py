"""The text of a script, and errors that point into it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from penstock.errors import Caret, SqlError

Span = tuple[int, int]


# A name that goes on for longer than anybody reads.
_ENDLESS = re.compile(r"(\S{100})\S{100,}")


@dataclass(frozen=True)
class Text:
    """A text that a user wrote, and the name of the file it came from."""

    content: str
    file: str
    found: list[SqlError] | None = field(default=None, compare=False)
    """The mistakes so far, where all are looked for; None where the first is raised."""

    marks: dict[str, Span] = field(default_factory=dict, compare=False)
    """Where inputs and conditions stand that were understood: by alias, and as they are shown."""

    def place(self, span: Span) -> Caret:
        """Where a stretch of characters stands; the end is exclusive."""
        return Caret(self.content, *span, self.file)

    def at(self, span: Span) -> str:
        """The characters of a stretch."""
        return self.content[slice(*span)]

    def error(self, span: Span, message: str, hint: str | None = None) -> SqlError:
        """An error with a caret under the stretch, for the caller to raise."""
        said = _ENDLESS.sub(r"\1…", message)
        return SqlError(said, place=self.place(span), hint=hint)

    @property
    def tally(self) -> int:
        """How many mistakes are found so far, to see whether a part adds to them."""
        return len(self.found or ())

    @contextmanager
    def forgiving(self) -> Iterator[None]:
        """Leaves a block at its first mistake; the rest goes on if all mistakes are looked for."""
        try:
            yield
        except SqlError as error:
            self.note(error)

    def note(self, error: SqlError) -> None:
        """Keep a mistake where all are looked for, else raise it.

        One that stands around another is left out: it may come from that alone.
        """
        if self.found is None:
            raise error
        if not any(_encloses(error, other) for other in self.found):
            self.found.append(error)


def _encloses(error: SqlError, other: SqlError) -> bool:
    """Whether the place of a mistake has that of another in it."""
    if error.place is None or other.place is None:
        return error.message == other.message
    return error.place.start <= other.place.start and other.place.end <= error.place.end
