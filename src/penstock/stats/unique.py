"""Unique keys: a combination finds at most one partner among the tuples of an input with one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from penstock.figure import Figure, Origin
from penstock.query import Column, RowsWindow
from penstock.query.keys import KeyClass, key_classes
from penstock.query.query import Input
from penstock.query.window import UNBOUNDED
from penstock.stats.known import Known
from penstock.stats.statistics import Unique

Streams = frozenset[str]


def unique_windows(known: Known, number: int, sizes: Mapping[str, float]) -> dict[str, float]:
    """The members of a key class whose tuples it tells apart, and how many their windows hold.

    `sizes` are the tuples in the windows of all inputs, before filters.
    """
    key, figures = key_classes(known.query)[number], known.groups[number]
    found = {}
    for alias in key.streams:
        told, item = _told(known, key, alias), known.query.input(alias)
        if told is None:
            continue
        pairs = (figures.get(frozenset((alias, other))) for other in key.streams if other != alias)
        if not any(pair is not None and _stands(pair, told, item) for pair in pairs):
            found[alias] = sizes[alias]
    return {alias: size for alias, size in found.items() if size > 1.0}


def with_partners(
    figures: Mapping[Streams, Figure], windows: Mapping[str, float]
) -> Mapping[Streams, Figure]:
    """The figures of a key, none of which says that a tuple has several partners in a window where
    its key is unique."""
    return _OnePartner(figures, windows) if windows else figures


@dataclass(frozen=True, eq=False)
class _OnePartner(Mapping[Streams, Figure]):
    """Figures that are no larger than unique keys allow: `F(S) ≤ F(S∖u) / W(u)`.

    Of several inputs with unique keys the largest window counts first, so that no set is equal more
    often than a part of it.
    """

    given: Mapping[Streams, Figure]
    windows: Mapping[str, float]
    found: dict[Streams, Figure] = field(default_factory=dict)

    def __getitem__(self, streams: Streams) -> Figure:
        if streams not in self.found:
            self.found[streams] = self._figure(streams)
        return self.found[streams]

    def __iter__(self) -> Iterator[Streams]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)

    def _figure(self, streams: Streams) -> Figure:
        given = self.given[streams]
        unique = streams & self.windows.keys()
        if not unique:
            return given
        largest = max(unique, key=lambda alias: (self.windows[alias], alias))
        others = streams - {largest}
        most = (self[others].value if len(others) > 1 else 1.0) / self.windows[largest]
        if given.value <= most:
            return given
        rule = f"one partner at most, {given.origin} {given.value:.3g}"
        return Figure(most, "guessed" if given.is_guess else "derived", rule=rule)


def _told(known: Known, key: KeyClass, alias: str) -> Origin | None:
    """Who says that a key tells the tuples of an input apart; None if nobody does."""
    columns = {part.name for part in key.parts(alias) if isinstance(part, Column)}
    keys = {**known.unique.get(alias, {}), **_kept_by(known, known.query.input(alias))}
    origins = [origin for unique, origin in keys.items() if columns.issuperset(unique)]
    return "declared" if "declared" in origins else next(iter(origins), None)


def _kept_by(known: Known, item: Input) -> Unique:
    """The key of a view or table that is met as it is: a row for each, as many as are known."""
    window = item.window
    if not item.is_relation or not isinstance(window, RowsWindow):
        return {}
    is_counted = known.distinct.get(item.alias, {}).keys() >= set(window.partition_by)
    return {window.partition_by: "declared"} if is_counted else {}


def _stands(pair: Figure, told: Origin, item: Input) -> bool:
    """Whether what is said of a pair counts more than that the key of one of them is unique.

    What was measured does, but in a window that grows on: there it was of fewer tuples.
    """
    if pair.origin == "measured":
        return item.window != UNBOUNDED
    return pair.origin == "declared" and told != "declared"
