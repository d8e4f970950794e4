"""A progress bar on stderr: drawn on a terminal, a plain line a step elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

Show = Callable[[int, str], None]


@contextmanager
def bar(title: str, total: int) -> Iterator[Show]:
    """A function that shows how many steps are done, and what is being done."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield _lines(title, total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as bars:
        task = bars.add_task(title, total=total)
        yield lambda done, what: bars.update(task, completed=done, description=f"{title}: {what}")


def _lines(title: str, total: int) -> Show:
    started = time.monotonic()
    shown = -1

    def show(done: int, what: str) -> None:
        nonlocal shown
        if done != shown:
            spent = time.monotonic() - started
            print(f"{spent:5.0f} s  {title}: {done} of {total}", file=sys.stderr, flush=True)
        shown = done

    return show
