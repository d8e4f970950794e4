"""The streams of Nexmark, an auction site: their columns, and the parts of all events they are.

Event *n* is a person, an auction or a bid by *n* mod 50, as in the benchmark of that name (Tucker,
Tufte, Papadimos, Maier: NEXMark, 2002) and its generator in Apache Beam.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from penstock.query.source import Field, Source
from penstock.query.types import DataType

StreamKind = Literal["person", "auction", "bid"]

CYCLE = 50
"""After so many events the kinds come again."""
TIMESTAMP = "dateTime"
EVENT_RATE = "event rate"
"""The option that holds the events/s of all three streams; `Source.rate` is that of the stream."""

_T = DataType


@dataclass(frozen=True)
class StreamOfEvents:
    """The events of a kind: which of a cycle are so, from `first` up to but not `after`."""

    first: int
    after: int
    fields: tuple[Field, ...]

    @property
    def share(self) -> float:
        """The part of all events."""
        return (self.after - self.first) / CYCLE

    def among(self, events: int) -> int:
        """How many of the first so many events are of this kind."""
        cycles, rest = divmod(events, CYCLE)
        return (
            cycles * (self.after - self.first)
            + min(max(rest, self.first), self.after)
            - (self.first)
        )


def _fields(**types: DataType) -> tuple[Field, ...]:
    return tuple(Field(name, type_) for name, type_ in types.items())


STREAMS: Mapping[StreamKind, StreamOfEvents] = {
    "person": StreamOfEvents(
        0,
        1,
        _fields(
            id=_T.BIGINT,
            name=_T.STRING,
            emailAddress=_T.STRING,
            creditCard=_T.STRING,
            city=_T.STRING,
            state=_T.STRING,
            dateTime=_T.TIMESTAMP,
            extra=_T.STRING,
        ),
    ),
    "auction": StreamOfEvents(
        1,
        4,
        _fields(
            id=_T.BIGINT,
            itemName=_T.STRING,
            description=_T.STRING,
            initialBid=_T.BIGINT,
            reserve=_T.BIGINT,
            dateTime=_T.TIMESTAMP,
            expires=_T.TIMESTAMP,
            seller=_T.BIGINT,
            category=_T.BIGINT,
            extra=_T.STRING,
        ),
    ),
    "bid": StreamOfEvents(
        4,
        50,
        _fields(
            auction=_T.BIGINT,
            bidder=_T.BIGINT,
            price=_T.BIGINT,
            channel=_T.STRING,
            url=_T.STRING,
            dateTime=_T.TIMESTAMP,
            extra=_T.STRING,
        ),
    ),
}


def kind_of(source: Source) -> StreamKind | None:
    """The kind of events of a stream: the one it says, or that it is named after; None if none."""
    name = str(source.option("stream") or source.name).lower()
    return next((kind for kind in STREAMS if kind == name), None)


def rows_of(source: Source) -> int | None:
    """The tuples of a stream that ends after so many events of all three; None of others."""
    events, kind = source.option("rows"), kind_of(source)
    return None if events is None or kind is None else STREAMS[kind].among(int(events))
