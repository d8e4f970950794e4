"""`penstock shed`: let a running query drop tuples when it falls behind, or not."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from penstock.cli.control.ordering import CheckpointArgument, NoWait, order


def shed(
    checkpoint: CheckpointArgument,
    whether: Annotated[Literal["on", "off"], typer.Argument(help="Whether it may.")],
    no_wait: NoWait = False,
) -> None:
    """Let a running query drop tuples when it falls behind, or forbid it.

    Example: penstock shed CHECKPOINT off
    """
    order(checkpoint, "shed", whether, no_wait=no_wait)
