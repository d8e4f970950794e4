"""A progress bar on stderr: drawn on a terminal, a plain line a step elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

Show = Callable[[int, int], None]


@contextmanager
def bar(title: str) -> Iterator[Show]:
    """A function that shows how many steps are done, of how many."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield _lines(title)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as bars:
        task = bars.add_task(title, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _lines(title: str) -> Show:
    started = time.monotonic()

    def show(done: int, total: int) -> None:
        spent = time.monotonic() - started
        print(f"{spent:5.0f} s  {title}: {done} of {total}", file=sys.stderr, flush=True)

    return show
