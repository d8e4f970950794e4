"""Steps: half-way two rates are swapped, or one selectivity becomes fifty times as large.

A fast stream, the hub, has a short window and joins others with longer ones. So nearly all work is
the hub's tuples on their way through the windows of the others, and the order of their visits
decides. These windows are a batch long: from the second batch on the new regime is all there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from penstock.bench.drift.keys import Keys, Range, uniform
from penstock.bench.drift.scenario import Flow, Regime, Scenario, Stretch

STEP = 2.0
"""Seconds of a batch, and of all windows but the hub's."""
HUB_WINDOW = 0.2
MANY, ONE = 20.0, 1.0
"""Tuples that one of the hub finds in the window of the faster of a pair, and in one that never
changes. With more of them results would outweigh probes, with fewer reading would."""
SWAP = 100.0
"""How many times as fast as the slow one of a pair the fast one is."""
SHARPER = 50.0
"""How many times as large the selectivity becomes."""

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
    """Batches of the last stretch, and tuples/s of the hub."""

    batches: int = 30
    rate: float = 16_000.0


QUICK = Size(15, 8_000.0)


def steps(size: Size) -> Iterator[Scenario]:
    """Every step: two rates swapped in all shapes, one selectivity in stars of one key."""
    for shape in SHAPES:
        yield swapped_rates(shape, size)
    for streams in (3, 5):
        yield sharper_key(streams, size)


def swapped_rates(shape: Shape, size: Size) -> Scenario:
    """The pair swap their rates, one of which is a hundred times the other."""
    first, second = (rates_of(shape, size.rate, slow, SWAP) for slow in shape.pair)
    return Scenario(
        f"{shape.name}-rates",
        shape.windows,
        shape.equalities,
        (Stretch(first, size.batches), Stretch(second, size.batches)),
        STEP,
    )


def rates_of(shape: Shape, rate: float, slow: str, factor: float, many: float = MANY) -> Regime:
    """A regime in which one of the pair is `factor` times slower than the other."""
    fast, aside = rate / 4, rate / 16
    rates = dict.fromkeys(shape.columns, aside) | dict.fromkeys(shape.pair, fast)
    rates |= {shape.hub: rate, slow: fast / factor}
    keys = {"near": uniform(_keys(fast, many)), "far": uniform(_keys(aside, ONE))}
    return {
        name: Flow(rates[name], {column: keys[kind] for column, kind in columns.items()})
        for name, columns in shape.columns.items()
    }


def _keys(rate: float, matches: float) -> int:
    """How many keys there must be for so many matches in a window."""
    return max(round(rate * STEP / matches), 1)


COMMON_KEYS, COMMON_SHARE = 40, 0.002
"""A few keys that all streams have, with that part of their tuples."""
PARTNERS = 170.0
"""Tuples that one of the hub finds in the stream whose keys have its own: so many that those who
find any are few enough for all streams to have some."""
SHARP, EVEN = 1.5, 26.0
"""Tuples that one of the hub finds at first in the window of the stream whose selectivity changes,
and in those of the others: as much of SHARPER times the one as makes both orders equally bad."""


def sharper_key(streams: int, size: Size) -> Scenario:
    """A star on one key; for the hub, equal keys in B become fifty times as frequent.

    All others have keys of their own, and hardly a tuple has partners in two of them: what counts
    is whom the hub visits first. The first stretch is twice as long, since more is at stake in a
    batch of the second.
    """
    names = "BCDE"[: streams - 1]
    first, second = (_one_key(names, size.rate, SHARP * factor) for factor in (1.0, SHARPER))
    return Scenario(
        f"star{streams}-selectivity",
        {"S": HUB_WINDOW, **dict.fromkeys(names, STEP)},
        tuple(f"S.k = {name}.k" for name in names),
        (Stretch(first, 2 * size.batches), Stretch(second, size.batches)),
        STEP,
    )


def _one_key(names: str, rate: float, matches: float) -> Regime:
    """A regime in which one of the hub finds so many in B."""
    common, aside = Range(0, COMMON_KEYS, COMMON_SHARE), rate / 8
    keys = _keys(aside, PARTNERS)
    partners = aside * STEP * (1.0 - COMMON_SHARE) / keys
    hub, spokes, first = [common], dict[str, Flow](), COMMON_KEYS
    for name in names:
        own = Range(first, first + keys, 1.0 - COMMON_SHARE)
        spokes[name] = Flow(aside, {"k": Keys((common, own))})
        share = (matches if name == "B" else EVEN) / partners
        hub.append(Range(own.first, own.end, share))
        first = own.end
    rest = 1.0 - sum(each.share for each in hub)
    hub.append(Range(first, 100 * first, rest))
    return {"S": Flow(rate, {"k": Keys(tuple(hub))}), **spokes}
