"""Choosing who shares: those of the same join for whom that takes less work than each alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from penstock.optimize.sharing.common_join import Sharer
from penstock.optimize.sharing.same_joins import SameJoin
from penstock.optimize.sharing.shared_work import SharedJoin

Joined = Callable[[Sequence[Sharer]], SharedJoin]
"""The join that some queries have in common, as it would be found."""


def best_groups(
    sharers: Iterable[Sharer], alone: Mapping[str, float], joined: Joined
) -> list[SharedJoin]:
    """Groups of queries that do less together than `alone`, in seconds a second by name."""
    by_join: dict[SameJoin, list[Sharer]] = {}
    for sharer in sharers:
        by_join.setdefault(sharer.named.join, []).append(sharer)
    found = []
    for left in by_join.values():
        while len(left) > 1:
            group = _best(left, alone, joined)
            if group is None:
                break
            found.append(group)
            left = [each for each in left if each not in group.sharers]
    return found


_MOST_TRIED = 16
"""In a larger group it is not tried for each query how the others do without it."""


def _best(
    sharers: Sequence[Sharer], alone: Mapping[str, float], joined: Joined
) -> SharedJoin | None:
    """The queries that are left when all have gone, one after another, that do better alone."""
    best = joined(sharers)
    while 2 < len(best.sharers) <= _MOST_TRIED:
        tried = [
            (each, joined([s for s in best.sharers if s is not each])) for each in best.sharers
        ]
        gone, other = min(tried, key=lambda pair: pair[1].work + alone[pair[0].name])
        if other.work + alone[gone.name] >= best.work:
            break
        best = other
    return best if best.work < sum(alone[each.name] for each in best.sharers) else None
