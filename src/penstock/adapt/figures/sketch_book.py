"""The sketches of all inputs over the latest batches, joined with each other."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from penstock.adapt.figures.readings import sketches_read
from penstock.adapt.figures.sketch import NOTHING, Overlap, Sketch, overlaps, united
from penstock.adapt.settings import Settings
from penstock.engine.wire.facts import Fact, KeySketch
from penstock.query.keys import KeyClass
from penstock.stats.statistics import Group

Of = tuple[str, int]
"""An input and a key class."""

Weighted = tuple[Sketch, float]
"""The sketch of a batch, and how much what was before it counts after it."""

Dated = tuple[Weighted, int, int]
"""The same with the numbers of the batch and of the comparison of pairs that it was in."""


class SketchBook:
    """Sums of sketches in which older batches count less, and the latest batches one by one.

    How they overlap is looked at in every few batches only: that takes longer than all the rest.
    """

    def __init__(self, classes: tuple[KeyClass, ...], settings: Settings):
        self._classes = classes
        self._settings = settings
        self._age = 0
        self._number = 0
        self._compared = self._compared_at = 0
        self._is_sparse = False
        self._passed = 1.0
        self._overlaps: dict[Group, Overlap] = {}
        self._sums: dict[Of, Sketch] = {}
        self._repeated: set[Of] = set()
        self._known: dict[Of, tuple[float, float]] = {}
        self._added: dict[Of, list[Weighted]] = defaultdict(list)
        self._recent: dict[Of, deque[Dated]] = defaultdict(
            lambda: deque(maxlen=settings.remembered_batches)
        )

    def take(self, facts: Iterable[Fact], decay: float) -> Mapping[Group, Overlap]:
        """Add a batch; the overlaps of pairs within the latest, if it is time for that.

        Not every batch is sketched: others only let time pass.
        """
        self._age += 1
        self._number += 1
        self._passed *= decay
        parts: dict[Of, list[Sketch]] = defaultdict(list)
        for fact in facts:
            if isinstance(fact, KeySketch):
                parts[fact.alias, fact.key].append(Sketch.of(fact))
        self._is_sparse |= not parts
        if not parts:
            return {}
        for of, found in parts.items():
            batch = united(found, self._settings.sketch_keys), self._passed
            self._count(of, *batch)
            self._recent[of].append((batch, self._number, self._compared + 1))
            self._added[of].append(batch)
        self._passed = 1.0
        return self._pairs(parts)

    def _count(self, of: Of, sketch: Sketch, decay: float) -> None:
        rows, known = self._known.get(of, (0.0, 0.0))
        self._known[of] = (rows * decay + sketch.rows, known * decay + sketch.known)

    def _pairs(self, sketched: Iterable[Of]) -> Mapping[Group, Overlap]:
        """How pairs overlap, after some batches or, where only some are sketched, after each."""
        passed = self._number - self._compared_at
        if passed < self._settings.paired_every and not self._is_sparse:
            return {}
        self._compared, self._compared_at = self._compared + 1, self._number
        latest = {of: united(_sketches(self._latest(of, 1)), self._most) for of in sketched}
        return dict(sketches_read(self._classes, latest, only_pairs=True))

    def restart(self, group: Group, comparisons: int) -> int:
        """Forget all but the latest comparisons of the inputs of a group; the batches left."""
        first = self._number
        for alias in group.streams:
            of = alias, group.key
            kept = _surely_since(self._latest(of, comparisons))
            self._added[of] = []
            self._sums[of] = _decayed(NOTHING, [each for each, _, _ in kept], self._most)
            first = min([first, *(number for _, number, _ in kept)])
        self._overlaps = {}
        return self._number - first + 1

    def sums(self) -> Mapping[Of, Sketch]:
        """The sketches of all batches as they count."""
        for of, added in self._added.items():
            if added:
                self._sums[of] = _decayed(self._sums.get(of, NOTHING), added, self._most)
                if self._sums[of].counts.max(initial=0.0) > 1.0:
                    self._repeated.add(of)
        self._added.clear()
        return self._sums

    def repeated(self) -> frozenset[Of]:
        """The inputs and key classes of which a key was seen twice, in whatever batches."""
        self.sums()
        return frozenset(self._repeated)

    def overlaps(self) -> Mapping[Group, Overlap]:
        """The overlaps of all groups, over the batches as they count."""
        if self._age >= self._settings.sketched_every or not self._overlaps:
            self._overlaps, self._age = dict(sketches_read(self._classes, self.sums())), 0
        return self._overlaps

    def known_share(self, of: Of) -> float:
        """The part of an input's tuples that have no NULL in a key; all, where nobody knows."""
        rows, known = self._known.get(of, (0.0, 0.0))
        return known / rows if known else 1.0

    def overlap(self, group: Group) -> Overlap | None:
        """The overlap of one group."""
        sums = self.sums()
        mine = {alias: sums.get((alias, group.key), NOTHING) for alias in group.streams}
        return overlaps(mine).get(group.streams)

    def _latest(self, of: Of, comparisons: int) -> list[Dated]:
        """The sketches of the latest comparisons."""
        return [each for each in self._recent[of] if each[-1] > self._compared - comparisons]

    @property
    def _most(self) -> int:
        return self._settings.sketch_keys


def _sketches(dated: Iterable[Dated]) -> Iterator[Sketch]:
    return (sketch for (sketch, _), _, _ in dated)


def _surely_since(dated: list[Dated]) -> list[Dated]:
    """Those without the first of the batches that were compared together with others: what has
    changed may have done so in between."""
    together = sum(each[-1] == dated[0][-1] for each in dated) if dated else 1
    return dated[together - 1 :]


def _decayed(total: Sketch, batches: Sequence[Weighted], most: int) -> Sketch:
    """The sum with some batches more."""
    parts, weight = [], 1.0
    for sketch, decay in reversed(batches):
        parts.append(sketch if weight == 1.0 else sketch.faded(weight))
        weight *= decay
    return united((total.faded(weight), *reversed(parts)), most)
