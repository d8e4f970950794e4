"""The columns of Nexmark's events, each by itself from the seed and the numbers of the events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.engine.sources.made.event_times import EventTimes
from penstock.engine.sources.made.mixing import (
    Numbers,
    Words,
    fractions,
    high_below,
    low_below,
    mixed,
)
from penstock.engine.sources.made.nexmark_texts import TEXTS
from penstock.query.made.nexmark import CYCLE, STREAMS, StreamKind

FIRST_ID = 1_000
"""Of persons and of auctions."""
CATEGORIES = 5
FIRST_CATEGORY = 10
ACTIVE_PEOPLE = 1_000
"""The last so many persons sell and bid."""
IN_FLIGHT = 100
"""The last so many auctions get bids, and one lasts as long as so many take to open, on average."""
LEAD = 10
"""Persons and auctions that are named up to so many numbers before they come."""
HOT_EVERY = 100
"""One number in so many is hot: the last such that has come."""
_MILLI = 1_000
_AUCTIONS = STREAMS["auction"].after - STREAMS["auction"].first


@dataclass(frozen=True)
class Hot:
    """How many in which all but one go to the hot seller, auction and bidder; 1 is none."""

    sellers: int = 4
    auctions: int = 2
    bidders: int = 4


@dataclass(frozen=True)
class Events:
    """The events of a stream by their numbers, and what their columns follow from."""

    kind: StreamKind
    numbers: Numbers
    times: EventTimes
    start: int
    seed: int
    hot: Hot

    def words(self, column: str) -> Words:
        """Random words for a column."""
        return mixed(self.numbers, self.seed, f"{self.kind}.{column}")

    @property
    def last_person(self) -> Numbers:
        """The number of the last person by then, from 0; a cycle has one, as its first event."""
        return self.numbers // CYCLE

    @property
    def last_auction(self) -> Numbers:
        """The number of the last auction by then, from 0; of events that are no persons."""
        cycles, turns = np.divmod(self.numbers, CYCLE)
        found: Numbers = cycles * _AUCTIONS + np.minimum(turns, _AUCTIONS) - 1
        return found


def column_of(events: Events, name: str) -> pa.Array:
    """The values of a column, named in any case."""
    known, name = _COLUMNS[events.kind], name.lower()
    if name in known:
        return pa.array(known[name](events))
    return TEXTS[events.kind][name](events.words(_DRAWN_AS.get(name, name)))


def _time(events: Events) -> Numbers:
    return events.times.of(events.numbers) + events.start


def _person_id(events: Events) -> Numbers:
    return events.last_person + FIRST_ID


def _auction_id(events: Events) -> Numbers:
    return events.last_auction + FIRST_ID


def _seller(events: Events) -> Numbers:
    return _who(events, "seller", events.hot.sellers, 0)


def _bidder(events: Events) -> Numbers:
    # One more than the hot seller, so that few bid on what is theirs.
    return _who(events, "bidder", events.hot.bidders, 1)


def _who(events: Events, column: str, ratio: int, beside: int) -> Numbers:
    """The hot person, or any of those that are active or come next."""
    words, last = events.words(column), events.last_person
    active = np.minimum(last + 1, ACTIVE_PEOPLE)
    anyone = last + 1 - active + high_below(words, active + LEAD)
    hot = last // HOT_EVERY * HOT_EVERY + beside
    return np.where(low_below(words, ratio) > 0, hot, anyone) + FIRST_ID


def _auction(events: Events) -> Numbers:
    """The hot auction, or any of those in flight or that come next."""
    words, last = events.words("auction"), events.last_auction
    first = np.maximum(last - IN_FLIGHT, 0)
    anyone = first + high_below(words, last - first + 1 + LEAD)
    hot = last // HOT_EVERY * HOT_EVERY
    return np.where(low_below(words, events.hot.auctions) > 0, hot, anyone) + FIRST_ID


def _price(events: Events) -> Numbers:
    return _prices(events.words("price"))


def _initial_bid(events: Events) -> Numbers:
    return _prices(events.words("initialbid"))


def _reserve(events: Events) -> Numbers:
    return _initial_bid(events) + _prices(events.words("reserve"))


def _prices(words: Words) -> Numbers:
    """From 1 to a million, evenly by the logarithm, in hundredths."""
    found: Numbers = np.rint(np.exp(fractions(words) * _SIX_DECADES) * 100.0).astype(np.int64)
    return found


_SIX_DECADES = 6.0 * float(np.log(10.0))


def _expires(events: Events) -> Numbers:
    """From a millisecond after the beginning on, evenly up to twice the usual length."""
    begin = events.times.of(events.numbers)
    later = events.times.of(events.numbers + IN_FLIGHT * CYCLE // _AUCTIONS)
    longest = np.clip((later - begin) // _MILLI * 2, 1, (1 << 32) - 1)
    lasts = 1 + high_below(events.words("expires"), longest)
    return begin + lasts * _MILLI + events.start


def _category(events: Events) -> Numbers:
    return FIRST_CATEGORY + low_below(events.words("category"), CATEGORIES)


# A page belongs to its channel.
_DRAWN_AS = {"url": "channel"}
_COLUMNS: Mapping[StreamKind, Mapping[str, Callable[[Events], np.ndarray[Any, Any]]]] = {
    "person": {"id": _person_id, "datetime": _time},
    "auction": {
        "id": _auction_id,
        "initialbid": _initial_bid,
        "reserve": _reserve,
        "datetime": _time,
        "expires": _expires,
        "seller": _seller,
        "category": _category,
    },
    "bid": {"auction": _auction, "bidder": _bidder, "price": _price, "datetime": _time},
}
