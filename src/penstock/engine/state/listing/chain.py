"""Chains of manifests: of a large state each manifest says what has changed since the one before,
and lists some of the partitions anew, in turns.

So what a batch writes is about what it has changed, and no batch has to write everything. To read a
manifest takes those before it, back to where the present round of turns began. A link names the
manifest that it follows, with the checksum of that one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.engine.state.listing.differences import changed_partitions, oldest_gone
from penstock.engine.state.modules import Module, Modules
from penstock.engine.state.store import ChunkInfo

SMALL = 1024
"""Chunks up to which a manifest lists all of them: it is read by itself."""
_TURNS = 64
"""Groups of partitions that are listed in turns: a chain is not longer than this."""
_SHARE = 2
"""A batch lists about one chunk for so many that it has changed."""

Infos = tuple[ChunkInfo, ...]
States = Mapping[str, Modules]
"""The state of each query of a script by its name; that of a query by itself has none."""
_Found = dict[str, dict[Module, dict[int, Infos]]]


@dataclass(frozen=True)
class Link:
    """A manifest that has been written, for the next one to follow."""

    batch: int
    checksum: int
    states: States
    turns: tuple[int, ...] = ()
    """Of each group of partitions, the batch whose manifest has last listed it."""
    next_turn: int = 0

    @property
    def since(self) -> int:
        """The first manifest that this one is read with."""
        return min(self.turns, default=self.batch)


@dataclass(frozen=True)
class Chained:
    """What a manifest has in the place of its chunks, as JSON, and the turns after it."""

    text: str
    turns: tuple[int, ...]
    next_turn: int


def is_small(states: States) -> bool:
    """Whether a manifest lists all chunks as a matter of course."""
    return _count(states) <= SMALL


def chained(batch: int, states: States, last: Link | None) -> Chained:
    """The chunks of a manifest as the next link after `last`; all of them, if there is none."""
    keys = [(member, module) for member, modules in states.items() for module in modules]
    numbers = {key: number for number, key in enumerate(keys)}
    total = _count(states)
    gone, changed, new = list[str](), list[str](), list[str]()
    written = 0
    for member, modules in states.items() if last is not None else ():
        before = {} if last is None else last.states.get(member, {})
        for module, pid, was, now in changed_partitions(before, modules):
            number = numbers.get((member, module))
            if number is None:
                continue  # The module is gone as a whole.
            if now is None:
                gone.append(f"[{number},{pid}]")
            elif was is None:
                new.append(_listed(number, pid, now))
                written += len(now)
            else:
                text, added = _changed(number, pid, was, now)
                changed.append(text)
                written += added
    if last is None or not last.turns or 2 * written >= total:
        first, turns, next_turn = None, (batch,) * _TURNS, 0
        gone, changed, new, taken = [], [], [], frozenset(range(_TURNS))
    else:
        many = max(1, -(-written * _TURNS // (_SHARE * max(total, 1))))
        taken = frozenset((last.next_turn + turn) % _TURNS for turn in range(min(many, _TURNS)))
        first = {"batch": last.batch, "checksum": last.checksum}
        turns = tuple(batch if turn in taken else old for turn, old in enumerate(last.turns))
        next_turn = (last.next_turn + many) % _TURNS
    for (member, module), number in numbers.items():
        for pid, chunks in states[member][module].items():
            if pid % _TURNS in taken:
                new.append(_listed(number, pid, chunks))
    head = {
        "after": first,
        "since": min(turns),
        "chunks": total,
        "modules": [[member, str(module)] for member, module in keys],
    }
    parts = zip(("gone", "changed", "listed"), (gone, changed, new), strict=True)
    lists = ", ".join(f'"{name}": [{", ".join(each)}]' for name, each in parts)
    return Chained(f"{json.dumps(head)[:-1]}, {lists}}}", turns, next_turn)


def _count(states: States) -> int:
    parts = (partitions for modules in states.values() for partitions in modules.values())
    return sum(sum(map(len, partitions.values())) for partitions in parts)


def _listed(number: int, pid: int, chunks: Infos) -> str:
    return f"[{number}, {pid}, [{', '.join([chunk.text for chunk in chunks])}]]"


def _changed(number: int, pid: int, was: Infos, now: Infos) -> tuple[str, int]:
    """A partition by the places of the chunks that are gone and the chunks that have come, and how
    many these are. Where others have changed places, all are."""
    gone, kept = oldest_gone(was, now)
    dropped = list(range(gone))
    if not kept:
        names = {chunk.name for chunk in now}
        dropped = [place for place, chunk in enumerate(was) if chunk.name not in names]
        left = [chunk for chunk in was if chunk.name in names]
        kept = len(left)
        if left != list(now[:kept]):
            dropped, kept = list(range(len(was))), 0
    added = ", ".join([chunk.text for chunk in now[kept:]])
    return f"[{number}, {pid}, {dropped}, [{added}]]", len(now) - kept


# Reading


def follows(chain: Mapping[str, Any], since: int) -> tuple[int, int] | None:
    """The batch and the checksum of the manifest that is to be read before one, if any is from the
    batch `since` on."""
    after = chain["after"]
    if after is None or after["batch"] < since:
        return None
    return int(after["batch"]), int(after["checksum"])


def since_of(chain: Mapping[str, Any]) -> int:
    """The batch of the first manifest that one is read with."""
    return int(chain["since"])


def joined(chains: Iterable[Mapping[str, Any]]) -> _Found:
    """The chunks that the last of some links stands for; the first of them comes first."""
    found: dict[tuple[str, Module], dict[int, Infos]] = {}
    last: Mapping[str, Any] = {}
    for last in chains:
        keys = [(member, Module(text)) for member, text in last["modules"]]
        found = {key: found.get(key, {}) for key in keys}
        for number, pid in last["gone"]:
            found[keys[number]].pop(pid, None)
        for number, pid, dropped, added in last["changed"]:
            # One that is not known by then is listed later.
            if pid in found[keys[number]]:
                was = found[keys[number]][pid]
                found[keys[number]][pid] = (*_without(was, dropped), *_infos(added))
        for number, pid, chunks in last["listed"]:
            found[keys[number]][pid] = tuple(_infos(chunks))
    states: _Found = {}
    for (member, module), partitions in found.items():
        states.setdefault(member, {})[module] = partitions
    if _count(states) != last.get("chunks"):
        raise ValueError("the manifests before it do not belong to it")
    return states


def _without(chunks: Infos, places: list[int]) -> Infos:
    if not places:
        return chunks
    gone = set(places)
    return tuple(chunk for place, chunk in enumerate(chunks) if place not in gone)


def _infos(rows: Iterable[list[Any]]) -> Iterator[ChunkInfo]:
    return (ChunkInfo(*row) for row in rows)
