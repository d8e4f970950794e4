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

_AS_MUCH = 1e-9
"""Work that differs by less is as much."""
_MOST_TRIED = 16
"""In a larger group it is not tried for each query how the others do without it."""


def best_groups(
    sharers: Iterable[Sharer],
    alone: Mapping[str, float],
    kept: Mapping[str, float],
    joined: Joined,
) -> Iterator[SharedJoin]:
    """Groups of queries that do less together than `alone`, in seconds a second by name; `kept` are
    the tuples that each keeps alone.

    First those of one join, and of parts of it; then those of different joins, for which inputs
    that they have in common are kept once.
    """
    choosing, left = _Choosing(alone, kept, joined), list(sharers)
    groups = list(_of_one_join(choosing, left))
    rest = [each for each in left if not any(each in group.sharers for group in groups)]
    yield from choosing.merged(groups, [each for each in rest if not _is_over_queries([each])])


def _of_one_join(choosing: _Choosing, sharers: Iterable[Sharer]) -> Iterator[SharedJoin]:
    """Joins of many inputs come first: those of some of these may be found on the way."""
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
    """What queries do and keep alone, and what they would do together."""

    alone: Mapping[str, float]
    kept: Mapping[str, float]
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

    def merged(self, groups: Sequence[SharedJoin], rest: Sequence[Sharer]) -> Iterator[SharedJoin]:
        """Groups, and queries that are in none, together with others with which they have an input
        in common, where that is better; those with the most work come first."""
        parts = [_Part(tuple(group.sharers), group.work, group.kept, group) for group in groups]
        parts += [_Part((e,), self.alone[e.name], self.kept[e.name]) for e in rest]
        found: list[_Part] = []
        for part in sorted(parts, key=lambda each: -each.work):
            tried = {n: self._both(other, part) for n, other in enumerate(found)}
            better = {n: both for n, both in tried.items() if both is not None}
            if better:
                best = max(better, key=lambda n: found[n].work + part.work - better[n].work)
                found[best] = better[best]
            else:
                found.append(part)
        yield from (part.group for part in found if part.group is not None)

    def _both(self, one: _Part, other: _Part) -> _Part | None:
        """Two parts as one; None if they have nothing in common, or do better apart. Where costs do
        not tell what it takes to keep a tuple, to keep fewer for as much work is better."""
        if one.sources.isdisjoint(other.sources) or one.is_over_queries or other.is_over_queries:
            return None
        sharers = (*one.sharers, *other.sharers)
        group, apart = self.joined(sharers), one.work + other.work
        if group is None or group.work > apart * (1.0 + _AS_MUCH):
            return None
        is_less = group.work < apart * (1.0 - _AS_MUCH) or group.kept < one.kept + other.kept
        return _Part(sharers, group.work, group.kept, group) if is_less else None

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


@dataclass(frozen=True)
class _Part:
    """Queries that share, or one that does not, their work in seconds a second, and the tuples that
    they keep."""

    sharers: tuple[Sharer, ...]
    work: float
    kept: float
    group: SharedJoin | None = None

    @property
    def sources(self) -> frozenset[str]:
        return frozenset(name for each in self.sharers for _, name in each.named.join.inputs)

    @property
    def is_over_queries(self) -> bool:
        return _is_over_queries(self.sharers)


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
