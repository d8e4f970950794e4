"""Slips of the pen: words that are a letter or two away from a keyword."""

from __future__ import annotations

from collections.abc import Iterable

_SHORT = 3
"""Keywords up to this length are close to many names: only letters that are swapped count."""
_LONG = 6
"""From this length on, two letters may be wrong, but not the first."""


def meant(written: str, words: Iterable[str]) -> str | None:
    """The keyword that a word seems to be, misspelt; None for one that is right, or a name."""
    return next(iter(all_meant(written, words)), None)


def all_meant(written: str, words: Iterable[str]) -> list[str]:
    """All keywords that a word may be, misspelt, the most likely one first."""
    upper = " ".join(written.upper().split())
    slips = [word for word in words if _is_slip(upper, word)]
    return sorted(slips, key=lambda word: (_distance(upper, word), abs(len(word) - len(upper))))


def _is_slip(written: str, word: str) -> bool:
    if written == word or abs(len(written) - len(word)) > 2:
        return False
    if len(word) <= _SHORT and sorted(written) != sorted(word):
        return False
    is_long = len(word) >= _LONG and written[:1] == word[0]
    return _distance(written, word) <= (2 if is_long else 1)


def _distance(one: str, other: str) -> int:
    """Letters to add, drop, change or swap with the next, until one word is the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            least = min(row[-1] + 1, before[j] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                least = min(least, last[j - 2] + 1)
            row.append(least)
    return row[-1]
