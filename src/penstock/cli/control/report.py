"""`penstock report`: one page of a run, finished or under way, that needs nothing else."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.control.ordering import CheckpointArgument
from penstock.errors import SinkError


def report(
    checkpoint: CheckpointArgument,
    output: Annotated[Path, typer.Option(help="The page to write.")] = Path("run.html"),
) -> None:
    """Write a page of a run: plan, curves, decisions, estimated against measured.

    Example: penstock report out/checkpoint --output run.html
    """
    from penstock.atomic import write_text
    from penstock.watch.log_reader import read_log
    from penstock.watch.report.run_page import run_page

    _refuse_foreign(output)
    now = time.time()
    log = read_log(checkpoint, now)
    try:
        write_text(output, run_page(log, now))
    except OSError as error:
        raise SinkError(f"cannot write {output}: {error.strerror}") from None
    count = len(log.reports)
    print(f"{output}: {count:,} batch{'' if count == 1 else 'es'}, {output.stat().st_size:,} bytes")


def _refuse_foreign(output: Path) -> None:
    """Only a page that was written before is written over."""
    from penstock.watch.report.markup import WRITTEN_BY

    try:
        with open(output, "rb") as file:
            is_ours = WRITTEN_BY.encode() in file.read(2000)
    except (FileNotFoundError, IsADirectoryError):
        return
    if not is_ours:
        what = f"{output} is there already, and no page of a run"
        raise SinkError(what, hint="give --output another name, or move the file")
