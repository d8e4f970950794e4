"""Orders: what a running query may be told from outside, as files in its checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast, get_args

from penstock.engine.places.file_names import is_own, unique_name
from penstock.engine.state.store import Store

FOLDER = "control"
VERSION = 1

OrderKind = Literal["stop", "replan", "pin", "shed"]

_VALUES: dict[str, tuple[str, ...] | None] = {
    "stop": ("",),
    "replan": ("on", "advise", "off"),
    "pin": None,
    "shed": ("on", "off"),
}
"""What each may say; None for any text but none."""


@dataclass(frozen=True)
class Order:
    """An order: `stop`; `replan` with on, advise or off; `pin` with a plan's text; `shed` with on
    or off."""

    kind: OrderKind
    value: str = ""
    number: int = 0
    """The number of its file, in the order of which orders are obeyed."""

    name: str = ""
    """The name of its file, without its ending, which no other order has: its answer has it too."""

    def __str__(self) -> str:
        return f"{self.kind} {self.value}".rstrip()


@dataclass(frozen=True)
class Malformed:
    """A file that is none, and why."""

    name: str
    reason: str


def fault_of(kind: object, value: object) -> str | None:
    """Why there is no such order, in words; None where there is."""
    if not isinstance(kind, str) or kind not in _VALUES:
        kinds = ", ".join(get_args(OrderKind))
        return f'it is not like {{"kind": "stop"}}; the kinds are {kinds}'
    values = _VALUES[kind]
    if isinstance(value, str) and (value in values if values else value):
        return None
    wanted = " or ".join(values) if values else "the text of a plan"
    return f"{kind} takes {wanted or 'no value'}, not {value!r}"


def give(store: Store, kind: OrderKind, value: str = "") -> Order:
    """Give an order to whatever runs on a checkpoint; no other writer's is lost by that."""
    number = max((number_of(name) for name in order_names(store)), default=0) + 1
    name = f"{number:012d}-{unique_name()}"
    data = {"version": VERSION, "kind": kind, "value": value}
    store.publish(file_of(name), json.dumps(data).encode())
    return Order(kind, value, number, name)


def withdraw(store: Store, order: Order) -> None:
    """Take back an order that was not obeyed."""
    store.remove([file_of(order.name)])


def order_names(store: Store) -> list[str]:
    """The names of the orders that are there, in the order in which they are obeyed."""
    return names_among(f"{FOLDER}/{name}" for name, _ in (store.root / FOLDER).files())


def names_among(files: Iterable[str]) -> list[str]:
    """The names of the orders among files of a checkpoint, in the same order."""
    orders = [file for file in files if file.startswith(f"{FOLDER}/") and is_own(file)]
    found = [file.removeprefix(f"{FOLDER}/").removesuffix(".json") for file in orders]
    return sorted((n for n in found if n[0] != "."), key=lambda n: (number_of(n), n))


def number_of(name: str) -> int:
    return int(name.partition("-")[0])


def file_of(name: str) -> str:
    return f"{FOLDER}/{name}.json"


def read_order(store: Store, name: str) -> Order | Malformed | None:
    """The order in a file; None if that is gone."""
    try:
        with store.open(file_of(name)) as file:
            return _parsed(name, file.read())
    except FileNotFoundError:
        return None


def _parsed(name: str, data: bytes) -> Order | Malformed:
    try:
        found = json.loads(data)
        kind, value = found["kind"], found.get("value", "")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        kind = value = None
    fault = fault_of(kind, value)
    if fault is not None:
        return Malformed(name, fault)
    return Order(cast(OrderKind, kind), cast(str, value), number_of(name), name)
