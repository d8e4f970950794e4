"""Tags: the kind of data in a packet, and of which input; in a packet's column they are text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, cast, get_args

TagKind = Literal[
    "meta",  # a fact, for the driver or for the next step at the same partition
    "read",  # a fact about what was read, for the partitions that evaluate a view
    "slice",  # a slice of a source, for the task that reads it
    "tick",  # nothing: Spark sends one to each task, which puts its slices in its place
    "new",  # new rows of an input or inner join, for the partitions that keep them
    "ring",  # rows of a ROWS window from before the batch
    "drive",  # new rows that start probing in another space than their own
    "fill",  # the same, for the inner state of a plan to come
    "partial",  # partial results on their way to the next leg
    "asking",  # the same, of routes that ask for partners in an outer join
    "tally",  # results by group, for the partitions of a view
]

_KINDS = frozenset(get_args(TagKind))
# A packet whose data is the name of the file that has them.
_FILED = "@"
# What stands between the number of a query and the rest of a tag.
_OF = "|"
# Far more than the tags of a query, of which each packet that arrives has one.
_REMEMBERED = 1 << 12


@dataclass(frozen=True)
class Tag:
    """The tag of a packet: `meta`, `new:A`, `drive#2:A`, `@new:A` for one in a file, or `3|new:A`
    where queries of a script run together."""

    kind: TagKind
    name: str | None = None
    """The input, inner join or source that the rows are of."""

    ruster: int | None = None
    """The ruster that the rows are of, where a mesh has several."""

    is_filed: bool = False
    """Whether the data are the name of a file with the packet's data."""

    query: int | None = None
    """The number of the query that the packet is of, where several run together."""

    def __str__(self) -> str:
        of = "" if self.query is None else f"{self.query}{_OF}"
        mark = _FILED if self.is_filed else ""
        number = "" if self.ruster is None else f"#{self.ruster}"
        name = "" if self.name is None else f":{self.name}"
        return f"{of}{mark}{self.kind}{number}{name}"

    @staticmethod
    @lru_cache(maxsize=_REMEMBERED)
    def parse(text: str) -> Tag:
        """The tag of a text."""
        front, colon, name = text.partition(":")
        query, of, head = front.rpartition(_OF)
        kind, mark, number = head.removeprefix(_FILED).partition("#")
        is_numbered = all(n.isdecimal() for there, n in ((mark, number), (of, query)) if there)
        if kind not in _KINDS or not is_numbered:
            raise ValueError(f"{text!r} is not the tag of a packet")
        return Tag(
            cast(TagKind, kind),
            name if colon else None,
            int(number) if mark else None,
            head.startswith(_FILED),
            int(query) if of else None,
        )

    def filed(self, is_filed: bool = True) -> Tag:
        """The tag of the same packet in a file, or out of it."""
        return replace(self, is_filed=is_filed)

    def of(self, query: int | None) -> Tag:
        """The tag of the same packet of a query among others, or of one by itself."""
        return replace(self, query=query)


META = Tag("meta")
READ = Tag("read")
SLICE = Tag("slice")
TALLY = Tag("tally")
TICK = Tag("tick")
