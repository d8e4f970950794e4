"""What a run says on stderr: as text for people, or as JSON for programs, an object a line."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import typer

from penstock.errors import PenstockError, without_passwords

LogFormat = Literal["text", "json"]
Level = Literal["info", "warning", "error"]
VERSION = 1
"""Of the objects' fields: some may be added under the same number, none is changed."""


class Voice:
    """Says things in one of the two formats."""

    def __init__(self, format: LogFormat):
        self.is_json = format == "json"

    def say(self, text: str) -> None:
        """Tell how far a run has come."""
        self._tell("info", "progress", text, text)

    def note(self, text: str) -> None:
        """Tell something to know before a query runs."""
        self._tell("warning", "note", text, f"note: {text}")

    def _tell(self, level: Level, event: str, text: str, plain: str) -> None:
        if self.is_json:
            tell_json(level, event, message=text)
        else:
            print(plain, file=sys.stderr)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Have errors of the user's, and what others log, told in JSON too."""
        if not self.is_json:
            yield
            return
        handler = _JsonHandler(logging.WARNING)
        logging.getLogger().addHandler(handler)
        try:
            yield
        except PenstockError as error:
            place = None if error.place is None else error.place.excerpt()
            tell_json("error", "error", message=error.message, hint=error.hint, place=place)
            raise typer.Exit(1) from None
        finally:
            logging.getLogger().removeHandler(handler)


def tell_json(level: Level, event: str, **facts: Any) -> None:
    """Print an object: `version`, `at` (seconds since the epoch), `level`, `event` and facts."""
    head = {"version": VERSION, "at": time.time(), "level": level, "event": event}
    line = json.dumps({**head, **_shown(facts)}, ensure_ascii=False, allow_nan=False)
    print(line, file=sys.stderr, flush=True)


def _shown(value: Any) -> Any:
    """A value of JSON with stars for passwords in its texts."""
    match value:
        case str():
            return without_passwords(value)
        case dict():
            return {key: _shown(each) for key, each in value.items()}
        case list():
            return [_shown(each) for each in value]
    return value


class _JsonHandler(logging.Handler):
    """Tells what libraries log, without what py4j says of connections that are cut off."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "penstock.spark" or "py4j" in Path(record.pathname).parts:
            return
        level: Level = "error" if record.levelno >= logging.ERROR else "warning"
        tell_json(level, "log", logger=record.name, message=record.getMessage())
