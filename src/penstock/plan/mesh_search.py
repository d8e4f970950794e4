"""The search for a mesh as a user may choose it: strategy, start, stop, and how rusters are cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Strategy = Literal["opt", "ii", "sa"]
Start = Literal["route", "content", "random", "one", "each"]

STRATEGIES: dict[Strategy, str] = {
    "opt": "all partitions, of at most ten training tuples",
    "ii": "iterative improvement",
    "sa": "simulated annealing",
}
STARTS: dict[Start, str] = {
    "route": "tuples that do best on the same route",
    "content": "tuples that are alike",
    "random": "the best of some random partitions",
    "one": "one route for all",
    "each": "a route for each training tuple",
}


@dataclass(frozen=True)
class Rounds:
    """Stop after so many rounds, each from another start (QM's k)."""

    count: int

    def __str__(self) -> str:
        return f"rounds:{self.count}"


@dataclass(frozen=True)
class Plateau:
    """Stop after the first round that finds nothing better than those before it."""

    def __str__(self) -> str:
        return "plateau"


@dataclass(frozen=True)
class Work:
    """Stop when so many classifiers have been grown for a stream, in however many rounds."""

    trees: int

    def __str__(self) -> str:
        return f"work:{self.trees}"


StopRule = Rounds | Plateau | Work


@dataclass(frozen=True)
class MeshSearch:
    """How a mesh is searched for, and how its tuples are grouped as it runs (QM Table 1).

    `window` is the classification window: so many tuples of a stream are classified at once, by
    default all that are read at once, and 1,000 in the laboratory. `ruster` is the least number of
    tuples in it that go a way of their own; fewer go with the most.
    """

    search: Strategy = "ii"
    start: Start = "route"
    stop: StopRule | None = None
    window: int | None = None
    ruster: int = 1

    def __str__(self) -> str:
        """The text that `parse_mesh_search` reads; what is not chosen is left out."""
        parts = {
            "search": self.search,
            "start": self.start,
            "stop": self.stop,
            "window": self.window,
            "ruster": None if self.ruster == 1 else self.ruster,
        }
        return ", ".join(f"{name}={value}" for name, value in parts.items() if value is not None)


DEFAULT_SEARCH = MeshSearch()
