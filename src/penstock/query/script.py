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
class Member:
    """One query of a script, and the name by which others read it or a sink is given to it."""

    name: str
    query: Query
    is_shown: bool = False
    """Whether its results go to a sink."""

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
