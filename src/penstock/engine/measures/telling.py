"""Telling together: the facts that a task leaves for the driver, in one piece and as few as may be.

The driver gets those of thousands of tasks. What all tasks that read have told comes by one
partition, and is put together there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.engine.measures.measured import gathered
from penstock.engine.state.frontier import Reading, read_together
from penstock.engine.wire.facts import Fact, encode, joined
from penstock.engine.wire.packets import Packet, unpack_facts
from penstock.engine.wire.tags import META, Tag

_MANY = 32
"""Pieces of facts above which it pays to look into them."""


def told_together(packets: Iterable[Packet]) -> Iterator[Packet]:
    """The packets, with the facts of each query in one."""
    held: dict[Tag, list[Packet]] = {}
    for packet in packets:
        if packet.tag.kind == META.kind and not packet.tag.is_filed:
            held.setdefault(packet.tag, []).append(packet)
        else:
            yield packet
    for tag, mine in held.items():
        if len(mine) > _MANY:
            yield Packet(0, tag, encode(*fewer(unpack_facts(mine))))
        else:
            yield Packet(0, tag, joined(bytes(packet.payload) for packet in mine))


def fewer(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The same in fewer facts: readings of a source are one, and so are flows and sketches."""
    read: dict[tuple[str, str | None], Reading] = {}
    others: list[Fact] = []
    for fact in facts:
        if isinstance(fact, Reading):
            at = (fact.source, fact.part)
            read[at] = read_together(read[at], fact) if at in read else fact
        else:
            others.append(fact)
    yield from read.values()
    yield from gathered(others)
