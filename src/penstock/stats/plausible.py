"""Which costs a machine can have: what a calibration must contain, and within what bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from penstock.engines import EngineName
from penstock.stats.costs import Costs

_TUPLE = ("insert", "expire", "probe", "compare", "arrive", "result", "keep")

NEEDED: Mapping[EngineName, tuple[str, ...]] = {
    "laboratory": (*_TUPLE, "hash", "search"),
    "local": (*_TUPLE, "move", "fold", "tally", "batch", "round"),
    "spark": (*_TUPLE, "move", "fold", "tally", "batch", "round"),
}
"""The kinds of work that each engine does, none of which is for nothing."""

OPTIONAL: Mapping[EngineName, tuple[str, ...]] = {
    "laboratory": ("classify",),
    "local": ("route", "classify"),
    "spark": ("route", "classify"),
}
"""Those that calibrations of earlier versions do not have."""

STARTS = ("batch", "round", "route")

# A core needs a quarter of a nanosecond for a cycle, and the leanest work here takes some cycles;
# this leaves room for vector instructions and for the many cores of a session together. The slowest
# that was ever measured for a tuple is two microseconds: a millisecond is no work but waiting.
LEAST_FOR_A_TUPLE, MOST_FOR_A_TUPLE = 1e-10, 1e-3
# In one process a batch starts within milliseconds, on Spark within half a second.
LEAST_FOR_A_START, MOST_FOR_A_START = 1e-6, 60.0


def bounds_of(kind: str) -> tuple[float, float]:
    """The least and the most seconds that are plausible for one piece of a kind of work."""
    if kind in STARTS:
        return LEAST_FOR_A_START, MOST_FOR_A_START
    return LEAST_FOR_A_TUPLE, MOST_FOR_A_TUPLE


def faults_of(engine: EngineName, costs: Costs) -> Iterator[str]:
    """The costs that no machine can have or that are missing; none if they can be planned with."""
    for kind in (*NEEDED[engine], *OPTIONAL[engine]):
        seconds = getattr(costs, kind)
        if seconds is None and kind in OPTIONAL[engine]:
            continue
        if not seconds:
            yield f"{kind} has no cost"
            continue
        least, most = bounds_of(kind)
        if not math.isfinite(seconds) or not least <= seconds <= most:
            yield f"{kind} = {seconds:.3g} s, and {least:g} to {most:g} s are plausible"
