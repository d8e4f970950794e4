"""From statements to queries, one after another, each with the results of those before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from penstock.cql.asking.ask import Ask
from penstock.cql.asking.created import no_select
from penstock.cql.asking.inner import VALUE, unfolded
from penstock.cql.asking.numbered import narrowed
from penstock.cql.asking.order import in_order, read_at, reads
from penstock.cql.asking.union import passing, united
from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.respelling import respelt
from penstock.cql.reading.scope import unknown_source
from penstock.cql.reading.text import Span, Text
from penstock.cql.refused import refuse_clauses
from penstock.cql.select.select import parse_select
from penstock.errors import FollowingError
from penstock.query.function import Function
from penstock.query.query import Query
from penstock.query.script import Member, Script, derived_source
from penstock.query.source import Source
from penstock.query.view import CHANGE, TIME, Output
from penstock.query.window import UNBOUNDED


def make(
    text: Text,
    asked: Sequence[Ask],
    sources: Mapping[str, Source],
    functions: Mapping[str, Function],
    lost: Iterable[str] = (),
) -> Script:
    """The script of these queries over declared sources, by their names in lower case.

    Where all mistakes are looked for, nothing is known of the columns of what is `lost`.
    """
    names = [source.name for source in sources.values()]
    ordered = in_order(text, unfolded(text, asked, names), names)
    gone = {ask.name.lower() for ask in asked} - {ask.name.lower() for ask in ordered}
    missing = {name: unknown_source(name) for name in {*lost, *gone} if name not in sources}
    making = _Making(text, {**sources, **missing}, functions)
    for ask in ordered:
        making.attempt(ask)
    return Script(_needed(ordered, making.members), text.content)


def _needed(ordered: Sequence[Ask], members: Sequence[Member]) -> tuple[Member, ...]:
    """The queries that are shown, and those that these read: nobody would see the others."""
    wanted: set[str] = set()
    for ask in reversed(ordered):
        if ask.is_shown or ask.name.lower() in wanted:
            wanted |= {ask.name.lower(), *reads(ask)}
    return tuple(member for member in members if member.name.lower() in wanted)


class _Making:
    """Queries so far, and what the next one may read."""

    def __init__(
        self,
        text: Text,
        sources: Mapping[str, Source],
        functions: Mapping[str, Function],
    ):
        self.members: list[Member] = []
        self._text = text
        self._sources = dict(sources)
        self._functions = functions
        self._readable = dict.fromkeys(sources)

    def attempt(self, ask: Ask) -> None:
        """Make one query more; where that fails, nothing is known of its columns."""
        with self._text.forgiving():
            self.add(ask)
            return
        if ask.is_readable:
            self._sources[ask.name.lower()] = unknown_source(ask.name)
            self._readable[ask.name.lower()] = None

    def add(self, ask: Ask) -> None:
        """Make one query more."""
        if ask.branches:
            self._unite(ask)
            return
        if not ask.select:
            hint = "write WITH name AS (SELECT …) SELECT … FROM name"
            raise self._text.error(ask.place, "no SELECT follows what WITH names", hint)
        ask = replace(ask, select=respelt(self._text, ask.select, 0, ["SELECT"]))
        if not is_word(ask.select[0], "SELECT"):
            raise no_select(self._text, ask, self._sources)
        refuse_clauses(self._text, ask.select, self._functions)
        self._check_makers(ask)
        scalars = [self._sources.get(name) or unknown_source(name) for name in ask.scalars]
        known = self._known(ask)
        query = parse_select(self._text, ask.select, known, self._functions, scalars)
        query = _checked(self._text, ask, narrowed(self._text, ask, query))
        if not ask.is_shown:
            _check_readable(self._text, ask.place, ask.name, query)
        self._tell(ask, query)

    def _known(self, ask: Ask) -> dict[str, Source]:
        """What a query may read, by the names that it calls it by."""
        local = {
            name: self._sources.get(outside) or unknown_source(name)
            for name, outside in ask.local.items()
        }
        return {**{name: self._sources[name] for name in self._readable}, **local}

    def _check_makers(self, ask: Ask) -> None:
        """Nothing, if what a query reads of others can be read: in time, and column by column."""
        queries = {member.name: member.query for member in self.members}
        found = {name: span for name, span in read_at(ask).items() if name in self._sources}
        for name, place in found.items():
            for maker in self._sources[name].makers:
                _check_has_time(self._text, place, name, queries[maker])
                _check_readable(self._text, place, name, queries[maker])

    def _tell(self, ask: Ask, query: Query) -> None:
        self.members.append(Member(ask.name, query, ask.is_shown))
        if ask.is_readable:
            self._sources[ask.name.lower()] = derived_source(ask.name, query)
            if ask.kind != "SCALAR":
                self._readable[ask.name.lower()] = None

    def _unite(self, ask: Ask) -> None:
        """All results of some queries as one stream, and as one query where it is shown."""
        by_name = {member.name.lower(): member for member in self.members}
        if not by_name.keys() >= set(ask.branches):
            message = "a SELECT of this UNION ALL is not known"
            raise FollowingError(message, place=self._text.place(ask.place))
        branches = [by_name[name] for name in ask.branches]
        for branch in branches:
            _check_has_time(self._text, ask.place, "UNION ALL", branch.query)
        alike, source = united(self._text, ask, branches)
        for old, new in zip(branches, alike, strict=True):
            self.members[self.members.index(old)] = new
        self._sources[ask.name.lower()] = source
        self._readable[ask.name.lower()] = None
        if ask.is_shown:
            self._show(ask, source)

    def _show(self, ask: Ask, source: Source) -> None:
        """A query that gives the tuples of a stream as they are."""
        query = passing(source, self._text.content)
        self.members.append(Member(ask.name, query, is_shown=True))
        if ask.is_readable:
            self._sources[ask.name.lower()] = derived_source(ask.name, query)


def _checked(text: Text, ask: Ask, query: Query) -> Query:
    """The query, if it is of the kind that was asked for."""
    if ask.kind == "STREAM" and query.view is not None:
        message = "groups and aggregates make a view, which is no stream"
        hint = f"write CREATE VIEW {ask.name} AS SELECT …" if "." not in ask.name else None
        raise text.error(ask.place, message, hint or "UNION ALL is of streams, without groups")
    if ask.kind == "VIEW" and query.view is None:
        message = "a view has groups or aggregates, and this has none"
        raise text.error(ask.place, message, f"write CREATE STREAM {ask.name} AS SELECT …")
    if ask.kind == "SCALAR":
        return _one_row(text, ask, query)
    return query


def _check_has_time(text: Text, place: Span, name: str, query: Query) -> None:
    """Nothing, if each result of a query has a time, by which others read it.

    Who has no partner is told at the end of its life.
    """
    for alias in () if query.view is not None else _endless(query):
        message = f"{alias} never dies, so that without a partner it has no time in {name}"
        hint = f"give {alias} a window with an end: [RANGE 1 HOUR]; or group: views may be read"
        raise text.error(place, message, hint)


def _endless(query: Query) -> Iterator[str]:
    """Streams of an outer join whose tuples never die, though they are told when they do."""
    sides = () if query.outer is None else query.outer.sides
    kinds = {} if query.outer is None else {j.nullable: j.kind for j in query.outer.joins}
    for side in sides:
        is_known = query.input(side.nullable).is_table or kinds.get(side.nullable) == "semi"
        lives = [query.input(alias) for alias in side.preserved]
        if not is_known and all(item.window in (None, UNBOUNDED) for item in lives):
            yield next(item.alias for item in lives if not item.is_table)


def _check_readable(text: Text, place: Span, name: str, query: Query) -> None:
    """Nothing, if the columns of a query's results can be read by others."""
    for output in query.results:
        if output.name.lower() in (TIME, CHANGE):
            message = f"the results of {name} have a column {output.name.lower()} of their own"
            raise text.error(place, message, f"select {output.name} under another name with AS")
        if output.expression.type.is_nested:
            type_ = output.expression.type
            message = f"column {output.name} of {name} is {type_}, which no query can read"
            raise text.error(place, message, "select what is inside of it: x.meta.city")


def _one_row(text: Text, ask: Ask, query: Query) -> Query:
    """The query, if it has one row of one column, which is then called `value`."""
    view = query.view
    if view is None or view.groups or view.having is not None or view.top is not None:
        message = "this SELECT may have other than one row"
        hint = "inside of an expression it is of aggregates alone: (SELECT AVG(x) FROM …)"
        raise text.error(ask.place, message, hint)
    if len(view.outputs) != 1:
        message = f"this SELECT has {len(view.outputs)} columns"
        raise text.error(ask.place, message, "inside of an expression it has one")
    only = Output(VALUE, view.outputs[0].expression)
    return replace(query, view=replace(view, outputs=(only,)))
