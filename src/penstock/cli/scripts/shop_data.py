"""Made-up orders of a web shop and their payments: small, and the same each time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_ORDERS = 120
_ITEMS = (("book", 18.5), ("lamp", 49.0), ("chair", 120.0), ("pen", 3.2), ("bag", 35.9))
_CUSTOMERS = ("Ada", "Ben", "Chloe", "Dino", "Eva", "Finn", "Gita")
_METHODS = ("card", "card", "transfer", "wallet")


@dataclass(frozen=True)
class _Order:
    at: datetime
    id: int
    customer: str
    item: str
    price: float


def shop_files() -> dict[str, str]:
    """The texts of the files by their paths: two of orders, two of payments."""
    rng = Random(7)
    orders = list(_orders(rng))
    payments = list(_payments(rng, orders))
    half, paid = len(orders) // 2, len(payments) // 2
    return {
        "data/orders/0900.csv": _as_csv(orders[:half]),
        "data/orders/0920.csv": _as_csv(orders[half:]),
        "data/payments/0900.jsonl": "".join(payments[:paid]),
        "data/payments/0920.jsonl": "".join(payments[paid:]),
    }


def _orders(rng: Random) -> Iterator[_Order]:
    at = _START
    for number in range(_ORDERS):
        at += timedelta(seconds=rng.randint(2, 38))
        item, price = rng.choice(_ITEMS)
        yield _Order(at, 1000 + number, rng.choice(_CUSTOMERS), item, price)


def _payments(rng: Random, orders: list[_Order]) -> Iterator[str]:
    """Nine of ten orders are paid, most of them soon; payments are told up to 50 s late."""
    told: list[tuple[datetime, str]] = []
    for order in orders:
        if rng.random() < 0.1:
            continue
        paid = order.at + timedelta(seconds=rng.choice((15, 40, 90, 200, 500)))
        line = {
            "paid": round(paid.timestamp() * 1000),
            "order_id": order.id,
            "method": rng.choice(_METHODS),
        }
        told.append((paid + timedelta(seconds=rng.randint(0, 50)), json.dumps(line) + "\n"))
    yield from (line for _, line in sorted(told))


def _as_csv(orders: list[_Order]) -> str:
    lines = [f"{o.at:%Y-%m-%d %H:%M:%S},{o.id},{o.customer},{o.item},{o.price}\n" for o in orders]
    return "ts,id,customer,item,price\n" + "".join(lines)
