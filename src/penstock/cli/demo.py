"""`penstock demo`: a three-way join of an auction site's streams, on Spark, in under a minute."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.running.signals import Signals

if TYPE_CHECKING:
    from penstock.cli.show.progress import Progress
    from penstock.engine.run.handle import Run


def demo(
    seconds: Annotated[int, typer.Option(min=3, help="How long to run, once started.")] = 30,
    folder: Annotated[Path, typer.Option(help="Where results and state go.")] = Path("out"),
) -> None:
    """Show a query, its plan, its progress on Spark with a burst, and some of its results.

    Example: penstock demo --seconds 20
    """
    from penstock.api import sql
    from penstock.cli.show.progress import Progress
    from penstock.engine.sinks.sink import parquet
    from penstock.engine.spark.session import own_session

    file = Path(__file__).with_name("auction.cql")
    stats = file.with_suffix(".toml")
    query = sql(file.read_text(encoding="utf-8"), stats=stats, file=file.name)
    _say("The query", query.query.text.strip())
    _say("Its plan", query.explain().rstrip())
    place = folder / f"demo-{datetime.now():%Y%m%d-%H%M%S}"
    print("\nStarting Spark …", file=sys.stderr)
    with Signals() as signals, own_session() as spark, Progress() as progress:
        started = query.start(
            spark,
            sink=parquet(place / "results"),
            checkpoint=str(place / "checkpoint"),
            trigger="1 second",
            report=progress,
        )
        stopping = Event()
        with started as run:
            signals.stop_with(stopping.set)
            _watch(run, progress, stopping, seconds)
    _show_some(place / "results")


def _watch(run: Run, progress: Progress, stopping: Event, seconds: int) -> None:
    """Wait for so many seconds after the first batch, or until Ctrl-C."""
    ends: float | None = None
    while not stopping.is_set() and (ends is None or time.monotonic() < ends):
        run.await_termination(timeout=0.25)
        if ends is None and progress.last is not None:
            ends = time.monotonic() + seconds


def _say(title: str, text: str) -> None:
    print(f"\n── {title} {'─' * (96 - len(title))}\n{text}", flush=True)


def _show_some(folder: Path, count: int = 5) -> None:
    """The last few results as a table, and where the others are."""
    import pyarrow.parquet as pq

    files = sorted(folder.glob("*.parquet"))
    if not files:
        print("no results yet: try a longer run with --seconds", file=sys.stderr)
        return
    rows = pq.read_table(files[-1])
    _say(
        f"The last {min(count, len(rows))} results",
        rows.slice(max(0, len(rows) - count)).to_pandas().to_string(index=False),
    )
    print(f"\nAll of them are in {folder} (parquet, {len(files)} files):")
    print(f"  python -c \"import pandas; print(pandas.read_parquet('{folder}'))\"")
