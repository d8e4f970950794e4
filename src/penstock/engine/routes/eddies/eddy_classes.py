"""Classes of tuples by one attribute: stretches of numbers, or the most frequent texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.routes.classifying import as_numbers, is_text
from penstock.plan.mesh import Fork, Goes, Split

CLASSES = 4
"""Classes of an attribute at most: each is sent and probed by itself."""


@dataclass(frozen=True)
class Classes:
    """Upper limits of all classes of numbers but the last, or the texts of all classes but that of
    the others."""

    limits: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return 1 + len(self.limits) + len(self.texts)

    def fork(self, attribute: str) -> Fork:
        """The classifier that gives each class the route of its number."""
        fork: Fork = Goes(self.count - 1)
        for number in reversed(range(self.count - 1)):
            if self.texts:
                fork = Split(attribute, None, frozenset({self.texts[number]}), Goes(number), fork)
            else:
                fork = Split(attribute, self.limits[number], frozenset(), Goes(number), fork)
        return fork


def classes_of(sample: pa.RecordBatch) -> dict[str, Classes]:
    """The classes of each attribute that has different values."""
    found = {name: _classes(sample.column(name)) for name in sample.schema.names}
    return {name: classes for name, classes in found.items() if classes.count > 1}


def _classes(column: pa.Array) -> Classes:
    if is_text(column.type):
        counted = pc.value_counts(column.drop_null()).to_pylist()
        ranked = sorted(counted, key=lambda each: (-each["counts"], each["values"]))
        return Classes(texts=tuple(each["values"] for each in ranked[: CLASSES - 1]))
    numbers = as_numbers(column)
    numbers = np.sort(numbers[np.isfinite(numbers)])
    if not len(numbers):
        return Classes()
    cuts = np.unique(numbers[[len(numbers) * i // CLASSES for i in range(1, CLASSES)]])
    return Classes(limits=tuple(cuts[cuts < numbers[-1]].tolist()))
