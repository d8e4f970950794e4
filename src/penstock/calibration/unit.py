"""Units of fitting: kinds of costs, and what they usually are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.stats.costs import Costs


@dataclass(frozen=True)
class Unit:
    """Kinds of costs in fixed proportions, which are fitted as one.

    One of it is so many seconds of each kind. `usual` is how many of it there usually are, and
    `least` how many there are at least. Only the proportions of the usual ones count.
    """

    parts: Mapping[str, float]
    usual: float
    least: float = 0.0


# Rounded from calibrations of a machine of 2026 while little else ran.
_LABORATORY = {
    "arrive": 15e-9, "hash": 3e-9, "probe": 16e-9, "compare": 6e-9, "result": 16e-9,
    "keep": 12e-9, "search": 6e-9,
}  # fmt: skip
_BATCHES = {
    "arrive": 200e-9, "probe": 60e-9, "compare": 10e-9, "result": 10e-9, "keep": 100e-9,
    "move": 20e-9, "batch": 3e-3, "round": 3e-3, "fold": 170e-9, "tally": 80e-9,
}  # fmt: skip
_SPARK = {"arrive": 300e-9, "result": 30e-9, "move": 300e-9, "batch": 0.25, "round": 0.15}


def _window(usual: float) -> Unit:
    """A tuple that is put into a window leaves it later: no workload has one without the other.

    The proportions are those of the default costs.
    """
    return Unit({"insert": 2 / 3, "expire": 1 / 3}, usual)


def _single(usual: Mapping[str, float]) -> tuple[Unit, ...]:
    return tuple(Unit({kind: 1.0}, seconds) for kind, seconds in usual.items())


LABORATORY = (_window(15e-9), *_single(_LABORATORY))
"""The costs fitted for the laboratory. Nothing moves there, and there are no batches."""

BATCHES = (_window(100e-9), *_single(_BATCHES))
"""The costs fitted for batches. Keys are hashed once, as tuples arrive."""

_JOINING = ("insert", "expire", "probe", "compare", "keep")
_AGGREGATING = ("fold", "tally")


def spark_units(here: Costs, cores: int) -> tuple[Unit, ...]:
    """The costs fitted for Spark: joining as in one process, folding, tallying, and what Spark adds
    to that.

    A session has too few runs to tell searching, comparing and keeping apart. They are done by the
    same code as in one process, so that their proportions are taken from there. Folding and
    tallying are usually as in one process. All cores together cannot do any of it faster than that
    many times.
    """
    joining = {kind: getattr(here, kind) for kind in _JOINING}
    aggregating = (Unit({k: getattr(here, k)}, 1.0, least=1 / cores) for k in _AGGREGATING)
    return (Unit(joining, 1.0, least=1 / cores), *aggregating, *_single(_SPARK))
