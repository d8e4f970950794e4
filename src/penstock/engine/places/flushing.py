"""Flushing: have what was written on the disk, where it outlives a power cut.

Whoever writes a file that is to last notes it. The tasks of a cluster flush what they noted before
they end, since nobody else can flush what their machine holds back; on one machine the driver
flushes all of it at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from penstock.engine.places import disk
from penstock.engine.places.place import Place

_noted: list[str] = []
_SIDE_BY_SIDE = 16
"""Files that are flushed at a time: a disk takes several for the price of one."""


def note(place: Place) -> None:
    """Remember a local file that must be on the disk before anybody counts on it."""
    if place.is_local:
        _noted.append(place.path)


def flush_noted() -> None:
    """Have the noted files on the disk, and the folders that they are in; OSError if not."""
    files = _taken()
    if not files:
        return
    folders = {os.path.dirname(path) for path in files}
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        list(pool.map(flush_path, files))
        list(pool.map(flush_path, folders | {os.path.dirname(path) for path in folders}))


def forget_noted() -> None:
    """Leave the noted files to who flushes the whole disk."""
    _noted.clear()


def _taken() -> list[str]:
    files = list(dict.fromkeys(_noted))
    _noted.clear()
    return files


def flush_path(path: str) -> None:
    """Have a file or folder on the disk; one that is gone by now is no error."""
    with suppress(FileNotFoundError):
        disk.flush(path)


def flush_disks(places: Iterable[Place]) -> None:
    """Have all that was written to the file systems of some local places on their disks, whichever
    process of this machine wrote it; OSError if not."""
    forget_noted()
    disks: dict[int, str] = {}
    for place in places:
        path = _nearest(place) if place.is_local else None
        if path is not None:
            disks.setdefault(os.stat(path).st_dev, path)
    for path in disks.values():
        _flush_disk(path)


def _nearest(place: Place) -> str:
    """The place itself, or the folder above it that is there."""
    path = place.path
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _flush_disk(path: str) -> None:
    disk.flush_all(path)
