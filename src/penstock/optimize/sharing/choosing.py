"""Choosing who shares: those of the same join for whom that takes less work than each alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from penstock.optimize.sharing.common_join import Sharer
from penstock.optimize.sharing.same_joins import SameJoin
from penstock.optimize.sharing.shared_work import SharedJoin

Joined = Callable[[Sequence[Sharer]], SharedJoin | None]
"""The join that some queries have in common, as it would be found; None if they have none."""

_MOST_TRIED = 16
"""In a larger group it is not tried for each query how the others do without it."""


def best_groups(
    sharers: Iterable[Sharer], alone: Mapping[str, float], joined: Joined
) -> Iterator[SharedJoin]:
    """Groups of queries that do less together than `alone`, in seconds a second by name.

    Joins of many inputs come first: those of some of these may be found on the way.
    """
    choosing = _Choosing(alone, joined)
    left = list(sharers)
    for join in sorted(_by_join(left), key=lambda each: -len(each.inputs)):
        own = [each for each in left if each.named.join == join]
        while own:
            parts = [s for s in left if s.named.join != join and join.holds(s.named.join)]
            group = choosing.group(own, [] if _is_over_queries(own) else parts)
            if group is None:
                break
            yield group
            own = [each for each in own if each not in group.sharers]
            left = [each for each in left if each not in group.sharers]


@dataclass(frozen=True)
class _Choosing:
    """What queries do alone, and what they would do together."""

    alone: Mapping[str, float]
    joined: Joined

    def group(self, own: Sequence[Sharer], parts: Sequence[Sharer]) -> SharedJoin | None:
        """Queries of one join that do better together, and those of parts of it that do better
        with them than by themselves; None if there are none."""
        best, mine = self._best(own), list(own)
        if best is None:
            # One of them may still do better with those of parts.
            mine = [max(own, key=lambda each: self.alone[each.name])]
        work = self._apart(mine) if best is None else best.work
        mine = mine if best is None else list(best.sharers)
        for some in _by_join(parts).values():
            found, apart = self.joined([*mine, *some]), self._best(some)
            other = self._apart(some) if apart is None else _work(apart)
            if found is not None and found.work < work + other:
                best, mine, work = found, [*mine, *some], found.work
        return best

    def _best(self, sharers: Sequence[Sharer]) -> SharedJoin | None:
        """Queries of one join that are left when all have gone, one after another, that do better
        alone; None if nobody is."""
        left, best = list(sharers), self.joined(sharers)
        while 2 < len(left) <= _MOST_TRIED:
            tried = [(each, self.joined([s for s in left if s is not each])) for each in left]
            gone, other = min(tried, key=lambda pair: _work(pair[1]) + self.alone[pair[0].name])
            if _work(other) + self.alone[gone.name] >= _work(best):
                break
            left, best = [each for each in left if each is not gone], other
        return best if len(left) > 1 and _work(best) < self._apart(left) else None

    def _apart(self, sharers: Sequence[Sharer]) -> float:
        return sum(self.alone[each.name] for each in sharers)


def _by_join(sharers: Iterable[Sharer]) -> dict[SameJoin, list[Sharer]]:
    found: dict[SameJoin, list[Sharer]] = {}
    for each in sharers:
        found.setdefault(each.named.join, []).append(each)
    return found


def _is_over_queries(sharers: Sequence[Sharer]) -> bool:
    """Whether an input is what another query gives, which must not wait for who reads it."""
    return any(item.source.makers for each in sharers for item in each.query.inputs)


def _work(group: SharedJoin | None) -> float:
    return inf if group is None else group.work
