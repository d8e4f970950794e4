"""Streams whose joins can be counted by hand: every flow of a batch, found by comparing all pairs.

Three streams in a chain, `a.k = b.k AND b.m = c.m`, with a filter on a and a condition on a and c.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from penstock.cql import parse
from penstock.query import Query

Int64s = NDArray[np.int64]
Rows = Mapping[str, Int64s]

ALIASES = ("a", "b", "c")
FILTER = "a.x < 7"
THETA = "(a.x + c.x) > 4"
_SECOND = 1_000_000
_SOURCE = """CREATE STREAM {alias} (ts BIGINT, k BIGINT, m BIGINT, x BIGINT)
  WITH (format='parquet', path='{folder}/{alias}', timestamp='ts', unit='us', max_files=1);
"""


@dataclass(frozen=True)
class Flow:
    """What went into a probe, was in reach of it by time, came out, and met its conditions."""

    went_in: int
    met: int
    came_out: int
    passed: int


@dataclass(frozen=True)
class Counted:
    """Batches of three streams, a second of event time each; `reach` in seconds."""

    batches: tuple[Mapping[str, Rows], ...]
    reach: float

    @classmethod
    def drawn(
        cls, seed: int, sizes: Sequence[int], batches: int, keys: int, reach: float
    ) -> Counted:
        """Random tuples: so many a batch of each stream, with so many different keys."""
        rng = np.random.default_rng(seed)
        return cls(
            tuple(
                {
                    alias: _rows(rng, number, size, keys)
                    for alias, size in zip(ALIASES, sizes, strict=True)
                }
                for number in range(batches)
            ),
            reach,
        )

    def query(self, folder: Path, window: str | None = None, where: str | None = None) -> Query:
        """The query over files of these batches."""
        sources = ""
        for alias in ALIASES:
            sources += _SOURCE.format(alias=alias, folder=folder)
            (folder / alias).mkdir(parents=True)
            for number, batch in enumerate(self.batches):
                path = folder / alias / f"{number:03d}.parquet"
                pq.write_table(pa.table(dict(batch[alias])), path)
                os.utime(path, (number, number))
        size = window or f"RANGE {round(self.reach * 1000)} MILLISECONDS"
        inputs = ", ".join(f"{alias} [{size}]" for alias in ALIASES)
        joined = where or f"a.k = b.k AND b.m = c.m AND {FILTER} AND {THETA}"
        return parse(f"{sources} SELECT a.x AS x, c.x AS y FROM {inputs} WHERE {joined}")

    def filtered(self, number: int) -> tuple[int, int]:
        """Tuples of a that come to its filter in a batch, and pass."""
        x = self.batches[number]["a"]["x"]
        return len(x), int((x < 7).sum())

    def flows(self, number: int, driver: str, order: Sequence[str]) -> list[Flow]:
        """The flow of each probe that the new tuples of a driver make."""
        fresh = self._passing(number, driver)
        found: dict[str, Rows] = {driver: fresh}
        flows = []
        for target in order:
            last = number + 1 if ALIASES.index(target) < ALIASES.index(driver) else number
            flow, found = self._probed(found, target, self._state(target, last))
            flows.append(flow)
        return flows

    def _passing(self, number: int, alias: str) -> Rows:
        rows = self.batches[number][alias]
        passes = rows["x"] < 7 if alias == "a" else np.ones(len(rows["x"]), np.bool_)
        return {name: values[passes] for name, values in rows.items()}

    def _state(self, alias: str, last: int) -> Rows:
        parts = [self._passing(number, alias) for number in range(last)]
        names = ("ts", "k", "m", "x")
        none = np.empty(0, np.int64)
        return {name: np.concatenate([none, *(p[name] for p in parts)]) for name in names}

    def _probed(
        self, found: dict[str, Rows], target: str, state: Rows
    ) -> tuple[Flow, dict[str, Rows]]:
        times = np.stack([rows["ts"] for rows in found.values()])
        earliest = np.minimum(times.min(axis=0)[:, None], state["ts"][None, :])
        latest = np.maximum(times.max(axis=0)[:, None], state["ts"][None, :])
        met = latest - earliest <= self.reach * _SECOND
        both = {**found, target: state}
        equal = met.copy()
        for one, other, key in (("a", "b", "k"), ("b", "c", "m")):
            if target in (one, other) and {one, other} <= set(both):
                mine = found[other if target == one else one][key]
                equal &= mine[:, None] == state[key][None, :]
        ours, theirs = np.nonzero(equal)
        joined = {alias: _at(rows, ours) for alias, rows in found.items()}
        joined[target] = _at(state, theirs)
        passed = np.ones(len(ours), np.bool_)
        if target in ("a", "c") and {"a", "c"} <= set(joined):
            passed = joined["a"]["x"] + joined["c"]["x"] > 4
        flow = Flow(times.shape[1], int(met.sum()), len(ours), int(passed.sum()))
        return flow, {alias: _at(rows, passed) for alias, rows in joined.items()}


def _rows(rng: np.random.Generator, number: int, size: int, keys: int) -> Rows:
    times = np.sort(rng.integers(number * _SECOND, (number + 1) * _SECOND, size))
    draw = {name: rng.integers(0, keys, size) for name in ("k", "m")}
    return {"ts": times, **draw, "x": rng.integers(0, 10, size)}


def _at(rows: Rows, places: NDArray[np.int64] | NDArray[np.bool_]) -> Rows:
    return {name: values[places] for name, values in rows.items()}
