"""Processor time and memory of all processes that this one has started, while they run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module
from threading import Event, Thread
from types import TracebackType
from typing import Any

from penstock.errors import SetupError

_EVERY_SECONDS = 0.1


@dataclass(frozen=True)
class Usage:
    """Processor seconds, and the most memory at any moment, MiB (pages shared count in each)."""

    cpu_s: float
    peak_mib: float


class TreeMeter:
    """Looks at the processes below this one ten times a second, until it is left."""

    def __init__(self) -> None:
        self._psutil = _psutil()
        self._samples: list[tuple[float, float, float]] = []
        self._cpu: dict[int, float] = {}
        self._is_over = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> TreeMeter:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()

    def between(self, began: float, ended: float) -> Usage:
        """What was used between two times, seconds since the epoch."""
        known = [s for s in self._samples if s[0] <= began][-1:]
        during = known + [s for s in self._samples if began < s[0] <= ended + _EVERY_SECONDS]
        if not during:
            return Usage(0.0, 0.0)
        return Usage(during[-1][1] - during[0][1], max(memory for *_, memory in during))

    def _watch(self) -> None:
        while not self._is_over.wait(_EVERY_SECONDS):
            memory = 0.0
            for process in self._psutil.Process().children(recursive=True):
                try:
                    with process.oneshot():
                        times = process.cpu_times()
                        memory += process.memory_info().rss / (1 << 20)
                except self._psutil.Error:
                    continue  # It has ended meanwhile; what it had used by then is kept.
                self._cpu[process.pid] = times.user + times.system
            self._samples.append((time.time(), sum(self._cpu.values()), memory))


def _psutil() -> Any:
    try:
        return import_module("psutil")
    except ImportError:
        what, hint = "psutil counts processor time, and is missing", "python -m pip install psutil"
        raise SetupError(what, hint=hint) from None
