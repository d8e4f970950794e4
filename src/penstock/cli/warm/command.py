"""`penstock warm`: what first queries would wait for is done now."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.show.stopping import stoppable

if TYPE_CHECKING:
    from penstock.cli.warm.small_queries import SmallQuery


def warm(
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="Also have Spark start quicker.")
    ] = True,
) -> None:
    """Compile the inner loops now, and have Spark start quicker; else the first queries wait.

    What is compiled is kept beside the package, or in NUMBA_CACHE_DIR, for this machine's
    processor; a second time takes a few seconds. Of Spark's classes an archive is made in the
    user's cache (160 MB), which halves what Spark takes to start. `make setup` does it.

    Example: penstock warm
    """
    started = time.monotonic()
    with stoppable("what is compiled so far is kept"):
        compile_all()
        seconds = time.monotonic() - started
        print(f"the inner loops are compiled ({seconds:.0f} s)", file=sys.stderr)
        if spark:
            _archive()


def _archive() -> None:
    """Make the archive of Spark's classes, where there is a Java and it is not there yet."""
    from penstock.errors import PenstockError

    started = time.monotonic()
    try:
        from penstock.cli.warm.archiving import archive_classes

        archive = archive_classes()
    except (PenstockError, OSError) as error:
        print(f"note: Spark starts as it does without an archive: {error}", file=sys.stderr)
        return
    took = time.monotonic() - started
    print(f"Spark's classes are in {archive} ({took:.0f} s)", file=sys.stderr)


def compile_all() -> None:
    """Run small queries in this process, with progress on stderr."""
    from penstock.cli.show.bars import bar
    from penstock.cli.warm.readers import compile_readers
    from penstock.cli.warm.small_queries import QUERIES, write_rows
    from penstock.kernels.warm_up import warm_up

    steps = len(QUERIES) + 1
    with tempfile.TemporaryDirectory(prefix="penstock-warm-") as made, bar("compiling") as show:
        show(0, steps)
        warm_up()
        compile_readers()
        folder = Path(made)
        write_rows(folder)
        for done, query in enumerate(QUERIES, 1):
            show(done, steps)
            run_small(query, folder)
        show(steps, steps)


def run_small(small: SmallQuery, folder: Path) -> None:
    """Run a small query over the rows of a folder, as users do; one that is shed begins to be after
    its first batch, whatever this machine could take."""
    from penstock.api import sql
    from penstock.engine.local import open_run
    from penstock.engine.run.options import RunOptions
    from penstock.engine.sinks.sink import jsonl
    from penstock.plan.drops import DropBoxes

    query = sql(small.text(folder), engine="local", plan=small.plan)
    place = folder / f"run-{small.name}"
    sink, checkpoint = jsonl(f"{place}.jsonl"), f"{place}-checkpoint"
    if small.kept is None:
        with query.local(sink=sink, checkpoint=checkpoint, available_now=True, drain=True) as run:
            run.await_termination()
        return
    plan = query.decision.plan
    kept = tuple((item.alias, small.kept) for item in plan.query.streams)
    shed = replace(plan, drops=DropBoxes(kept))
    options = RunOptions(sink, checkpoint, report=lambda report: started.replan(shed))
    started = open_run(plan, options)
    started.available_now(drain=True)
