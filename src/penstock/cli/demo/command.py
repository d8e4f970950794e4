"""`penstock demo`: an auction site on Spark, in about two minutes."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.running.signals import Signals
from penstock.cli.show.stopping import INTERRUPTED


def demo(
    seconds: Annotated[
        int, typer.Option(min=3, help="How long the live part runs, in event time.")
    ] = 48,
    folder: Annotated[Path, typer.Option(help="Where results and state go.")] = Path("out"),
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Watch it in a browser, too; Ctrl-C ends that.")
    ] = False,
) -> None:
    """Show a query over an auction site: its plans measured, a rush that the plan follows, a burst.

    Example: penstock demo --seconds 30
    """
    from penstock.cli.demo.show import show
    from penstock.cli.demo.stage import Stopped

    place = folder / f"demo-{datetime.now():%Y%m%d-%H%M%S}"
    try:
        with Signals() as signals:
            show(place, seconds, signals, with_dashboard=dashboard)
    except (KeyboardInterrupt, Stopped):
        there = f"; what there is of it lies in {place}" if place.exists() else ""
        print(f"\nstopped before its end{there}", file=sys.stderr, flush=True)
        raise typer.Exit(INTERRUPTED) from None
