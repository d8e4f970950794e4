"""How selective equal keys are, for every set of inputs, from what is given of some."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import prod

from penstock.figure import Figure
from penstock.query import Expression
from penstock.query.keys import KeyClass
from penstock.stats.statistics import Group

Distinct = Callable[[str, Expression], float | None]
Streams = frozenset[str]
Pairs = dict[str, dict[str, Figure]]

# Of pairs about which nothing is known: join keys have more values than what filters compare with.
DEFAULT_PAIR = 0.01
UNKNOWN_PAIR = f"equal keys {DEFAULT_PAIR}"
UNKNOWN_PARTS = "parts multiplied"
LISTED = 10
"""Up to so many members of a key all their sets (1,013) are listed."""


def group_figures(
    number: int, key: KeyClass, given: Mapping[Group, Figure], distinct: Distinct
) -> Mapping[Streams, Figure]:
    """The fraction of combinations that agree on a key, for each set of two or more members.

    A set that is not given has the product of the best pairs that connect it: with distinct counts
    d₁ ≤ … ≤ dₖ that is 1/(d₂ · … · dₖ), as if the values of one were among those of the next and
    equally frequent. The parts of a key count as independent.
    """
    pairs = [_pairs(number, p, key, given, distinct) for p in range(len(key.types))]
    return _Figures(number, key.streams, given, pairs)


@dataclass(frozen=True, eq=False)
class _Figures(Mapping[Streams, Figure]):
    """The figures of all sets of a key's members, each worked out when it is asked for.

    Of many members only the pairs and the whole are listed: a million sets are too many to go
    through.
    """

    number: int
    streams: tuple[str, ...]
    given: Mapping[Group, Figure]
    pairs: list[Pairs]
    found: dict[Streams, Figure] = field(default_factory=dict)

    def __getitem__(self, streams: Streams) -> Figure:
        if streams not in self.found:
            self.found[streams] = self._figure(streams)
        return self.found[streams]

    def __iter__(self) -> Iterator[Streams]:
        count = len(self.streams)
        sizes = range(2, count + 1) if count <= LISTED else sorted({2, count})
        for size in sizes:
            yield from map(frozenset, combinations(self.streams, size))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _figure(self, streams: Streams) -> Figure:
        if len(streams) < 2 or not streams <= set(self.streams):
            raise KeyError(streams)
        parts = range(len(self.pairs))
        whole = self.given.get(Group(self.number, tuple(parts), streams))
        return whole or _product(
            [
                self.given.get(Group(self.number, (p,), streams)) or _tree(streams, self.pairs[p])
                for p in parts
            ]
        )


def _product(parts: list[Figure]) -> Figure:
    if len(parts) == 1:
        return parts[0]
    return Figure(prod(part.value for part in parts), "guessed", rule=UNKNOWN_PARTS)


def _tree(streams: Streams, pairs: Pairs) -> Figure:
    """The product of the pairs in the spanning tree where it is greatest (Prim's algorithm)."""
    first, *rest = sorted(streams)
    best = {alias: pairs[first][alias] for alias in rest}
    if len(best) == 1:
        return best[rest[0]]
    taken = []
    while best:
        nearest = max(best, key=lambda alias: best[alias].value)
        taken.append(best.pop(nearest))
        others = pairs[nearest]
        for alias, figure in best.items():
            if others[alias].value > figure.value:
                best[alias] = others[alias]
    rules = {figure.rule for figure in taken}
    rule = rules.pop() if len(rules) == 1 else None
    value = prod(figure.value for figure in taken)
    return Figure(value, "guessed", rule=rule or "pairs multiplied")


def _pairs(
    number: int, part: int, key: KeyClass, given: Mapping[Group, Figure], distinct: Distinct
) -> Pairs:
    """A figure for every pair on one part of a key."""
    counts = {alias: distinct(alias, key.parts(alias)[part]) for alias in key.streams}
    known = {
        group.streams: figure
        for group, figure in given.items()
        if group.key == number and group.parts == (part,)
    }
    pairs: Pairs = {alias: {} for alias in key.streams}
    for one, other in combinations(key.streams, 2):
        figure = known.get(frozenset((one, other))) or _guess(one, other, counts, known)
        pairs[one][other] = pairs[other][one] = figure
    return pairs


def _guess(
    one: str,
    other: str,
    counts: Mapping[str, float | None],
    known: Mapping[Streams, Figure],
) -> Figure:
    both = [count for alias in (one, other) if (count := counts[alias]) is not None]
    if len(both) == 2:
        return Figure(1 / max(both), "guessed", rule="1/distinct")
    larger = [
        f.value ** (1 / (len(group) - 1)) for group, f in known.items() if {one, other} < group
    ]
    if larger:
        return Figure(max(larger), "guessed", rule="root of a larger group")
    path = _path(one, other, {g: f.value for g, f in known.items() if len(g) == 2})
    if path:
        value = prod(path) ** (1 / len(path))
        return Figure(value, "guessed", rule="geometric mean of the pairs between")
    if both:
        return Figure(1 / both[0], "guessed", rule="1/distinct of one side")
    return Figure(DEFAULT_PAIR, "guessed", rule=UNKNOWN_PAIR)


def _path(start: str, goal: str, known: Mapping[Streams, float]) -> list[float]:
    """The figures along the shortest way from one input to another over given pairs, if any."""
    ways: deque[tuple[str, list[float]]] = deque([(start, [])])
    seen = {start}
    while ways:
        here, way = ways.popleft()
        if here == goal:
            return way
        for pair, value in known.items():
            if here in pair and not pair <= seen:
                (other,) = pair - {here}
                seen.add(other)
                ways.append((other, [*way, value]))
    return []
