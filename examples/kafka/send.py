"""Send a minute of made-up auctions and bids to two topics, as JSON.

python examples/kafka/send.py localhost:9092
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from random import Random

from confluent_kafka import Producer

BEGIN = 1_780_000_000_000
"""Milliseconds since 1970 of the first event."""
AUCTIONS, SECONDS = 60, 60
ITEMS = ("vase", "clock", "chair", "stamp")


def auctions(rng: Random) -> Iterator[dict[str, object]]:
    """An auction a second."""
    for number in range(AUCTIONS):
        reserve = round(rng.uniform(10, 200), 2)
        at = BEGIN + number * 1000
        yield {"id": number, "item": rng.choice(ITEMS), "reserve": reserve, "at": at}


def bids(rng: Random) -> Iterator[dict[str, object]]:
    """Ten bids a second, on auctions that have opened lately."""
    for number in range(10 * SECONDS):
        at = BEGIN + number * 100
        auction = rng.randrange(max(0, number // 10 - 20), number // 10 + 1)
        price = round(rng.uniform(1, 250), 2)
        yield {"auction": auction, "bidder": f"b{rng.randrange(50)}", "price": price, "at": at}


def main(servers: str) -> None:
    """Send all of both, a key for each auction, so that its records stay in order."""
    producer, rng = Producer({"bootstrap.servers": servers}), Random(1)
    # Results go to a topic that is there: brokers that make topics by themselves make it now.
    producer.list_topics("sold", timeout=30)
    for topic, key, rows in (("auctions", "id", auctions(rng)), ("bids", "auction", bids(rng))):
        for row in rows:
            producer.produce(topic, json.dumps(row).encode(), key=str(row[key]).encode())
    left = producer.flush(30)
    if left:
        sys.exit(f"{left} records could not be sent to {servers}")
    print(f"sent {AUCTIONS} auctions and {10 * SECONDS} bids to {servers}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "localhost:9092")
