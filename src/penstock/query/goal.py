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
    """Have the first so many results as soon as possible (V&N)."""

    results: int

    def __str__(self) -> str:
        return f"first:{self.results}"


@dataclass(frozen=True)
class By:
    """Have the most results so many seconds after the start (V&N)."""

    seconds: float

    def __str__(self) -> str:
        return f"by:{self.seconds:g}s"


Goal = Steady | First | By

STEADY = Steady()
