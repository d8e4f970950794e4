"""Differences between two states: the partitions whose chunks are others.

A state is made from the one before it, and whatever stays is the same object in both. So looking
for what has changed takes a glance at each partition, and more only where something has.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from penstock.engine.state.modules import Module, Modules
from penstock.engine.state.store import ChunkInfo

Infos = tuple[ChunkInfo, ...]
_name = attrgetter("name")


def changed_partitions(
    old: Modules, new: Modules
) -> Iterator[tuple[Module, int, Infos | None, Infos | None]]:
    """The partitions of modules that differ, with their chunks in the old state and in the new
    one; None where there is no such partition."""
    for module, partitions in new.items():
        before = old.get(module, {})
        if partitions is before:
            continue
        for pid, now in partitions.items():
            was = before.get(pid)
            if now is not was and now != was:
                yield module, pid, was, now
        for pid in before.keys() - partitions.keys():
            yield module, pid, before[pid], None
    for module in old.keys() - new.keys():
        for pid, was in old[module].items():
            yield module, pid, was, None


def left_and_come(old: Modules, new: Modules) -> tuple[set[str], set[str]]:
    """The names of chunks that only the old state has, and of those that only the new one has."""
    left, come = list[ChunkInfo](), list[ChunkInfo]()
    for _, _, was, now in changed_partitions(old, new):
        gone, kept = oldest_gone(was or (), now or ())
        left += (was or ())[:gone]
        come += (now or ())[kept:]
    old_names, new_names = set(map(_name, left)), set(map(_name, come))
    return old_names - new_names, new_names - old_names


def oldest_gone(was: Infos, now: Infos) -> tuple[int, int]:
    """How many chunks from the first on have gone, and how many that came after them have stayed;
    where it is not as simple as that, all have gone and none has stayed."""
    first, gone = now[0] if now else None, 0
    for chunk in was:
        if chunk is first:
            break
        gone += 1
    kept = was[gone:]
    return (gone, len(kept)) if now[: len(kept)] == kept else (len(was), 0)
