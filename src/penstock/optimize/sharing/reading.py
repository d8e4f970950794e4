"""Reading: a source is read once for all queries of a script, whatever they join it with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.plan.script import ReadOnce
from penstock.query.query import Input
from penstock.query.script import Script
from penstock.stats.known import Known


def read_once(script: Script, knowns: Mapping[str, Known]) -> tuple[ReadOnce, ...]:
    """The declared streams that several inputs of a script's queries read, with what is saved of
    the work that each of these is reckoned to take by itself."""
    readers = dict[str, list[tuple[str, float]]]()
    for member in script.members:
        for item in member.query.streams if member.takes is None else ():
            if item.source.format != "derived":
                mine = (member.name, receiving(knowns[member.name], item))
                readers.setdefault(item.source.name, []).append(mine)
    return tuple(_once(readers))


def _once(readers: Mapping[str, list[tuple[str, float]]]) -> Iterator[ReadOnce]:
    for source, inputs in readers.items():
        seconds = [each for _, each in inputs]
        saves = sum(seconds) - max(seconds)
        if saves > 0.0:
            yield ReadOnce(source, tuple(dict.fromkeys(name for name, _ in inputs)), saves)


def receiving_all(known: Known) -> float:
    """Seconds a second to receive the tuples of a query's streams, by itself."""
    return sum(receiving(known, item) for item in known.query.streams)


def receiving(known: Known, item: Input) -> float:
    """Seconds a second to receive the tuples of one stream."""
    arrive = known.costs.arrive if known.costs.join is None else 0.0
    return known.rates[item.alias].value * arrive
