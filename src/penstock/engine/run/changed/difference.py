"""The difference of two queries, and whether the state of the one can be that of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.engine.state.checkpoint import Identity, identity_of
from penstock.query import Query

_FIXED = {
    "format": "the format of the checkpoint",
    "equalities": "the keys of the join, by which the state is placed",
    "outer join": "the outer join, of which some tuples are still to be told",
    "tables that change": "the tables that change",
    "event times": "event times and lateness, by which streams are waited for",
}
"""What must stay the same, in words."""
GROUPS, AGGREGATES, OUTPUTS, HAVING, EVERY = range(5)
"""The places in the description of a view."""


@dataclass(frozen=True)
class Difference:
    """What a query asks otherwise than the one whose state a checkpoint has."""

    old: Identity
    query: Query

    @property
    def new(self) -> Identity:
        return identity_of(self.query, int(self.old["partitions"]))

    def differs(self, part: str) -> bool:
        """Whether a part of what is asked is another."""
        return bool(self.old.get(part) != self.new.get(part))

    # Conditions

    @property
    def added_filters(self) -> tuple[str, ...]:
        """The filters that the state has not been through."""
        return tuple(f for f in self.new["filters"] if f not in self.old["filters"])

    @property
    def removed_filters(self) -> tuple[str, ...]:
        """The filters that have thinned out the state, and are not asked any more."""
        late = self.old.get("late filters", ())
        return tuple(
            f for f in self.old["filters"] if f not in self.new["filters"] and f not in late
        )

    # Windows

    @property
    def shorter(self) -> tuple[str, ...]:
        """The inputs whose windows are others; they hold no more than before."""
        return tuple(a for a, window in self._windows(self.new).items() if window != self._was(a))

    def _windows(self, identity: Identity) -> Mapping[str, Any]:
        found: Mapping[str, Any] = identity.get("windows", {})
        return found

    def _was(self, alias: str) -> Any:
        known = self._windows(self.old)
        return known[alias] if alias in known else self._windows(self.new)[alias]

    def is_longer(self, alias: str) -> bool:
        """Whether a window may hold what the one before it did not."""
        return not holds_no_more(self._windows(self.new)[alias], self._was(alias))

    # Views

    def view(self, part: int) -> tuple[str, str]:
        """A part of the description of a view, as it was and as it is."""
        return str(self.old["view"][part]), str(self.new["view"][part])

    @property
    def is_of_view(self) -> bool:
        return self.query.view is not None

    @property
    def shows_first_rows(self) -> bool:
        """Whether only the first rows of a view are shown, or were."""
        return any(len(identity["view"]) > EVERY + 1 for identity in (self.old, self.new))

    @property
    def asks_other_totals(self) -> bool:
        """Whether a view is other sums over other results of its join."""
        if not self.is_of_view:
            return False
        parts = ("filters", "other predicates", "inputs")
        is_other = self.has_other_ticks or any(self.differs(part) for part in parts)
        return is_other or self.asks_other_aggregates

    @property
    def has_other_ticks(self) -> bool:
        """Whether a view is evaluated at other times."""
        one, other = self.view(EVERY)
        return one != other

    @property
    def asks_other_aggregates(self) -> bool:
        """Whether a view is made of other aggregates, or these have other names."""
        one, other = self.view(AGGREGATES)
        return one != other or self.differs("outputs")

    def words(self) -> Iterator[str]:
        """The difference for users, in a few words each."""
        yield from (f"filter {f}" for f in self.added_filters)
        yield from (f"no filter {f}" for f in self.removed_filters)
        if self.differs("other predicates"):
            yield "other conditions between inputs"
        yield from (f"a shorter window of {alias}" for alias in self.shorter)
        if self.is_of_view and self.asks_other_aggregates:
            yield "other aggregates"
        if self.is_of_view and self.view(HAVING)[0] != self.view(HAVING)[1]:
            yield "another HAVING"
        if self.is_of_view and self.has_other_ticks:
            yield "another EVERY"
        is_other = self.differs("outputs")
        if self.is_of_view:
            one, other = self.view(OUTPUTS)
            is_other = one != other
        if is_other:
            yield "other outputs"


def holds_no_more(new: Any, old: Any) -> bool:
    """Whether a window never holds what another does not, by their measures."""
    if new == old:
        return True
    if new is None or old is None or new.keys() != old.keys():
        return False
    if "count" in new:
        return bool(new["count"] <= old["count"])
    if old["extent"] is None or new["extent"] is None:
        return bool(old["extent"] is None)
    if new["slide"] == old["slide"]:
        return bool(new["extent"] <= old["extent"])
    # The lower end of a window that slides lags by less than a slide.
    return bool(new["extent"] + new["slide"] - 1 <= old["extent"])


def fault_of(difference: Difference) -> str | None:
    """Why no state of the one query can be that of the other, whatever it holds; None if it may."""
    old, new = difference.old, difference.new
    if _without_windows(old["inputs"]) != _without_windows(new["inputs"]):
        return f"the inputs must stay: they were {', '.join(_without_windows(old['inputs']))}"
    for part, what in _FIXED.items():
        if difference.differs(part):
            return f"{what}, must stay"
    if ("view" in old) != ("view" in new):
        had = "had" if "view" in old else "had no"
        return f"it {had} groups or aggregates, and that must stay"
    return _column_fault(old, new) or _window_fault(difference) or _view_fault(difference)


def _without_windows(inputs: list[str]) -> list[str]:
    return [f"{text.partition(' [')[0]} AS {text.rpartition('] AS ')[2]}" for text in inputs]


def _column_fault(old: Identity, new: Identity) -> str | None:
    """A column whose type is another, so that what is kept of it is."""
    for source, columns in new["columns"].items():
        types = dict(column.split(" ", 1) for column in old["columns"].get(source, ()))
        for name, type_ in (column.split(" ", 1) for column in columns):
            if types.get(name, type_) != type_:
                return f"column {name} of {source} was {types[name]}, and that must stay"
    return None


def _window_fault(difference: Difference) -> str | None:
    if "windows" not in difference.old and difference.differs("inputs"):
        return "the windows must stay: an earlier version made the checkpoint"
    longer = [alias for alias in difference.shorter if difference.is_longer(alias)]
    if longer:
        return (
            f"the window of {longer[0]} would hold tuples that the one before it has given up; "
            "windows may become shorter, not longer"
        )
    return None


def _view_fault(difference: Difference) -> str | None:
    if not difference.is_of_view:
        return None
    if difference.shows_first_rows:
        return "the first rows of a view are kept as they were asked for, and all of it must stay"
    groups = _groups(difference.old), _groups(difference.new)
    if groups[0] != groups[1]:
        return f"the groups must stay: they were {', '.join(groups[0]) or 'none'}"
    old, new = (int(every.removesuffix(" us")) for every in difference.view(EVERY))
    if new % old:
        return (
            "EVERY may become a multiple of what it was: of the moments in between, the windows "
            "are not kept"
        )
    return None


def _groups(identity: Identity) -> list[str]:
    """The expressions that a view groups by."""
    pairs = [text.rpartition(" AS ") for text in identity["outputs"]]
    by_name = {name: expression for expression, _, name in pairs}
    names = identity["view"][GROUPS]
    return [by_name[name] for name in names.split(", ")] if names else []
