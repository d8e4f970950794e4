"""The auction site of the demo: its streams, how fast they are, and when that changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# Nexmark's proportions: of 50 events one is a person, three are auctions, 46 are bids.
AUCTIONS, BIDS = 3, 46
WRITTEN = "((bid auction) person)"
"""The plan as the query is written: FROM from left to right, aggregated at the end."""
RUSH = 12
"""How many times as many people come from some time on."""
BURST = 3
"""How many times as many bids come for a while."""
START = 1_767_225_600_000_000
"""The first event time, 2026-01-01 00:00:00, microseconds."""

# When rates change, as parts of the whole: after each change there is time to see what follows.
_RUSH_AT, _BURST_AT, _BURST_LENGTH = 0.25, 0.5, 0.25
# So many auctions have the number of a bid, and so many sign-ins are of the seller of an auction,
# within their windows of 20 and 10 seconds, before the rush.
_AUCTIONS_MET, _PEOPLE_MET = 3.0, 0.6
_AUCTION_WINDOW, _PERSON_WINDOW = 20, 10


@dataclass(frozen=True)
class Site:
    """A site to which so many people come a second, for so many seconds of event time."""

    people: int
    seconds: int

    @property
    def rush_at(self) -> float:
        """The second from which on more people come."""
        return self.seconds * _RUSH_AT

    @property
    def burst_at(self) -> float:
        """The second from which on more bids come."""
        return self.seconds * _BURST_AT

    @property
    def burst_ends(self) -> float:
        """The second from which on there are as many as before."""
        return self.burst_at + self.seconds * _BURST_LENGTH

    def calm(self, at_once: int) -> str:
        """The script without changes of rates; a batch takes so many seconds of it."""
        return self._text(_limit(at_once))

    def rushed(self, at_once: int) -> str:
        """The same with the people of the rush from the beginning on."""
        return self._text(_limit(at_once), people=RUSH * self.people)

    @property
    def live(self) -> str:
        """The script with all that happens."""
        burst = f"burst({self.burst_at:g} s, {self.burst_ends - self.burst_at:g} s, {BURST})"
        return self._text("", bids=burst, rush=f"step({self.rush_at:g} s, {RUSH})")

    def _text(
        self, limit: str, *, people: int | None = None, bids: str = "", rush: str = ""
    ) -> str:
        template = Path(__file__).with_name("site.cql").read_text(encoding="utf-8")
        return template.format(
            people=self.people if people is None else people,
            auctions=AUCTIONS * self.people,
            bids=BIDS * self.people,
            auction_ids=round(AUCTIONS * self.people * _AUCTION_WINDOW / _AUCTIONS_MET),
            person_ids=round(self.people * _PERSON_WINDOW / _PEOPLE_MET),
            seconds=self.seconds,
            bid_more=_shape(bids) + limit,
            auction_more=limit,
            person_more=_shape(rush) + limit,
        )


def second_of(time: int) -> float:
    """An event time as seconds since the first one."""
    return (time - START) / 1e6


def _limit(at_once: int) -> str:
    return f"\n  max_time = '{at_once} seconds',"


def _shape(text: str) -> str:
    return f"\n  shape = '{text}'," if text else ""
