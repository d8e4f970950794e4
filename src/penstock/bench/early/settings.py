"""Settings in each of which another plan of an aggregation join is the best (T&L Fig. 10)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from penstock.calibration.workload import MadeStream, Theta, Workload
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.query import Query

Join = Literal["hash", "nested"]

KEY = "k"


@dataclass(frozen=True)
class Setting:
    """Two streams, and which plan is the best for them: `winner`, as T&L call it, because `why`.

    They are joined on equal keys, or by a predicate over their keys that takes nested loops.
    """

    join: Join
    winner: str
    why: str
    workload: Workload

    def shorter(self, factor: float) -> Setting:
        """The same for a part of the time, in as many fewer batches."""
        seconds = max(1, round(factor * self.workload.seconds))
        return replace(self, workload=_lasting(self.workload, seconds))


def plans_of(query: Query) -> dict[str, Plan]:
    """The late plan of two streams and the three early ones: LAP, EAP01, EAP10 and EAP11."""
    late = default_plan(query)
    plans: dict[str, Plan] = {}
    for bits in product((False, True), repeat=len(query.aliases)):
        early = tuple(alias for alias, bit in zip(query.aliases, bits, strict=True) if bit)
        name = "EAP" + "".join(str(int(bit)) for bit in bits) if early else "LAP"
        plans[name] = replace(late, early=early)
    return plans


def _hash(
    winner: str, why: str, rate: float, keys: int, groups: tuple[int, int], seconds: int
) -> Setting:
    """Two streams of one rate with as many keys, joined where they are equal."""
    streams = tuple(
        MadeStream(name, rate, {KEY: keys}, groups=own)
        for name, own in zip("AB", groups, strict=True)
    )
    return Setting("hash", winner, why, _lasting(Workload(streams, 1.0, every=1.0), seconds))


def _nested(
    winner: str,
    why: str,
    rates: tuple[float, float],
    keys: tuple[int, int],
    seconds: int,
    groups: int = 1,
    extent: float = 1.0,
    every: float = 1.0,
    theta: Theta | None = None,
) -> Setting:
    """Two streams joined where their keys differ, as nearly all do, or by another predicate."""
    streams = tuple(
        MadeStream(name, rate, {KEY: count}, extent, groups=groups)
        for name, rate, count in zip("AB", rates, keys, strict=True)
    )
    differ = Theta(f"A.{KEY} <> B.{KEY}", 1.0 - 1.0 / max(keys))
    made = Workload(streams, 1.0, theta=theta or differ, every=every)
    return Setting("nested", winner, why, _lasting(made, seconds))


def _lasting(workload: Workload, seconds: int) -> Workload:
    """In batches of a second, as the planner takes them to be."""
    return replace(workload, seconds=float(seconds), batches=seconds)


_NO_FOLD = "hardly a key comes twice, and few tuples match"
_FEW = "windows have twenty tuples, two of a tick; hardly any are alike, and few match"
_A_FOLDS = "A has a row a key and tick; B has nearly as many rows as tuples"
_B_FOLDS = "B has a row a key and tick; A has nearly as many rows as tuples"
_BOTH_FOLD = "a folded stream still meets every tuple of the other, unless that folds too"
_MANY = 1_000_000
_NEAR = Theta(f"abs(A.{KEY} - B.{KEY}) <= 500", 0.001)

SETTINGS = (
    _hash("LAP", _NO_FOLD, 20_000, 100_000, (1, 1), 6),
    _hash("EAP10", _A_FOLDS, 20_000, 200, (1, 1_500), 4),
    _hash("EAP01", _B_FOLDS, 20_000, 200, (1_500, 1), 4),
    _hash("EAP11", _BOTH_FOLD, 5_000, 10, (20, 20), 6),
    _nested(
        "LAP",
        _FEW,
        rates=(20_000, 20_000),
        keys=(_MANY, _MANY),
        seconds=6,
        extent=0.001,
        every=0.0001,
        theta=_NEAR,
    ),
    _nested("EAP10", _A_FOLDS, (200, 20_000), (4, _MANY), 4),
    _nested("EAP01", _B_FOLDS, (20_000, 200), (_MANY, 4), 4),
    _nested("EAP11", _BOTH_FOLD, (2_000, 2_000), (4, 4), 4, groups=10),
)
"""The fewer groups and keys a stream has for its tuples between two evaluations, the better it
folds."""
