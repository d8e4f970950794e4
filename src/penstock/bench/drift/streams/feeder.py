"""A feeder: files that are written beforehand, and come to light by the clock."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import pyarrow.parquet as pq

from penstock.bench.drift.streams.data import tuples_of
from penstock.bench.drift.streams.scenario import Scenario


@dataclass(frozen=True)
class Hidden:
    """A file that is to be at `path`, so many seconds after the start."""

    seconds: float
    draft: Path
    path: Path


def hide(scenario: Scenario, folder: Path) -> list[Hidden]:
    """The files of a scenario, each of which is there when its last tuple has come."""
    found = []
    for name in scenario.windows:
        (folder / name).mkdir(parents=True)
        (folder / f"{name}.later").mkdir()
    for batch, regime in enumerate(scenario.regimes()):
        for name, flow in regime.items():
            file = f"{batch:06d}.parquet"
            draft = folder / f"{name}.later" / file
            pq.write_table(tuples_of(scenario, name, flow, batch), draft)
            found.append(Hidden((batch + 1) * scenario.step, draft, folder / name / file))
    return found


class Feeder:
    """Moves hidden files to their places in time, in a thread of its own, while in its `with`."""

    def __init__(self, files: Sequence[Hidden]):
        self._files = sorted(files, key=lambda file: file.seconds)
        self._is_over = Event()
        self._thread = Thread(target=self._feed, daemon=True)

    def __enter__(self) -> Feeder:
        self.started = time.time()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _feed(self) -> None:
        for file in self._files:
            if self._is_over.wait(max(0.0, self.started + file.seconds - time.time())):
                return
            os.utime(file.draft)
            file.draft.rename(file.path)
