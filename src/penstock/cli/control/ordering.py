"""An order given on the command line, and the answer of the run that it is for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.errors import CheckpointError

if TYPE_CHECKING:
    from penstock.engine.control.order import Order, OrderKind
    from penstock.engine.reports.entries import Answer, Entry
    from penstock.engine.state.store import Store

CheckpointArgument = Annotated[str, typer.Argument(help="Folder or URI of the state of a run.")]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not wait for the answer.")]

_PATIENCE = 15.0
"""Seconds that an answer is waited for: a batch may be under way."""
_PACE = 0.1


class _EndedError(CheckpointError):
    """A run was over before it answered."""


def order(
    checkpoint: str,
    kind: OrderKind,
    value: str = "",
    *,
    no_wait: bool = False,
    is_met_by_end: bool = False,
) -> None:
    """Give an order to what runs on a checkpoint, and print its answer; refused if nothing does.

    A run that ends before it answers is an error, unless its end is what was wanted.
    """
    from penstock.engine.control.order import give
    from penstock.engine.reports.reading import end_of, follow

    store = running_store(checkpoint)
    end = end_of(store)
    given = give(store, kind, value)
    if no_wait:
        print(f"{given}: given")
        return
    try:
        answer = _answer(store, given, follow(store, end, _PACE))
    except _EndedError:
        if not is_met_by_end:
            raise
        print(f"{given}: the run has ended by itself")
        return
    if answer is None:
        print(f"{given}: given, not answered yet; it may be starting, or in a batch")
    elif answer.is_refused:
        raise CheckpointError(answer.change.reason)
    else:
        print(answer.change.reason)


def running_store(checkpoint: str) -> Store:
    """The files of a checkpoint on which a query runs; a CheckpointError if none does."""
    from penstock.engine.reports.standing import store_of

    store = store_of(checkpoint)
    if not _runs(store):
        raise CheckpointError(
            f"no query runs on {store.root}",
            hint="start it with penstock run; penstock status shows how it stood",
        )
    return store


def _runs(store: Store) -> bool:
    from penstock.engine.reports.run_head import is_running, read_head

    return is_running(store, read_head(store), time.time())


def _answer(store: Store, given: Order, news: Iterator[list[Entry]]) -> Answer | None:
    """The answer to an order; None if it takes too long, an error if the run is over before."""
    from penstock.engine.control.order import withdraw
    from penstock.engine.reports.entries import Answer

    until = time.monotonic() + _PATIENCE
    runs = True
    for entries in news:
        answers = [entry for entry in entries if isinstance(entry, Answer)]
        found = next((answer for answer in answers if answer.order == given.name), None)
        if found is not None or time.monotonic() >= until:
            return found
        if not runs:
            withdraw(store, given)
            raise _EndedError(
                f"the run on {store.root} ended before it answered",
                hint="penstock status shows how it stood",
            )
        runs = _runs(store)  # Its last lines may still come: they are read once more.
    return None
