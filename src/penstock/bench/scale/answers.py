"""Simulated answers of tasks: the facts that those of a two-way join tell, without their work.

Every partition gets a chunk of each stream, merges others when their turn comes, and has a file of
results. The files are there, empty, so that the driver has something to publish and to delete.
"""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.duration import MICROS
from penstock.engine.join.batch import Batch
from penstock.engine.join.rhythm import sketches_keys, tells_reach
from penstock.engine.measures.telling import told_together
from penstock.engine.places.place import Place
from penstock.engine.state.frontier import Reading
from penstock.engine.state.manifest import StagedPart
from penstock.engine.state.modules import Module
from penstock.engine.state.store import ChunkInfo
from penstock.engine.wire.facts import Fact, KeptChunk, KeySketch, OperatorFlow, TaskTime
from penstock.engine.wire.packets import Packet, pack_fact, to_batches

ROWS = 1_000
"""Rows of a stream that come to a partition in a batch; they are small, so that chunks merge."""
_BYTES = 32 * ROWS
_HASHES = 2
"""Keys in the sketch of a task: all tasks together tell a few hundred."""
STREAMS = ("a", "b")


@dataclass(frozen=True)
class Answers:
    """What the tasks of one batch send to the driver."""

    batch: Batch
    readers: int
    staging: Place

    def arrived(self) -> pa.Table:
        """All of it, as Spark hands it over: a piece for each task that has run last."""
        return pa.Table.from_batches(
            made
            for pid in range(self.batch.partitions)
            for made in to_batches(told_together(self._of_partition(pid)))
        )

    def _of_partition(self, pid: int) -> Iterator[Packet]:
        if pid == 0:
            # What tasks have told that read is sent to the first partition, and from there on.
            yield from (pack_fact(0, *self._of_reader()) for _ in range(self.readers))
        for alias in STREAMS:
            module = Module.kept(alias, 0)
            yield pack_fact(pid, KeptChunk(module, pid, self._chunk(module, pid)))
            merged = self.batch.merged(module, pid)
            if merged:
                names = tuple(chunk.name for chunk in merged)
                new = self._chunk(module, pid, merged)
                yield pack_fact(pid, KeptChunk(module, pid, new, names, is_fresh=False))
        yield pack_fact(pid, self._part())
        yield pack_fact(0, *self._flows())
        yield pack_fact(0, TaskTime("round 0", 1.0, 1.0))

    def _of_reader(self) -> Iterator[Fact]:
        number = self.batch.number
        rows = ROWS * self.batch.partitions // self.readers
        first, last = number * MICROS, (number + 1) * MICROS - 1
        for alias in STREAMS:
            yield Reading(alias, rows, 0, 0, 0, last, first)
            if sketches_keys(number):
                hashes = np.random.default_rng(number).integers(0, 1 << 40, _HASHES, np.int64)
                ones = np.ones(_HASHES, np.int64)
                share = 1e-3
                yield KeySketch(alias, 0, rows, rows, share, hashes.tobytes(), ones.tobytes())
        yield TaskTime("pack", 1.0, 1.0)

    def _flows(self) -> Iterator[Fact]:
        for driver, target in zip(STREAMS, reversed(STREAMS), strict=True):
            met = 1e9 if tells_reach(self.batch.number) else None
            yield OperatorFlow(driver, 0, target, ROWS, 2 * ROWS, 2 * ROWS, met, 0.5)

    def _chunk(self, module: Module, pid: int, merged: tuple[ChunkInfo, ...] = ()) -> ChunkInfo:
        folder, number = "/".join(("state", *module.folders(pid))), self.batch.number
        name = f"{folder}/{uuid.uuid4().hex}.arrow"
        _touch(self.batch.root / name)
        if not merged:
            first, last = number * MICROS, (number + 1) * MICROS - 1
            return ChunkInfo(name, ROWS, _BYTES, uuid.uuid4().fields[0], first, last)
        return ChunkInfo(
            name,
            sum(chunk.rows for chunk in merged),
            sum(chunk.size for chunk in merged),
            uuid.uuid4().fields[0],
            min(chunk.first_ts for chunk in merged),
            max(chunk.last_ts for chunk in merged),
            1 + max(chunk.tier for chunk in merged),
        )

    def _part(self) -> StagedPart:
        place = self.staging / f"{uuid.uuid4().hex}.parquet"
        _touch(place)
        return StagedPart(place.path, 2 * ROWS, 0)


def tidy(batch: Batch) -> None:
    """Delete what is left to tasks, each in a process of its own."""
    own: Batch = pickle.loads(pickle.dumps(batch))
    for pid in range(own.partitions):
        own.tidy(pid)


def _touch(place: Place) -> None:
    """An empty file, in a folder that is made if need be."""
    for _ in range(2):
        try:
            with open(place, "wb"):
                return
        except FileNotFoundError:
            os.makedirs(place.parent, exist_ok=True)
