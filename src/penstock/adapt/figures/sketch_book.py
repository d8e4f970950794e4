"""The sketches of all inputs over the latest batches, joined with each other."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

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


class SketchBook:
    """Sums of sketches in which older batches count less, and the latest batches one by one.

    How they overlap is looked at in every few batches only: that takes longer than all the rest.
    """

    def __init__(self, classes: tuple[KeyClass, ...], settings: Settings):
        self._classes = classes
        self._settings = settings
        self._age = 0
        self._overlaps: dict[Group, Overlap] = {}
        self._sums: dict[Of, Sketch] = {}
        self._added: dict[Of, list[Weighted]] = defaultdict(list)
        self._recent: dict[Of, deque[Weighted]] = defaultdict(
            lambda: deque(maxlen=settings.remembered_batches)
        )

    def take(self, facts: Iterable[Fact], decay: float) -> Mapping[Group, Overlap]:
        """Add a batch; the overlaps of pairs within the latest, if it is time for that."""
        parts: dict[Of, list[Sketch]] = defaultdict(list)
        for fact in facts:
            if isinstance(fact, KeySketch):
                parts[fact.alias, fact.key].append(Sketch.of(fact))
        for of, found in parts.items():
            batch = united(found, self._settings.sketch_keys), decay
            self._recent[of].append(batch)
            self._added[of].append(batch)
        self._age += 1
        every = self._settings.paired_every
        if self._age % every:
            return {}
        latest = {of: self._united([*islice(reversed(self._recent[of]), every)]) for of in parts}
        return dict(sketches_read(self._classes, latest, only_pairs=True))

    def restart(self, group: Group, batches: int) -> None:
        """Forget all but the latest batches of the inputs of a group."""
        for alias in group.streams:
            of = alias, group.key
            self._added[of] = []
            self._sums[of] = _decayed(NOTHING, list(self._recent[of])[-batches:], self._most)
        self._overlaps = {}

    def sums(self) -> Mapping[Of, Sketch]:
        """The sketches of all batches as they count."""
        for of, added in self._added.items():
            if added:
                self._sums[of] = _decayed(self._sums.get(of, NOTHING), added, self._most)
        self._added.clear()
        return self._sums

    def overlaps(self) -> Mapping[Group, Overlap]:
        """The overlaps of all groups, over the batches as they count."""
        if self._age >= self._settings.sketched_every or not self._overlaps:
            self._overlaps, self._age = dict(sketches_read(self._classes, self.sums())), 0
        return self._overlaps

    def overlap(self, group: Group) -> Overlap | None:
        """The overlap of one group."""
        sums = self.sums()
        mine = {alias: sums.get((alias, group.key), NOTHING) for alias in group.streams}
        return overlaps(mine).get(group.streams)

    @property
    def _most(self) -> int:
        return self._settings.sketch_keys

    def _united(self, batches: Sequence[Weighted]) -> Sketch:
        return united((sketch for sketch, _ in batches), self._most)


def _decayed(total: Sketch, batches: Sequence[Weighted], most: int) -> Sketch:
    """The sum with some batches more."""
    parts, weight = [], 1.0
    for sketch, decay in reversed(batches):
        parts.append(sketch if weight == 1.0 else sketch.faded(weight))
        weight *= decay
    return united((total.faded(weight), *reversed(parts)), most)
