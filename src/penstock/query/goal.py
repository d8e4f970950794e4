"""Goals: what a plan is to be good at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Steady:
    """Keep up at the least cost; where no plan does, lose the fewest results (A&N)."""

    def __str__(self) -> str:
        return "steady"


@dataclass(frozen=True)
class First:
    """Have the first so many results as soon as possible (V&N).

    Where a `share` of all results is wanted, the planner works out how many that is.
    """

    results: int
    share: float | None = None

    def __str__(self) -> str:
        if self.share is None:
            return f"first:{self.results}"
        return "first:all" if self.share == 1.0 else f"first:{self.share * 100:g}%"


@dataclass(frozen=True)
class By:
    """Have the most results so many seconds after the start (V&N)."""

    seconds: float

    def __str__(self) -> str:
        return f"by:{self.seconds:g}s"


Goal = Steady | First | By

STEADY = Steady()
