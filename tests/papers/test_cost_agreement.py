"""Fluid curves against the laboratory: the mean of ten runs on a simulated clock, within 5 %."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.duration import MICROS
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.lab.clock import ClockCosts, SimulatedClock
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager
from penstock.papers.curve import Curve
from penstock.papers.fluid import Servers, curve
from penstock.papers.network import Join, JoinCosts, Node, Source
from penstock.plan import tree
from penstock.plan.multiway import Method
from penstock.plan.tree import Branch, Leaf, TreeJoin
from penstock.query import Column, DataType, Equality, Field, Input, Output, Query
from penstock.query import Source as StreamSource
from penstock.query.window import UNBOUNDED, RowsWindow, TimeWindow, Window

SPAN = 40.0
"""Seconds of input."""
RUNS = 10
FEWEST = 10_000
"""Predicted results from which on the prediction must hold."""
ALIASES = "ABCDE"
MOST_VALUES = 1_000
"""So many values that every edge has at least hundreds of matches."""
BUSY: dict[Method, tuple[float, ...]] = {
    "hash": (0.5, 0.9, 1.3, 1.6),
    "nested": (0.7, 1.3),
}
"""The utilization of the busiest server in each trial."""


@dataclass(frozen=True)
class Edge:
    """An equality between columns of two streams, drawn from so many values."""

    left: str
    right: str
    values: int

    @property
    def column(self) -> str:
        return f"{self.left}{self.right}".lower()


@dataclass(frozen=True)
class Part:
    """A sub-plan, as it is run and as it is foreseen."""

    aliases: frozenset[str]
    node: tree.Node
    network: Node


@dataclass(frozen=True)
class Trial:
    """A random query with a tree for it and what the work costs."""

    streams: dict[str, Source]
    edges: tuple[Edge, ...]
    whole: Part
    costs: ClockCosts


def random_trial(
    rng: np.random.Generator, servers: Servers, method: Method, busy: float, windowed: bool
) -> Trial:
    """Three to five streams and a tree whose busiest server is `busy` for such a part of its time.

    On a shared server the candidates of a hash probe cost nothing: some are of other keys in the
    same bucket, which the model does not know of.
    """
    aliases = ALIASES[: rng.integers(3, 6 if method == "hash" else 5)]
    streams = {alias: random_stream(rng, method, windowed) for alias in aliases}
    links = [(aliases[rng.integers(n)], alias) for n, alias in enumerate(aliases) if n]
    parts = [Part(frozenset(alias), Leaf(alias), streams[alias]) for alias in aliases]
    edges = []
    for turn, number in enumerate(rng.permutation(len(links))):
        one, other = links[number]
        left, right = (next(p for p in parts if alias in p.aliases) for alias in (one, other))
        is_last = turn == len(links) - 1
        wanted = 10 ** (rng.uniform(4.8, 5.0) if is_last else rng.uniform(3.4, 3.9))
        pairs = free_count(Join(left.network, right.network, 1.0))
        edges.append(Edge(one, other, max(1, min(MOST_VALUES, round(pairs / wanted)))))
        parts = [p for p in parts if p not in (left, right)]
        parts.append(joined(left, right, edges[-1], method))
    most = sum if servers == "shared" else max
    work = busy * SPAN / most(work_of(parts[0].network))
    compares = {"nested": work, "hash": 0.1 * work if servers == "each" else 0.0}[method]
    costs = ClockCosts(inserts=0.6 * work, probes=0.4 * work, compares=compares)
    return Trial(streams, tuple(edges), parts[0], costs)


def random_stream(rng: np.random.Generator, method: Method, windowed: bool) -> Source:
    rate = 10 ** (rng.uniform(1.5, 2.0) if method == "hash" else rng.uniform(0.9, 1.2))
    windows: tuple[dict[str, Any], ...] = (
        {"extent": SPAN * rng.uniform(0.2, 0.7)},
        {"rows": round(rate * SPAN / 3)},
        {},
    )
    window = windows[rng.integers(3)] if windowed else {}
    end = rate * SPAN * rng.uniform(0.4, 0.9) if rng.random() < 0.5 else math.inf
    return Source(rate, round(end) if end < math.inf else end, **window)


def joined(left: Part, right: Part, edge: Edge, method: Method) -> Part:
    return Part(
        left.aliases | right.aliases,
        Branch(left.node, right.node, method),
        Join(
            left.network, right.network, 1 / edge.values, JoinCosts(looks_at_all=method == "nested")
        ),
    )


def free_count(network: Node) -> float:
    """Results of a network by the end of the input if work took no time."""
    return float(curve(network, SPAN, "shared").counts[-1])


def work_of(network: Node) -> list[float]:
    """What each join has to do: arrivals, and comparisons if it looks at all."""
    if not isinstance(network, Join):
        return []
    sides = network.left, network.right
    compared = free_count(network) / network.selectivity if network.costs.looks_at_all else 0.0
    own = sum(map(free_count, sides)) + compared
    return [own, *work_of(network.left), *work_of(network.right)]


def priced(network: Node, costs: ClockCosts) -> Node:
    """The network with the costs of the laboratory's clock."""
    if not isinstance(network, Join):
        return network
    every = network.costs.looks_at_all
    arrival = costs.inserts + (0.0 if every else costs.probes)
    return Join(
        priced(network.left, costs),
        priced(network.right, costs),
        network.selectivity,
        JoinCosts(arrival, arrival, costs.compares, every),
    )


