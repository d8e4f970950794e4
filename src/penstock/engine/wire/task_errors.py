"""Errors as data: those that a user can mend reach the driver as facts, not as failed tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock import errors
from penstock.engine.wire.facts import Fact, Failure, of_kind
from penstock.engine.wire.packets import Packet, pack_fact
from penstock.errors import MemoryLimitError, PenstockError

_SMALLER = (
    "nothing is lost: read less in a batch (max_bytes, max_files), or use more partitions or memory"
)


def errors_as_facts(packets: Iterable[Packet]) -> Iterator[Packet]:
    """The packets, ending in an error's fact where making them failed for a known reason.

    A failed task would be tried again, to fail again, and would bury the reason in stack traces.
    """
    try:
        yield from packets
    except PenstockError as error:
        yield _as_fact(error)
    except MemoryError:
        yield _as_fact(MemoryLimitError("a batch does not fit into memory", hint=_SMALLER))


def _as_fact(error: PenstockError) -> Packet:
    kind = type(error).__name__
    return pack_fact(0, Failure(kind, error.message, error.hint, error.place))


def raise_error(facts: Iterable[Fact]) -> None:
    """Raise the first error among facts, if there is one."""
    for fact in of_kind(facts, Failure):
        raise class_of(fact.error)(fact.message, place=fact.place, hint=fact.hint)


def class_of(name: str) -> type[PenstockError]:
    """The error class of a name; what a user's own code has derived from one is a plain error."""
    found = getattr(errors, name, None)
    if isinstance(found, type) and issubclass(found, PenstockError):
        return found
    return PenstockError
