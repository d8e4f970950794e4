"""What a run and its children hold at a moment: memory, mapped files, a checkpoint's files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median

import psutil  # type: ignore[import-untyped]

TENTH = 10
"""The first and the last of so many equal parts of a run are compared."""


@dataclass(frozen=True)
class Footprint:
    """Figures of a moment that may swing, but must not grow; bytes, but for the number of files."""

    memory: int
    """Memory that would be free without this process and its children."""

    forgotten: int
    """Parts of deleted files that are still mapped."""

    files: int
    """Files of the checkpoint."""

    disk: int
    """What they take."""


def footprint(checkpoint: Path) -> Footprint:
    """Of this process, its children and its checkpoint, now."""
    family, memory, forgotten = psutil.Process(), 0, 0
    for process in (family, *family.children(recursive=True)):
        with suppress(psutil.Error, OSError):
            memory += process.memory_full_info().uss
            forgotten += sum(_forgotten(process.pid, checkpoint))
    sizes = list(_sizes(checkpoint))
    return Footprint(memory, forgotten, len(sizes), sum(sizes))


def cpu_seconds() -> dict[int, float]:
    """CPU-seconds of this process and each of its children so far."""
    family = psutil.Process()
    used = {}
    for process in (family, *family.children(recursive=True)):
        with suppress(psutil.Error):
            times = process.cpu_times()
            used[process.pid] = times.user + times.system
    return used


def spent(before: dict[int, float], now: dict[int, float]) -> float:
    """CPU-seconds between two looks, of those that live."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in now.items())


def grown(prints: Sequence[Footprint]) -> dict[str, tuple[float, float]]:
    """Each figure in the first and in the last tenth of a run."""
    return {
        field.name: ends([getattr(each, field.name) for each in prints])
        for field in fields(Footprint)
    }


def ends(figures: Sequence[float]) -> tuple[float, float]:
    """What a figure is in the first and in the last tenth of a run, by its median."""
    size = max(len(figures) // TENTH, 1)
    return median(figures[:size]), median(figures[-size:])


def _forgotten(pid: int, folder: Path) -> Iterator[int]:
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        if str(folder) in line and line.endswith("(deleted)"):
            low, high = line.split(maxsplit=1)[0].split("-")
            yield int(high, 16) - int(low, 16)


def _sizes(folder: Path) -> Iterator[int]:
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                yield os.path.getsize(os.path.join(place, name))
