"""Ctrl-C in long commands: a last line that says what is left of them, and exit code 130."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

INTERRUPTED = 130
"""What shells and typer give for Ctrl-C."""


@contextmanager
def stoppable(what_is_left: str) -> Iterator[None]:
    """Have Ctrl-C end a command; the last line is `stopped: ` and what is left of it."""
    try:
        yield
    except KeyboardInterrupt:
        # The terminal has shown ^C on the line where progress stands.
        sys.stderr.write("\n" if sys.stderr.isatty() else "")
        print(f"stopped: {what_is_left}", file=sys.stderr, flush=True)
        raise typer.Exit(INTERRUPTED) from None
