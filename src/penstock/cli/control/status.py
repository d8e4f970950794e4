"""`penstock status`: how the query of a checkpoint stands, by the log that lies in it."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from penstock.cli.control.ordering import CheckpointArgument

if TYPE_CHECKING:
    from penstock.engine.reports.standing import Standing
    from penstock.engine.state.store import Store


_Format = Literal["text", "json"]


def status(
    checkpoint: CheckpointArgument,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again as it changes, until Ctrl-C.")
    ] = False,
    every: Annotated[float, typer.Option(min=0.1, help="With --watch: look so often, s.")] = 1.0,
    format: Annotated[_Format, typer.Option(help="text or json.")] = "text",
) -> None:
    """Say whether a query runs, its rates, lag and state, estimates beside what was measured.

    Example: penstock status CHECKPOINT
    """
    from penstock.engine.reports.standing import standing_of, store_of

    store = store_of(checkpoint)
    if not watch:
        sys.stdout.write(_shown(standing_of(store, time.time()), format))
        return
    with suppress(KeyboardInterrupt):
        _watch(store, format, every)


def _shown(standing: Standing, format: _Format) -> str:
    from penstock.cli.control.status_json import status_json
    from penstock.cli.control.status_text import status_text

    if format == "text":
        return status_text(standing, time.time())
    return json.dumps(status_json(standing), ensure_ascii=False) + "\n"


def _watch(store: Store, format: _Format, every: float) -> None:
    """Draw anew on a terminal; elsewhere print a block or line a batch, until the run ends."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from penstock.engine.reports.standing import standing_of

    console = Console()
    if console.is_terminal and format == "text":
        with Live(console=console, auto_refresh=False, screen=False) as live:
            while True:
                standing = standing_of(store, time.time())
                live.update(Text(_shown(standing, format).rstrip()), refresh=True)
                if not standing.is_running:
                    return
                time.sleep(every)
    before = None
    while True:
        standing = standing_of(store, time.time())
        mark = (standing.is_running, standing.last, standing.decisions)
        if mark != before:
            print(_shown(standing, format), end="" if format == "json" else "\n", flush=True)
        if not standing.is_running:
            return
        before = mark
        time.sleep(every)
