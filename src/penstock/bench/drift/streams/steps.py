"""Steps: half-way two rates are swapped, or one selectivity becomes fifty times as large.

A fast stream, the hub, has a short window and joins others with longer ones. So nearly all work is
the hub's tuples on their way through the windows of the others, and the order of their visits
decides. Of the many that they meet in the two streams that change, a predicate leaves few, so that
results weigh little. Windows are a batch long: from the second batch on there is only the new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from penstock.bench.drift.streams.keys import Keys, uniform
from penstock.bench.drift.streams.scenario import Flow, Regime, Scenario, Stretch

STEP = 2.0
"""Seconds of a batch, and of all windows but the hub's."""
HUB_WINDOW = 0.2
MANY, ONE = 200.0, 1.0
"""Tuples that one of the hub finds in the window of the faster of a pair, and in those of others.
With fewer, reading would outweigh the probes."""
SWAP = 100.0
"""How many times as fast as the slow one of a pair the fast one is."""
SHARPER = 50.0
"""How many times as large the selectivity becomes."""

LOW, HIGH = 20, 2_000
"""The hub's `u` is below the one, `v` of the pair below the other, so that few pass `v < u`."""
SHARP_HIGH = 200_000
"""The same for `v` where there are more matches to pass."""

KeySet = Literal["near", "far"]
"""Keys that the hub shares with the pair, and those of all other joins."""


@dataclass(frozen=True)
class Shape:
    """A join in which the rates of a `pair` of streams change, with the keys of all columns."""

    name: str
    hub: str
    pair: tuple[str, str]
    columns: Mapping[str, Mapping[str, KeySet]]
    equalities: tuple[str, ...]

    def predicates(self, high: int) -> dict[str, float]:
        """The predicate on the hub and each of the pair, with the part that it lets through."""
        return {f"{name}.v < {self.hub}.u": (LOW - 1) / 2 / high for name in self.pair}

    @property
    def windows(self) -> dict[str, float]:
        return {name: HUB_WINDOW if name == self.hub else STEP for name in self.columns}


STAR3 = Shape(
    "star3",
    "S",
    ("B", "C"),
    {"S": {"b": "near", "c": "near"}, "B": {"k": "near"}, "C": {"k": "near"}},
    ("S.b = B.k", "S.c = C.k"),
)
STAR5 = Shape(
    "star5",
    "S",
    ("B", "C"),
    {
        "S": {"b": "near", "c": "near", "d": "far", "e": "far"},
        "B": {"k": "near"},
        "C": {"k": "near"},
        "D": {"k": "far"},
        "E": {"k": "far"},
    },
    ("S.b = B.k", "S.c = C.k", "S.d = D.k", "S.e = E.k"),
)
CHAIN3 = Shape(
    "chain3",
    "B",
    ("A", "C"),
    {"A": {"x": "near"}, "B": {"x": "near", "y": "near"}, "C": {"y": "near"}},
    ("A.x = B.x", "B.y = C.y"),
)
CHAIN5 = Shape(
    "chain5",
    "C",
    ("B", "D"),
    {
        "A": {"x": "far"},
        "B": {"x": "far", "y": "near"},
        "C": {"y": "near", "z": "near"},
        "D": {"z": "near", "u": "far"},
        "E": {"u": "far"},
    },
    ("A.x = B.x", "B.y = C.y", "C.z = D.z", "D.u = E.u"),
)
SHAPES = (STAR3, STAR5, CHAIN3, CHAIN5)


@dataclass(frozen=True)
class Size:
    """Batches of the last stretch, tuples/s of the hub, the joins whose rates are swapped; and both
    where a selectivity changes.

    With fewer tuples a batch would take its time to start rather than to join; with fewer batches
    the one or two with the wrong plan would be all that counts.
    """

    batches: int = 30
    rate: float = 12_000.0
    shapes: tuple[Shape, ...] = SHAPES
    sharp_batches: int = 20
    sharp_rate: float = 4_000.0


