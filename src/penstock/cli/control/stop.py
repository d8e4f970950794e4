"""`penstock stop`: end a running query after the batch under way, as Ctrl-C does."""

from __future__ import annotations

from penstock.cli.control.ordering import CheckpointArgument, NoWait, order


def stop(checkpoint: CheckpointArgument, no_wait: NoWait = False) -> None:
    """End a running query after the batch under way; a later run goes on from there.

    Example: penstock stop CHECKPOINT
    """
    order(checkpoint, "stop", no_wait=no_wait, is_met_by_end=True)