def plan_of(trial: Trial) -> TreeJoin:
    inputs = tuple(
        Input(alias, StreamSource(alias, fields_of(trial, alias), "parquet"), window_of(stream))
        for alias, stream in trial.streams.items()
    )
    equalities = tuple(
        Equality(*(Column(alias, e.column, DataType.BIGINT) for alias in (e.left, e.right)))
        for e in trial.edges
    )
    output = Output("id", Column("A", "id", DataType.BIGINT))
    return TreeJoin(Query(inputs, (output,), equalities), trial.whole.node)


def fields_of(trial: Trial, alias: str) -> tuple[Field, ...]:
    columns = [edge.column for edge in trial.edges if alias in (edge.left, edge.right)]
    return tuple(Field(name, DataType.BIGINT) for name in ("id", *columns))


def window_of(stream: Source) -> Window:
    if stream.rows < math.inf:
        return RowsWindow(int(stream.rows))
    return TimeWindow(round(stream.extent * MICROS)) if stream.extent < math.inf else UNBOUNDED


def random_tuples(rng: np.random.Generator, trial: Trial) -> dict[str, pa.Table]:
    tables = {}
    for alias, stream in trial.streams.items():
        count = round(min(stream.cardinality, stream.rate * SPAN))
        times = (np.arange(count) + rng.random(count)) / stream.rate * MICROS
        columns = {"id": np.arange(count), TS: times.astype(np.int64), ARRIVAL: np.arange(count)}
        for edge in trial.edges:
            if alias in (edge.left, edge.right):
                columns[edge.column] = random_keys(rng, edge.values, count)
        tables[alias] = pa.table(columns)
    return tables


def random_keys(rng: np.random.Generator, values: int, count: int) -> np.ndarray:
    """Keys in random order, each value as often as any other, so that runs differ little."""
    return rng.permutation(rng.permutation(values)[np.arange(count) % values])


def ratios(trial: Trial, found: Curve, servers: Servers, seed: int) -> list[float]:
    """Mean results of ten runs over those predicted, at times with enough of them."""
    plan, clock = plan_of(trial), SimulatedClock(trial.costs, servers=servers)
    runs = [
        run(plan, random_tuples(np.random.default_rng([seed, n]), trial), Eager(), clock=clock)
        for n in range(RUNS)
    ]
    checks = [share * found.total for share in (0.25, 0.5, 0.75, 1.0)]
    times = {count: found.time_of(count) for count in checks if count >= FEWEST}
    return [
        float(np.mean([np.searchsorted(r.produced_at, time * MICROS) for r in runs])) / count
        for count, time in times.items()
        if time is not None
    ]


@pytest.mark.parametrize("windowed", [False, True])
@pytest.mark.parametrize("method", ["hash", "nested"])
@pytest.mark.parametrize("servers", ["each", "shared"])
def test_curves_agree_with_the_laboratory(servers: Servers, method: Method, windowed: bool) -> None:
    for seed, busy in enumerate(BUSY[method]):
        rng = np.random.default_rng([seed, windowed])
        trial = random_trial(rng, servers, method, busy, windowed)
        found = curve(priced(trial.whole.network, trial.costs), SPAN, servers)
        assert found.total >= FEWEST
        measured = ratios(trial, found, servers, seed)
        assert measured
        assert measured == pytest.approx([1.0] * len(measured), abs=0.05)
