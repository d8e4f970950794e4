"""Random queries whose joins dominate: tuples meet many partners, and few results are left.

Reading dominates most of the queries that are drawn at large, so that their plans take nearly as
long on Spark, whatever they are. Here the streams that meet many partners stand first in FROM, as
who knows nothing of rates may write them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from penstock.bench.decisions.drawn import NAMES
from penstock.calibration.workload import MadeStream, Workload

Keys = list[dict[str, int]]
"""The keys of each stream, with their numbers of values."""

RATES = (10_000.0, 40_000.0)
"""Tuples/s of a stream."""
WINDOW = (8_000.0, 16_000.0)
"""Tuples in a window."""
MANY = (60.0, 160.0)
"""Partners that a tuple meets by the key that comes first."""
FEW = (0.01, 0.1)
"""Partners by all other keys."""
_FILLINGS, _BATCHES = 4, 4
"""Windows are filled so often, in so many batches."""


def draw_dominated(rng: Random, size: int) -> Workload:
    """A chain or a star of so many streams, of which the first two meet the most partners."""
    windows = [_between(rng, *WINDOW) for _ in range(size)]
    shape: Callable[[Random, list[float]], Keys] = rng.choice((_chain, _star))
    streams = []
    for name, window, keys in zip(NAMES, windows, shape(rng, windows), strict=False):
        rate = float(f"{_between(rng, *RATES):.4g}")
        streams.append(MadeStream(name, rate=rate, keys=keys, extent=window / rate))
    seconds = _FILLINGS * max(stream.filling for stream in streams)
    return Workload(tuple(streams), seconds, seed=rng.randrange(1 << 30), batches=_BATCHES)


def dominated(seed: int) -> Iterator[Workload]:
    """Such queries without end, of three and four streams in turn: the same for the same seed."""
    number = 0
    while True:
        yield draw_dominated(Random(f"dominated {seed} {number}"), 3 + number % 2)
        number += 1


def _chain(rng: Random, windows: list[float]) -> Keys:
    """Each stream has a key with the next: the first of them is the frequent one."""
    keys: Keys = [{} for _ in windows]
    for link in range(len(windows) - 1):
        values = _values(rng, max(windows[link], windows[link + 1]), is_first=link == 0)
        keys[link][f"k{link}"] = keys[link + 1][f"k{link}"] = values
    return keys


def _star(rng: Random, windows: list[float]) -> Keys:
    """The first stream has a key with each of the others: that with the second is the frequent."""
    keys: Keys = [{} for _ in windows]
    for ray in range(1, len(windows)):
        values = _values(rng, max(windows[0], windows[ray]), is_first=ray == 1)
        keys[0][f"k{ray}"] = keys[ray][f"k{ray}"] = values
    return keys


def _values(rng: Random, window: float, *, is_first: bool) -> int:
    """Values of a key by which a tuple meets so many of a window."""
    return max(1, round(window / _between(rng, *(MANY if is_first else FEW))))


def _between(rng: Random, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(low * (high / low) ** rng.random())
