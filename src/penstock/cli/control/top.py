"""`penstock top`: a run in the terminal, as it goes: streams, plan and batches."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.control.ordering import CheckpointArgument

if TYPE_CHECKING:
    from penstock.watch.log_reader import LogReader
    from penstock.watch.log_view import LogView


def top(
    checkpoint: CheckpointArgument,
    query: Annotated[
        str | None, typer.Option(help="Of a script, the query whose plan is shown.")
    ] = None,
    every: Annotated[float, typer.Option(min=0.1, help="Look so often, seconds.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Print one frame, and end.")] = False,
) -> None:
    """Watch a query in the terminal: streams, plan with measured | estimated, batches; Ctrl-C ends.

    Example: penstock top out/checkpoint
    """
    from penstock.watch.log_reader import LogReader
    from penstock.watch.terminal.frame import last_line

    reader = LogReader(checkpoint)
    log = _read(reader, query)
    if once or not log.is_running:
        _print(log)
        return
    try:
        log = _watch(reader, query, every)
        _print(log)
    except KeyboardInterrupt:
        log = _read(reader, query)
    print(last_line(log))


def _read(reader: LogReader, query: str | None) -> LogView:
    log = reader.read()
    if query is None:
        return log
    if log.queries and query not in log.queries:
        known = ", ".join(map(repr, log.queries))
        raise typer.BadParameter(f"{query!r} is not one of {known}", param_hint="--query")
    if log.last is not None and not log.queries:
        raise typer.BadParameter("is for scripts of several queries", param_hint="--query")
    return log.of_query(query)


def _print(log: LogView) -> None:
    from penstock.watch.terminal.frame import frame

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    print("\n".join(frame(log, time.time(), width)), flush=True)


def _watch(reader: LogReader, query: str | None, every: float) -> LogView:
    """Draw anew on a terminal; elsewhere print a frame for each batch. The log at the run's end."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from penstock.watch.terminal.frame import frame

    console = Console()
    if not console.is_terminal:
        return _print_each(reader, query, every)
    with Live(console=console, auto_refresh=False, screen=True) as live:
        while True:
            log = _read(reader, query)
            lines = frame(log, time.time(), console.width, console.height)
            live.update(Text("\n".join(lines), no_wrap=True, overflow="crop"), refresh=True)
            if not log.is_running:
                return log
            time.sleep(every)


def _print_each(reader: LogReader, query: str | None, every: float) -> LogView:
    before = None
    while True:
        log = _read(reader, query)
        if not log.is_running:
            return log
        if log.last != before:
            _print(log)
            print()
        before = log.last
        time.sleep(every)
