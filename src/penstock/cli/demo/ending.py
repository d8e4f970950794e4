"""The end of the demo: the results, and where all that is left lies."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from threading import Event

from penstock.cli.demo.voice import say, tell


def end(place: Path, stopping: Event, *, stays: bool) -> None:
    """Show the results, write the page of the run, and say where everything is."""
    from penstock.atomic import write_text
    from penstock.watch.log_reader import read_log
    from penstock.watch.report.run_page import run_page

    now = time.time()
    write_text(place / "run.html", run_page(read_log(str(place / "checkpoint"), now), now))
    say("The view as it was at the end", view_text(place / "results"))
    print(f"\nall results   {place / 'results'} (parquet)")
    print(f"the run       {place / 'run.html'}, to open in a browser")
    print(f"its script    {place / 'site.cql'}, planned by {place / 'site.toml'}", flush=True)
    if stopping.is_set():
        tell("stopped before its end, after the batch under way")
    elif stays and sys.stdout.isatty():
        tell("the dashboard stays until Ctrl-C")
        stopping.wait()


def view_text(folder: Path) -> str:
    """The last row of each group that is there, as a table."""
    import pyarrow.dataset as ds

    if not any(folder.glob("*.parquet")):
        return "no results yet: try a longer run with --seconds"
    changes = ds.dataset(folder).to_table().to_pandas().sort_values("_time", kind="stable")
    last = changes.groupby("category").tail(1).sort_values("category")
    shown = last[last["_change"] == "upsert"].drop(columns="_change")
    short = {name: _short for name in shown.columns if shown[name].dtype.kind == "f"}
    if shown["_time"].dtype.kind == "M":
        shown = shown.assign(_time=shown["_time"].dt.strftime("%H:%M:%S"))
    times = shown["_time"].unique()
    if len(times) != 1:
        return str(shown.to_string(index=False, formatters=short))
    rest = shown.drop(columns="_time")
    return f"{rest.to_string(index=False, formatters=short)}\nall of {times[0]}"


def _short(value: float) -> str:
    return f"{value:,.2f}" if abs(value) < 1_000 else f"{value:,.0f}"
