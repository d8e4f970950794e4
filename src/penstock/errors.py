"""Errors that a user can act on: what is wrong, where, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PASSWORD = re.compile(r"(?<=://)([^\s'\"/:@]*:)(?!\d+/)([^\s'\"@]+)(?=@)")
_SECRET = re.compile(
    r"(?i)([?&][^\s'\"=&]*(?:secret|token|password|sig|key)[^\s'\"=&]*=)[^\s'\"&]+"
)
# Of a longer line only what is around the mistake is shown.
_WIDEST = 160


@dataclass(frozen=True)
class Caret:
    """A stretch of the text that a user wrote, by character offsets, to set a caret under."""

    text: str
    start: int
    end: int
    file: str = "query"

    @property
    def line(self) -> int:
        """The number of the line in which the stretch begins, from 1."""
        return self.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """The place in that line, from 1."""
        return self.start - self.text.rfind("\n", 0, self.start)

    def excerpt(self) -> str:
        """The line with a caret under the stretch, headed by file, line and column."""
        line_start = self.text.rfind("\n", 0, self.start) + 1
        line_end = self.text.find("\n", self.start)
        line_end = len(self.text) if line_end < 0 else line_end
        line = _PASSWORD.sub(_hidden, self.text[line_start:line_end]).replace("\t", " ")
        number, column = str(self.line), self.column - 1
        width = max(1, min(self.end, line_end) - self.start)
        margin = " " * len(number)
        first = max(0, min(column - _WIDEST // 2, max(len(line), column + 1) - _WIDEST))
        shown = _stretch(line, first)
        return (
            f"{margin}--> {self.file}:{number}:{column + 1}\n"
            f"{margin} |\n"
            f"{number} | {shown}\n"
            f"{margin} | {' ' * (column - first)}{'^' * min(width, _WIDEST - column + first)}"
        )


def _hidden(found: re.Match[str]) -> str:
    """A password's stars: as many as it has characters, so that carets stand right."""
    return found[1] + "*" * len(found[2])


def _stretch(line: str, first: int) -> str:
    """As much of a line as is shown from its character `first` on, with dots where more is."""
    shown = line[first : first + _WIDEST]
    shown = shown if first == 0 else "…" + shown[1:]
    return shown if first + _WIDEST >= len(line) else shown[:-1] + "…"


def without_passwords(text: str) -> str:
    """A text with stars in the place of the passwords in its URIs."""
    return _SECRET.sub(r"\1***", _PASSWORD.sub(_hidden, text))


class PenstockError(Exception):
    """Something the user can mend; shown without a stack trace."""

    def __init__(self, message: str, *, place: Caret | None = None, hint: str | None = None):
        super().__init__(message)
        self.message = message
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        parts = [self.message]
        if self.place is not None:
            parts.append(self.place.excerpt())
        if self.hint is not None:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)


class SqlError(PenstockError):
    """The text is not a query."""


class FollowingError(SqlError):
    """What is wrong only because something else is; told to nobody where all mistakes are."""


class FunctionError(PenstockError):
    """A Python function cannot be used in queries."""


class PlanError(PenstockError):
    """A forced plan does not fit the query."""


class StatsError(PenstockError):
    """A statistic cannot be true, or is of something that the query does not have."""


class SourceError(PenstockError):
    """A source cannot be read, or a row of it is malformed."""


class UnreachableError(SourceError):
    """A disk or a network has failed, perhaps only for a moment."""


class EvaluationError(PenstockError):
    """An expression of the query failed on a value of the data."""


class StateError(PenstockError):
    """State that a checkpoint lists is missing or damaged, or cannot be written."""


class MemoryLimitError(StateError):
    """A batch does not fit into memory."""


class CheckpointError(PenstockError):
    """A checkpoint belongs to another query, is in use, or has been closed."""


class FencedError(CheckpointError):
    """Another run has taken the checkpoint over, so this one stops."""


class SinkError(PenstockError):
    """Results cannot be written."""


class EngineError(PenstockError):
    """The engine that runs a query has come to an end before the query did."""


class UsageError(PenstockError):
    """A function was given something that it does not take."""


class SetupError(PenstockError):
    """Something that Penstock needs is not installed."""


class PlaceError(PenstockError):
    """A path or URI cannot be understood, or its file system not be reached."""
