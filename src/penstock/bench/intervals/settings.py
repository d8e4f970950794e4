"""The streams that `bench intervals` sheds, whose values, keys and joins are hard on intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from penstock.cql import parse
from penstock.query import Query

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]
Values = Literal["2.5 % not 0", "10 % not 0", "lognormal(2)", "mixed signs"]
Truth = dict[str, float]

# The aggregates by the names of their columns.
AGGREGATES = {"n": "COUNT(*)", "s": "SUM(a.x)", "m": "AVG(a.x)", "p": "SUM(a.x * b.y)"}
# What is kept of a, b and c.
KEPT = ((0.235, 0.058, 0.5), (0.43, 0.149, 0.35), (0.186, 0.521, 0.6))
# Tuples of a in each of its groups: of some nothing can be told, of some all.
GROUPS = (40, 80, 150, 300, 600, 1000, 1600, 2500)
OTHERS, KEYS = 1000, 100

_BLOCK = 10
_SCHEMA = pa.schema(
    {"ts": pa.int64(), "k": pa.int32(), "g": pa.int32(), "x": pa.float64(), "y": pa.float64()}
)
_STREAM = """
CREATE STREAM {name} (ts BIGINT, k INT, g INT, x DOUBLE, y DOUBLE)
  WITH (format='parquet', path='{folder}/{name}', timestamp='ts', unit='s', max_files=1);
"""


@dataclass(frozen=True)
class Setting:
    """Values of a, number of inputs, how skewed their keys are (as Zipf), and groups or a total."""

    values: Values
    ways: int = 2
    skew: float = 0.0
    has_groups: bool = True

    @property
    def name(self) -> str:
        """The name in tables."""
        keys = ", skewed keys" if self.skew else ""
        return f"{self.values}, {self.ways} ways{keys}, {'groups' if self.has_groups else 'total'}"

    @property
    def inputs(self) -> str:
        """The aliases of the streams."""
        return "abc"[: self.ways]

    @property
    def is_one_sign(self) -> bool:
        """Whether no value is negative."""
        return self.values != "mixed signs"

    def query(self, folder: Path) -> Query:
        """The view over the streams that are written there."""
        names = [f"{what} AS {name}" for name, what in AGGREGATES.items()]
        select = ", ".join((["a.g"] if self.has_groups else []) + names)
        froms = ", ".join(f"{alias} [TUMBLE {_BLOCK} SECONDS]" for alias in self.inputs)
        where = " AND ".join(f"a.k = {alias}.k" for alias in self.inputs[1:])
        group = " GROUP BY a.g" if self.has_groups else ""
        streams = "".join(_STREAM.format(name=alias, folder=folder) for alias in self.inputs)
        return parse(f"{streams}SELECT {select} FROM {froms} WHERE {where}{group}")


SETTINGS = tuple(
    Setting(values, ways, skew, has_groups)
    for values in ("2.5 % not 0", "10 % not 0", "lognormal(2)", "mixed signs")
    for ways, skew in ((2, 0.0), (2, 0.8), (3, 0.0))
    for has_groups in (True, False)
)


@dataclass(frozen=True)
class Population:
    """The tuples of one block, which is repeated under other arrival numbers."""

    setting: Setting
    seed: int

    @cached_property
    def columns(self) -> dict[str, dict[str, NDArray[np.generic]]]:
        """The columns of each stream."""
        rng = np.random.default_rng(self.seed)
        groups = np.repeat(np.arange(len(GROUPS)), GROUPS)
        made: dict[str, dict[str, NDArray[np.generic]]] = {}
        for alias in self.setting.inputs:
            own = groups if alias == "a" else np.zeros(OTHERS, np.int64)
            made[alias] = {
                "k": self._keys(rng, len(own)),
                "g": own,
                "x": _values(rng, self.setting.values, len(own)),
                "y": rng.uniform(0.5, 1.5, len(own)),
            }
        return made

    def _keys(self, rng: np.random.Generator, size: int) -> Int64s:
        shares = 1.0 / np.arange(1, KEYS + 1) ** self.setting.skew
        return rng.choice(KEYS, size, p=shares / shares.sum())

    def write(self, folder: Path, number: int, blocks: int) -> None:
        """One file of each stream, the populations before it in earlier blocks."""
        for alias, columns in self.columns.items():
            size = len(columns["k"])
            first = number * blocks * _BLOCK
            times = first + _BLOCK * np.repeat(np.arange(blocks), size)
            arrays = [times, *(np.tile(column, blocks) for column in columns.values())]
            (folder / alias).mkdir(parents=True, exist_ok=True)
            cast = [pa.array(c).cast(t) for c, t in zip(arrays, _SCHEMA.types, strict=True)]
            table = pa.Table.from_arrays(cast, schema=_SCHEMA)
            pq.write_table(table, folder / alias / f"{number:04}.parquet")

    @cached_property
    def truth(self) -> dict[int, Truth]:
        """The aggregates of each group over all tuples, or of all as group 0."""
        a, *others = self.columns.values()
        partners, first = np.ones(KEYS), np.bincount(others[0]["k"], others[0]["y"], KEYS)
        for each in others:
            partners = partners * np.bincount(each["k"], minlength=KEYS)
        for each in others[1:]:
            first = first * np.bincount(each["k"], minlength=KEYS)
        groups = a["g"] if self.setting.has_groups else np.zeros(len(a["g"]), np.int64)
        counts = np.bincount(groups, partners[a["k"]])
        sums = np.bincount(groups, partners[a["k"]] * a["x"])
        products = np.bincount(groups, first[a["k"]] * a["x"])
        return {
            group: {
                "n": float(counts[group]),
                "s": float(sums[group]),
                "m": float(sums[group] / counts[group]),
                "p": float(products[group]),
            }
            for group in range(len(counts))
        }


def block_of(population: int, blocks: int) -> range:
    """The ends of a population's blocks in seconds, at which they are told."""
    first = population * blocks
    return range((first + 1) * _BLOCK, (first + blocks + 1) * _BLOCK, _BLOCK)


def _values(rng: np.random.Generator, kind: Values, size: int) -> Floats:
    match kind:
        case "lognormal(2)":
            return rng.lognormal(0.0, 2.0, size)
        case "mixed signs":
            return rng.normal(0.3, 1.0, size)
    part = 0.025 if kind == "2.5 % not 0" else 0.1
    return np.where(rng.random(size) < part, rng.integers(1, 101, size), 0).astype(np.float64)
