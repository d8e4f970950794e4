"""The first rows of each part, against a list that is sorted anew at each tick."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from penstock.kernels.ranking.first_rows import Asked, Events, Ranked, first_rows

Rows = dict[Any, tuple[int, int]]


def drawn(rng: Random) -> tuple[Ranked, Events, np.ndarray[Any, np.dtype[np.bool_]], Asked]:
    """Rows of a few keys that come, become others, move to other parts, and go."""
    size, by_number = rng.randint(0, 40), rng.random() < 0.5
    count = rng.randint(1, 4)
    parts = np.sort(np.array([rng.randrange(count) for _ in range(size)], np.int64))
    keys = np.array([rng.randrange(max(1, size // 3)) for _ in range(size)], np.int64)
    there = np.zeros(size, np.bool_)
    events: list[tuple[int, int, int]] = []
    for key in range(size):
        rows = [int(row) for row in rng.sample(range(size), size) if keys[row] == key]
        now, time = -1, 0
        if rows and rng.random() < 0.5:
            now = rows.pop()
            there[now] = True
        for row in rows:
            time += rng.randint(1, 4)
            if now >= 0 and rng.random() < 0.3:
                events.append((time, -1, now))
                now, time = -1, time + 1
            events.append((time, row, now))
            now = row
    columns = np.array(sorted(events, key=lambda event: event[0]), np.int64).reshape(-1, 3)
    ranked = Ranked(
        parts,
        np.searchsorted(parts, np.arange(count + 1)),
        keys,
        np.array([rng.randrange(5) for _ in range(size)], np.int64),
        np.array([rng.randint(1, 3) if by_number else 1 for _ in range(size)], np.int64),
    )
    asked = Asked(rng.choice((1, 2, 3, 100)), rng.random() < 0.5, by_number)
    return ranked, Events(*(columns[:, n].copy() for n in range(3))), there, asked


def shown(ranked: Ranked, asked: Asked, there: set[int]) -> Rows:
    """The first rows, by what tells them apart, with their numbers."""
    found: Rows = {}
    for part in set(ranked.parts.tolist()):
        mine = [row for row in sorted(there) if ranked.parts[row] == part]
        copies = [row for row in mine for _ in range(ranked.copies[row])]
        for number, row in enumerate(copies[: asked.most], 1):
            key = (part, number) if asked.by_number else int(ranked.keys[row])
            found[key] = (row, number)
    return found


@pytest.mark.parametrize("seed", range(100))
def test_what_changes_among_the_first_rows(seed: int) -> None:
    ranked, events, present, asked = drawn(Random(seed))
    changes, last = first_rows(ranked, events, present, asked)
    there = {int(row) for row in np.flatnonzero(present)}
    before = shown(ranked, asked, there)
    expected: set[tuple[int, int, int, bool]] = set()
    for time in sorted(set(events.times.tolist())):
        at = np.flatnonzero(events.times == time)
        there -= {int(row) for row in events.gone[at]}
        there |= {int(row) for row in events.come[at]} - {-1}
        now = shown(ranked, asked, there)
        for key, (row, number) in now.items():
            was = before.get(key)
            is_same = was is not None and ranked.looks[was[0]] == ranked.looks[row]
            if not is_same or (asked.is_numbered and was is not None and was[1] != number):
                expected.add((time, row, number, True))
        expected |= {(time, *before[key], False) for key in before.keys() - now.keys()}
        before = now
    columns = (changes.times, changes.rows, changes.numbers, changes.is_there)
    told = list(zip(*(column.tolist() for column in columns), strict=True))
    assert set(told) == expected
    assert len(told) == len(expected)
    ends = zip(last.rows.tolist(), last.numbers.tolist(), strict=True)
    assert sorted(ends) == sorted(before.values())
