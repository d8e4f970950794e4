"""`penstock bundle`: a zip for a bug report, with no data in it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.control.ordering import CheckpointArgument


def bundle(
    checkpoint: CheckpointArgument,
    output: Annotated[Path, typer.Option(help="The file to write.")] = Path("penstock-bundle.zip"),
) -> None:
    """Make a zip for a bug report: plan, reports, versions; no data, literals or passwords.

    Example: penstock bundle out/checkpoint --output bug.zip
    """
    from penstock.cli.bundle.archive import parts_of, write_zip
    from penstock.engine.reports.standing import store_of

    parts = parts_of(store_of(checkpoint), time.time())
    write_zip(parts, output)
    print(f"{output}, {output.stat().st_size:,} bytes:")
    width = max(len(part.name) for part in parts)
    for part in parts:
        print(f"  {part.name:<{width}}  {part.what}")
    print("No tuples, literals, paths, hosts, passwords or texts of errors are in it; names are.")
