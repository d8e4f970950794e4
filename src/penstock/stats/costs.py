"""The seconds that a machine needs for one tuple, by the kind of work."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.figure import Figure, Origin

GUESSED_FOLD, GUESSED_TALLY = 1e-7, 5e-8
"""Seconds to fold a tuple and to tally a join result where that was not measured.

Results are of fewer groups, which are found faster.
"""

GUESSED_ROUTE, GUESSED_CLASSIFY = 1e-4, 6e-9
"""Seconds for a route of a mesh in a batch, and for a test of its classifier, likewise.

Rounded from calibrations of a machine of 2026. Of a test some nanoseconds are for the test, some
to fetch the column.
"""


@dataclass(frozen=True)
class Costs:
    """Seconds for one piece of each kind of work.

    Where `join` is given, the other parts of a join count for nothing.
    """

    origin: Origin

    join: float | None = None
    """All that a join does with one arriving tuple (A&N's symmetric cost)."""

    insert: float = 0.0
    """Insert a tuple into a window."""

    probe: float = 0.0
    """Probe a window, by key or not."""

    expire: float = 0.0
    """Take a tuple out of a window."""

    move: float = 0.0
    """Move a tuple to the next operator."""

    hash: float = 0.0
    """Hash a key."""

    compare: float = 0.0
    """Compare with one tuple: of a loop over a window, or one candidate that a probe found."""

    arrive: float = 0.0
    """Receive a tuple, whatever the plan."""

    result: float = 0.0
    """Hand over a result, whatever the plan."""

    fold: float | None = None
    """Find a tuple's row of an aggregation set and add it there, before a join; guessed if None."""

    tally: float | None = None
    """Add a row of the join to its group of a view; guessed if None."""

    keep: float = 0.0
    """Keep an inner result of a tree, beyond `insert` and `expire`: it dies out of order."""

    search: float = 0.0
    """Set out on a multi-way plan's probes, once a tuple."""

    batch: float = 0.0
    """Start a batch or re-execution, however little is in it."""

    route: float | None = None
    """Slice, send and probe with the tuples of one more route of a mesh in a batch, however few
    they are; guessed if None."""

    classify: float | None = None
    """One test of a classifier on one tuple; guessed if None."""

    round: float = 0.0
    """Start one more round of a batch: what must move waits for the next round."""


@dataclass(frozen=True)
class WindowCosts:
    """Seconds for work at the window of one input, where they are not as `Costs` says (A&N Eq. 7
    and 8)."""

    insert: Figure | None = None
    """Insert a tuple of the input."""

    probe: Figure | None = None
    """Probe the window of the input, by whatever comes from the other side."""

    expire: Figure | None = None
    """Take a tuple of the input out again."""

    @property
    def given(self) -> tuple[tuple[str, Figure], ...]:
        """Those that are given, by their names."""
        named = {"insert": self.insert, "probe": self.probe, "expire": self.expire}
        return tuple((name, figure) for name, figure in named.items() if figure is not None)

    def settling(self, costs: Costs) -> float:
        """Seconds that a tuple takes to come and go, beyond what others do."""
        return _beyond(self.insert, costs.insert) + _beyond(self.expire, costs.expire)

    def probing(self, costs: Costs) -> float:
        """Seconds that a probe takes, beyond what one of other windows does."""
        return _beyond(self.probe, costs.probe)


def _beyond(own: Figure | None, usual: float) -> float:
    return 0.0 if own is None else own.value - usual
