"""Random cases spread over many batches, and what drop boxes leave of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from penstock.duration import MICROS
from penstock.kernels.drop import keeps
from penstock.plan.drops import DropBoxes
from penstock.query import Input
from reference import Row
from support.plans.meshes import timed
from support.streams.cases import (
    Case,
    arrival,
    matching,
    planted,
    random_case,
    random_view,
    split_up,
)
from support.streams.typed import emptied, typed_case, typed_view

MOST_BATCHES = 9


def any_case(seed: int) -> Case:
    """A join or view of any kind, of plain or the oddest values, over one to nine batches."""
    rng = Random(f"many batches {seed}")
    draw = (random_case, random_view, random_case, random_view, typed_case, typed_view)[seed % 6]
    case = draw(seed)
    if draw in (random_case, random_view) and rng.random() < 0.7:
        # Most queries have filters and windows that all kinds of plans take.
        case = planted(rng, timed(case, rng), matching, most=5)
    elif draw in (typed_case, typed_view) and rng.random() < 0.1:
        case = emptied(rng, case)
    return spread(case, rng)


def spread(case: Case, rng: Random) -> Case:
    """The case in other batches: as many as may be, some of one stream alone, some of none."""
    count = rng.randint(1, MOST_BATCHES)
    batches = {}
    for item in case.query.inputs:
        name = item.source.name
        if name not in batches:
            given = case.batches[item.alias]
            batches[name] = given if item.is_table else _spread(item, given, count, rng)
    return replace(case, batches={i.alias: batches[i.source.name] for i in case.query.inputs})


def _spread(
    item: Input, given: Sequence[Sequence[Row]], count: int, rng: Random
) -> list[list[Row]]:
    """The rows of a stream, most of them in the order of time, in so many batches or fewer."""
    rows = [row for batch in given for row in batch]
    late = item.source.lateness + 3 * MICROS
    delays = {id(row): rng.randrange(2 * late) if rng.random() < 0.2 else 0 for row in rows}
    rows.sort(key=lambda row: row.ts + delays[id(row)])
    # A stream may end long before the others do.
    own = count if rng.random() < 0.8 else rng.randint(1, count)
    pieces = iter(rows)
    return [
        [replace(next(pieces), arrival=arrival(number, place)) for place in range(size)]
        for number, size in enumerate(split_up(rng, len(rows), own))
    ]


def batches_of(case: Case) -> int:
    """How many batches a run over all of a case has."""
    return max(len(case.batches[item.alias]) for item in case.query.streams)


def shed(case: Case, boxes: Sequence[DropBoxes]) -> Case:
    """What is left of a case if these boxes stand before its batches, the last before all later.

    Late tuples are dropped before: they count as late beside tuples that are shed, too.
    """
    batches = {
        item.alias: case.batches[item.alias] if item.is_table else list(_kept(case, item, boxes))
        for item in case.query.inputs
    }
    return replace(case, batches=batches)


def _kept(case: Case, item: Input, boxes: Sequence[DropBoxes]) -> Iterator[list[Row]]:
    highest = -math.inf
    for number, batch in enumerate(case.batches[item.alias]):
        drops = boxes[min(number, len(boxes) - 1)]
        punctual = [row for row in batch if row.ts >= highest - item.source.lateness]
        highest = max([highest, *(row.ts for row in batch)])
        arrivals = np.array([row.arrival for row in punctual], np.int64)
        kept = keeps(drops.seed, item.alias, arrivals, drops.fraction(item.alias))
        yield [row for row, keep in zip(punctual, kept, strict=True) if keep]
