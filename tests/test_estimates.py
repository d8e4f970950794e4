"""What the planner foresees is what happens: estimates against runs in the laboratory.

Keys and values are uniform, and all statistics are declared, so that nothing but the model is
tested. Figures are the mean of a few runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.engine.layout import ARRIVAL, TS
from penstock.engine.local.clock import Costs as ClockCosts
from penstock.engine.local.clock import SimulatedClock
from penstock.engine.local.laboratory import Outcome, run
from penstock.engine.local.schedule import Eager
from penstock.optimize.curve import curve_of
from penstock.optimize.enumerate import all_trees
from penstock.optimize.estimate import estimate, needed_by
from penstock.optimize.probe_search import best_orders
from penstock.optimize.problem import Problem
from penstock.plan.plan import Plan
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin, branches
from penstock.query import Query
from penstock.query.goal import STEADY
from penstock.query.window import MICROS
from penstock.sql import parse
from penstock.stats.costs import Costs
from penstock.stats.figure import Figure
from penstock.stats.file import from_data
from penstock.stats.guess import complete

SPAN = 60.0
"""Seconds of input."""
FULL = 24.0
"""Seconds after which all windows are full: two slides of the longest."""
SHAPES = ("chain", "star", "one attribute")
FREE = SimulatedClock(ClockCosts())


@dataclass(frozen=True)
class Setting:
    """A query over streams with uniform keys `k`, `l` and values `v`, `w` in [0, 1)."""

    windows: dict[str, str]
    rates: dict[str, float]
    where: tuple[str, ...]
    values: dict[str, int]
    passes: dict[str, float]
    rows: int = 0
    ends: dict[str, int] | None = None

    @cached_property
    def query(self) -> Query:
        streams = "".join(
            f"CREATE STREAM {name} (k BIGINT, l BIGINT, v DOUBLE, w DOUBLE, ts TIMESTAMP) "
            f"WITH (format='synthetic', rate={rate}, timestamp='ts');\n"
            for name, rate in self.rates.items()
        )
        table = (
            "CREATE TABLE T (k BIGINT, l BIGINT, v DOUBLE, w DOUBLE) "
            "WITH (format='csv', path='t.csv');\n"
        )
        froms = [f"{name} [{window}]" for name, window in self.windows.items()]
        froms += ["T"] if self.rows else []
        filters = [f"{name}.v < {p}" for name, p in self.passes.items() if p < 1]
        where = [*self.where, *filters]
        select = f"SELECT A.k FROM {', '.join(froms)}"
        return parse(f"{streams}{table}{select}" + (f" WHERE {' AND '.join(where)}" if where else ""))

    def problem(self, costs: Costs, capacity: float = 1.0) -> Problem:
        streams = {name: {"rate": rate} for name, rate in self.rates.items()}
        for name, count in (self.ends or {}).items():
            streams[name]["cardinality"] = count
        joins = {c: {"selectivity": self.selectivity(c), "cost": 0.0} for c in self.where}
        for text in joins:
            if " = " in text:
                del joins[text]["cost"]
        filters = {
            f"{name}.v < {p}": {"selectivity": p, "cost": 0.0}
            for name, p in self.passes.items()
            if p < 1
        }
        if self.rows:
            streams["T"] = {"cardinality": self.rows}
        data = {"streams": streams, "joins": joins, "filters": filters, "capacity": capacity}
        known = complete(self.query, from_data(data, self.query), costs)
        return Problem(self.query, known)

    def selectivity(self, condition: str) -> float:
        """Of an equality of keys, or of `A.w < B.w`."""
        return 1 / self.values[condition[2]] if " = " in condition else 0.5

    def tuples(self, seed: int) -> dict[str, pa.Table]:
        rng = np.random.default_rng(seed)
        ends = self.ends or {}
        counts = {n: min(round(r * SPAN), ends.get(n, 10**9)) for n, r in self.rates.items()}
        tables = {n: self._stream(rng, counts[n], self.rates[n]) for n in self.rates}
        if self.rows:
            tables["T"] = self._stream(rng, self.rows, 1.0)
        return tables

    def _stream(self, rng: np.random.Generator, count: int, rate: float) -> pa.Table:
        times = (np.arange(count) + rng.random(count)) / rate * MICROS
        return pa.table(
            {
                **{c: rng.permutation(np.arange(count) % d) for c, d in self.values.items()},
                "v": rng.random(count),
                "w": rng.random(count),
                TS: times.astype(np.int64),
                ARRIVAL: np.arange(count),
            }
        )


def random_setting(seed: int, windows: tuple[str, ...], size: int | None = None) -> Setting:
    """Two to five streams with a few thousand results, maybe a table, filters and a theta."""
    rng = Random(seed)
    names = "ABCDE"[: size or rng.randint(2, 5)]
    rates = {name: round(10 ** rng.uniform(1.0, 1.5), 1) for name in names}
    others = names[1:] + ("T" if seed % 3 == 0 else "")
    shape = rng.choice(SHAPES)
    links = [
        f"{before if shape == 'chain' else 'A'}.{c} = {after}.{c}"
        for before, after in zip(names + others[-1], others, strict=False)
        for c in ("k" if shape == "one attribute" else rng.choice("kl"))
    ]
    theta = ("A.w < B.w",) if seed % 2 else ()
    passes = {name: rng.choice((1.0, 1.0, 0.5)) for name in names}
    return Setting(
        windows={name: rng.choice(windows) for name in names},
        rates=rates,
        where=(*links, *theta),
        values={"k": rng.choice((5, 10)), "l": rng.choice((4, 8))},
        passes=passes,
        rows=20 if "T" in others else 0,
    )
