"""The predicates of the mesh benchmark: functions that take their time before they tell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled
from penstock.query import DataType, Function

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]

_MULTIPLIER = 0x9E3779B97F4A7C15
"""Any odd number with bits all over: its product mixes all bits of a number into the highest."""
_INVERSE = pow(_MULTIPLIER, -1, 1 << 64)
_HIGHEST = 63
_A_TURN = 2e-9
"""Seconds for a turn of the loop on a core of 3 GHz: six operations, each waiting for the last."""


@dataclass(frozen=True)
class Check:
    """A predicate that tells what is hidden in its argument at `place`, after so many turns."""

    name: str
    place: int
    turns: int

    @property
    def seconds(self) -> float:
        """The seconds that it is declared to take for a tuple."""
        return self.turns * _A_TURN

    @property
    def function(self) -> Function:
        """The predicate as queries call it."""
        call = partial(tell, self.place, self.turns)
        takes, gives = (DataType.BIGINT,), DataType.BOOLEAN
        return Function(self.name, takes, gives, self.seconds, call, is_vectorized=True)


CHECKS = tuple(
    Check(f"check_{letter}", place, micros * 500)
    for place, (letter, micros) in enumerate(
        {"a": 70, "b": 60, "c": 100, "d": 40, "e": 80, "f": 50}.items()
    )
)
"""In the order of the query. Each is sampled on what those before it let through, so the planner's
order depends on it: from this one it finds the best of all 720 for skewed data."""


def hide(verdicts: Bools, noise: NDArray[np.uint64]) -> Int64s:
    """Numbers in which verdicts (a row for each number, a column for each check) are hidden.

    Neither a number's size nor its sign says anything of them. `noise` is random.
    """
    below = np.uint64(_HIGHEST + 1 - verdicts.shape[1])
    bits = np.zeros(len(verdicts), np.uint64)
    for place in range(verdicts.shape[1]):
        bits |= verdicts[:, place].astype(np.uint64) << np.uint64(_HIGHEST - place)
    mixed = bits | (noise & np.uint64((1 << int(below)) - 1))
    return (mixed * np.uint64(_INVERSE)).view(np.int64)


def tell(place: int, turns: int, numbers: pa.Array) -> pa.Array:
    """The verdict that is hidden in numbers at one place; every number takes its turns."""
    return pa.array(_told(numbers.to_numpy(), place, turns))


@compiled
def _told(numbers: Int64s, place: int, turns: int) -> Bools:
    told = np.empty(len(numbers), np.bool_)
    for i in range(len(numbers)):
        number = np.uint64(numbers[i])
        state = number | np.uint64(1)
        for _ in range(turns):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
        hidden = (number * np.uint64(_MULTIPLIER)) >> np.uint64(_HIGHEST - place)
        # Such a state is never 0. The compiler does not know, and so cannot leave the turns out.
        told[i] = state == np.uint64(0) or hidden & np.uint64(1) == np.uint64(1)
    return told
