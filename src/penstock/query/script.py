"""Scripts: queries, some of them over the results of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from penstock.query.query import Query, hidden_group
from penstock.query.source import Field, Source
from penstock.query.types import DataType
from penstock.query.view import CHANGE, TIME

RESULT = "result"
"""The name of a query that the script gives none."""


@dataclass(frozen=True)
class Taking:
    """Whose combinations a query takes, instead of finding them itself: those of a member that has
    the same join over windows as long or longer, with filters that let at least as much pass."""

    maker: str
    """The name of that member."""

    aliases: tuple[tuple[str, str], ...]
    """What the maker calls the inputs: its alias for each of the query's own."""

    def called(self, alias: str) -> str:
        """The maker's alias for an input."""
        return dict(self.aliases)[alias]


@dataclass(frozen=True)
class Member:
    """One query of a script, and the name by which others read it or a sink is given to it."""

    name: str
    query: Query
    is_shown: bool = False
    """Whether its results go to a sink."""

    takes: Taking | None = None
    """Who finds its combinations, if it does not do so itself."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The other members whose results it reads, each once."""
        return tuple(dict.fromkeys(n for item in self.query.inputs for n in item.source.makers))


@dataclass(frozen=True)
class Script:
    """Queries in an order in which each comes after all that it reads."""

    members: tuple[Member, ...]
    text: str = field(default="", compare=False, repr=False)

    @property
    def shown(self) -> tuple[Member, ...]:
        """The members whose results go to sinks."""
        return tuple(member for member in self.members if member.is_shown)

    @property
    def sources(self) -> Mapping[str, Source]:
        """The declared sources that are read, by name, each once."""
        every = (item.source for member in self.members for item in member.query.inputs)
        return {source.name: source for source in every if source.format != "derived"}

    def member(self, name: str) -> Member:
        """The member of that name."""
        return next(member for member in self.members if member.name == name)

    def takers(self, name: str) -> tuple[Member, ...]:
        """The members that take the combinations of the one of that name."""
        return tuple(each for each in self.members if each.takes and each.takes.maker == name)


@dataclass(frozen=True)
class Standing:
    """Which queries a checkpoint has begun, and which of them share a join, by who finds it.

    These stay as they are: the windows of a query that takes lie with who it takes from.
    """

    known: frozenset[str] = frozenset()
    makers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


NOTHING_STANDS = Standing()
"""What stands before the first batch."""


def derived_source(name: str, query: Query) -> Source:
    """The stream of a query's results, with the time of each; of a view, the stream of changes.

    The time is `_time`: that of the last tuple of a combination, or of a view's evaluation. What
    changes of a view is `upsert` or `delete`, in `_change`.
    """
    fields = [Field(output.name, output.expression.type) for output in query.results]
    fields.append(Field(TIME, DataType.TIMESTAMP))
    made = Source(name, tuple(fields), "derived", timestamp=TIME, makers=(name,))
    if query.view is None:
        return made
    with_change = (*fields, Field(CHANGE, DataType.STRING))
    return replace(made, fields=with_change, key=_key(query), hidden=hidden_group(query))


def _key(query: Query) -> tuple[str, ...]:
    """The outputs of a view that tell its rows apart; without groups it has one row, and no key."""
    assert query.view is not None
    if hidden_group(query) is not None:
        return ()
    key = query.view.key
    return tuple(o.name for o in query.view.outputs if o.expression in key)
