"""What a machine needs for one tuple."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.figure import Origin

GUESSED_FOLD, GUESSED_TALLY = 1e-7, 5e-8
"""Seconds to fold a tuple and to tally a join result where that was not measured.

Results are of fewer groups, which are found faster.
"""


@dataclass(frozen=True)
class Costs:
    """Seconds for one piece of each kind of work.

    `join` is one figure for all that a join does with one arriving tuple (A&N's symmetric cost);
    where it is given the others count for nothing. Otherwise: `insert` into a window, `expire` from
    it, `hash` a key, `probe` a window (by key or not), `compare` with one tuple looked at (in a
    loop over a window, or one candidate that a probe found), `move` a tuple to the next operator.
    Whatever the plan is, `arrive` is for receiving a tuple and `result` for handing over a result.
    `fold` is for finding a tuple's row of an aggregation set and adding it there, before a join;
    `tally` is for adding a row of the join to its group of a view; both are guessed if not given.
    `keep` is what an inner result of a tree takes beyond a tuple's `insert` and `expire`: it does
    not die in the order in which it came. `search` is for setting out on a multi-way plan's probes,
    once a tuple. `batch` is what starting a batch or re-execution takes, however little is in it,
    and `round` what each of its rounds takes beyond that: what must move waits for the next round.
    """

    origin: Origin
    join: float | None = None
    insert: float = 0.0
    probe: float = 0.0
    expire: float = 0.0
    move: float = 0.0
    hash: float = 0.0
    compare: float = 0.0
    arrive: float = 0.0
    result: float = 0.0
    fold: float | None = None
    tally: float | None = None
    keep: float = 0.0
    search: float = 0.0
    batch: float = 0.0
    round: float = 0.0