QUICK = Size(18, 12_000.0, (STAR3, CHAIN5), 10, 2_500.0)


def steps(size: Size) -> Iterator[Scenario]:
    """Every step: two rates swapped in all shapes, and one selectivity."""
    for shape in size.shapes:
        yield swapped_rates(shape, size)
    yield sharper_key(STAR3, size)


def swapped_rates(shape: Shape, size: Size) -> Scenario:
    """The pair swap their rates, one of which is a hundred times the other."""
    first, second = (rates_of(shape, size.rate, slow, SWAP) for slow in shape.pair)
    return scenario_of(
        f"{shape.name}-rates", shape, (Stretch(first, size.batches), Stretch(second, size.batches))
    )


def rates_of(shape: Shape, rate: float, slow: str, factor: float, many: float = MANY) -> Regime:
    """A regime in which one of the pair is `factor` times slower than the other."""
    fast, aside = rate / 4, rate / 16
    rates = dict.fromkeys(shape.columns, aside) | dict.fromkeys(shape.pair, fast)
    rates |= {shape.hub: rate, slow: fast / factor}
    return {
        name: Flow(rates[name], _columns(shape, name, _keys(fast, many), _keys(aside, ONE)))
        for name in shape.columns
    }


def scenario_of(
    name: str,
    shape: Shape,
    stretches: tuple[Stretch, ...],
    seed: int = 1,
    turns: tuple[int, ...] | None = None,
    step: float = STEP,
    high: int = HIGH,
) -> Scenario:
    """The streams of a shape, stretch after stretch."""
    joins, passing = shape.equalities, shape.predicates(high)
    return Scenario(name, shape.windows, joins, passing, stretches, step, seed, turns)


def _columns(shape: Shape, name: str, near: int, far: int) -> dict[str, Keys]:
    keys = {"near": uniform(near), "far": uniform(far)}
    columns = {column: keys[kind] for column, kind in shape.columns[name].items()}
    if name == shape.hub:
        columns["u"] = uniform(LOW)
    if name in shape.pair:
        columns["v"] = uniform(HIGH)
    return columns


def _keys(rate: float, matches: float) -> int:
    """How many keys there must be for so many matches in a window."""
    return max(round(rate * STEP / matches), 1)


SHARP, EVEN = 2_400.0, 600.0
"""Tuples that one of the hub finds in the first of the pair after its selectivity has changed, and
in the second one all along: so that nobody who visits one of them first is well off."""
LONGER = 4
"""How many times as long the first stretch is: more is at stake in a batch of the second."""


def sharper_key(shape: Shape, size: Size) -> Scenario:
    """For the hub, equal keys in the first of the pair become fifty times as frequent."""
    spreads = (round(SHARPER), 1)
    before, after = (_sharp(shape, size.sharp_rate, spread) for spread in spreads)
    batches = size.sharp_batches
    stretches = (Stretch(before, LONGER * batches), Stretch(after, batches))
    return scenario_of(f"{shape.name}-selectivity", shape, stretches, high=SHARP_HIGH)


def _sharp(shape: Shape, rate: float, spread: int) -> Regime:
    """A regime in which the hub has `spread` times as many keys as the first of the pair."""
    (first, second), fast = shape.pair, rate
    keys = {first: uniform(_keys(fast, SHARP)), second: uniform(_keys(fast, EVEN))}
    mine, other = shape.columns[shape.hub]
    hub = {mine: uniform(_keys(fast, SHARP) * spread), other: keys[second], "u": uniform(LOW)}
    regime = {
        name: Flow(
            fast, dict.fromkeys(shape.columns[name], keys[name]) | {"v": uniform(SHARP_HIGH)}
        )
        for name in shape.pair
    }
    regime[shape.hub] = Flow(rate, hub)
    return {name: regime[name] for name in shape.columns}
