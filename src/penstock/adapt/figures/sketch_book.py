"""The sketches of all inputs over the latest batches, joined with each other."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

from penstock.adapt.figures.readings import sketches_read
from penstock.adapt.figures.sketch import NOTHING, Overlap, Sketch, overlaps, united
from penstock.adapt.settings import Settings
from penstock.engine.wire.facts import Fact, KeySketch
from penstock.query.keys import KeyClass
from penstock.stats.statistics import Group

Of = tuple[str, int]
"""An input and a key class."""


class SketchBook:
    """Sums of sketches in which older batches count less, and the latest batches one by one.

    How the sums overlap is looked at anew in every few batches: they change slowly.
    """

    def __init__(self, classes: tuple[KeyClass, ...], settings: Settings):
        self._classes = classes
        self._most = settings.sketch_keys
        self._every = settings.sketched_every
        self._age = 0
        self._overlaps: dict[Group, Overlap] = {}
        self.sums: dict[Of, Sketch] = {}
        self._recent: dict[Of, deque[tuple[Sketch, float]]] = defaultdict(
            lambda: deque(maxlen=settings.remembered_batches)
        )

    def take(self, facts: Iterable[Fact], decay: float) -> Mapping[Group, Overlap]:
        """Add a batch; the overlaps within it."""
        parts: dict[Of, list[Sketch]] = defaultdict(list)
        for fact in facts:
            if isinstance(fact, KeySketch):
                parts[fact.alias, fact.key].append(Sketch.of(fact))
        batch = {of: united(found, self._most) for of, found in parts.items()}
        for of, sketch in batch.items():
            self._recent[of].append((sketch, decay))
            self.sums[of] = self._with(self.sums.get(of, NOTHING), sketch, decay)
        self._age += 1
        return dict(sketches_read(self._classes, batch, only_pairs=True))

    def restart(self, group: Group, batches: int) -> None:
        """Forget all but the latest batches of the inputs of a group."""
        for alias in group.streams:
            of = alias, group.key
            total = NOTHING
            kept = list(self._recent[of])[-batches:]
            for sketch, decay in kept:
                total = self._with(total, sketch, decay)
            self.sums[of] = total
        self._overlaps = {}

    def overlaps(self) -> Mapping[Group, Overlap]:
        """The overlaps of all groups, over the batches as they count."""
        if self._age >= self._every or not self._overlaps:
            self._overlaps, self._age = dict(sketches_read(self._classes, self.sums)), 0
        return self._overlaps

    def overlap(self, group: Group) -> Overlap | None:
        """The overlap of one group."""
        mine = {alias: self.sums.get((alias, group.key), NOTHING) for alias in group.streams}
        return overlaps(mine).get(group.streams)

    def _with(self, total: Sketch, sketch: Sketch, decay: float) -> Sketch:
        return united((total.faded(decay), sketch), self._most)
