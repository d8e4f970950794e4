"""Random queries for judging decisions: the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Literal, get_args

from penstock.calibration.workload import MadeStream, Workload

Shape = Literal["one key", "chain", "star", "mixed"]
Keys = list[set[str]]

NAMES = "ABCDE"
RATES = (20.0, 2_000.0)
"""Tuples/s: two decades."""
VALUES = (2, 2_000)
"""Values of a key: join selectivities over three decades."""
WINDOW = (3.0, 300.0)
"""Tuples in a window: two decades."""
PASSING = (0.1, 0.9)
# Some of the streams have a filter or a ROWS window, some keys that not all others have too.
_FILTERED, _BY_ROWS, _FOREIGN = 0.25, 0.2, 0.3
_FOREIGN_FACTORS = (2, 8)


def draw(rng: Random, size: int) -> Workload:
    """A query over so many streams."""
    shape: Shape = rng.choice(get_args(Shape))
    keys = _SHAPES[shape](rng, size)
    values = {key: round(_spread(rng, *VALUES)) for key in sorted(set().union(*keys))}
    streams = [_stream(rng, name, own, values) for name, own in zip(NAMES, keys, strict=False)]
    rng.shuffle(streams)
    named = zip(NAMES, streams, strict=False)
    return Workload(tuple(replace(s, name=n) for n, s in named), 1.0, seed=rng.randrange(1 << 30))


def _stream(rng: Random, name: str, own: set[str], values: dict[str, int]) -> MadeStream:
    rate, tuples = _spread(rng, *RATES), _spread(rng, *WINDOW)
    factor = rng.choice(_FOREIGN_FACTORS) if rng.random() < _FOREIGN else 1
    return MadeStream(
        name,
        rate=float(f"{rate:.4g}"),
        keys={key: values[key] * factor for key in sorted(own)},
        extent=tuples / rate,
        rows=round(tuples) if rng.random() < _BY_ROWS else None,
        passing=round(rng.uniform(*PASSING), 2) if rng.random() < _FILTERED else 1.0,
    )


def _spread(rng: Random, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(low * (high / low) ** rng.random())


def _one_key(rng: Random, size: int) -> Keys:
    return [{"a"} for _ in range(size)]


def _chain(rng: Random, size: int) -> Keys:
    return [{f"k{link}" for link in (i, i + 1) if 0 < link < size} for i in range(size)]


def _star(rng: Random, size: int) -> Keys:
    rays = [f"k{i}" for i in range(1, size)]
    return [set(rays), *({ray} for ray in rays)]


def _mixed(rng: Random, size: int) -> Keys:
    """Every stream is linked to an earlier one, by a key that this one has or by a new one."""
    keys: Keys = [set()]
    for i in range(1, size):
        other = rng.choice(keys)
        key = rng.choice([*sorted(other), f"k{i}"])
        other.add(key)
        keys.append({key})
    return keys


_SHAPES: dict[Shape, Callable[[Random, int], Keys]] = {
    "one key": _one_key,
    "chain": _chain,
    "star": _star,
    "mixed": _mixed,
}
