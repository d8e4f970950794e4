"""Errors as data: what a user can mend reaches the driver as a fact, not as a failed task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from penstock import errors
from penstock.engine.wire.packets import Packet, pack_meta
from penstock.errors import Caret, PenstockError, StateError

_SMALLER = "nothing is lost: read less in a batch (max_files), or use more partitions or memory"


def errors_as_facts(packets: Iterable[Packet]) -> Iterator[Packet]:
    """The packets, ending in an error's fact where making them failed for a known reason.

    A failed task would be tried again, to fail again, and would bury the reason in stack traces.
    """
    try:
        yield from packets
    except PenstockError as error:
        yield _as_fact(error)
    except MemoryError:
        yield _as_fact(StateError("a batch does not fit into memory", hint=_SMALLER))


def _as_fact(error: PenstockError) -> Packet:
    place = error.place.__dict__ if error.place else None
    kind = type(error).__name__
    return pack_meta(0, "error", error=kind, message=error.message, hint=error.hint, place=place)


def raise_error(facts: Iterable[dict[str, Any]]) -> None:
    """Raise the first error among facts, if there is one."""
    for fact in facts:
        if fact["kind"] == "error":
            place = Caret(**fact["place"]) if fact["place"] else None
            raise getattr(errors, fact["error"])(fact["message"], place=place, hint=fact["hint"])
