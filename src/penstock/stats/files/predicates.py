"""Predicates as a stats file writes them, found again in the query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.dialect import Token, parse_statement, tokenize
from penstock.cql.reading.nearest import listed, nearest
from penstock.cql.reading.scope import Scope
from penstock.cql.reading.text import Text
from penstock.cql.select.joins import conjuncts
from penstock.cql.select.predicates import Predicates, bind_predicates
from penstock.errors import SqlError, StatsError
from penstock.query import Apply, Call, Expression, Function, Query
from penstock.query.expression import render, walk
from penstock.query.keys import KeyClass, key_classes
from penstock.stats.statistics import Group, extra_equalities, group_text

_SELECT = "SELECT 1 WHERE "


@dataclass(frozen=True)
class Finder:
    """Finds the query's own joins and conditions; messages begin with the name of the file.

    Texts are read by the parser of the query, so that spacing, case and the order of an equality's
    sides do not matter. What the query itself prints is always understood.
    """

    query: Query
    file: str

    def join(self, text: str) -> Group | str:
        """The group of an equality (`A.a = B.a`, `A.a = B.a = C.a`), or a theta's own text."""
        group = self._group(text)
        if group is not None:
            return group
        thetas = [*map(str, self.query.thetas), *extra_equalities(self.query)]
        return self._condition("joins", text, thetas, [*self._pairs, *thetas])

    def filter(self, text: str) -> str:
        """The filter's text as the query renders it."""
        filters = [str(condition) for condition in self.query.filters]
        return self._condition("filters", text, filters, filters)

    def text(self, group: Group) -> str:
        """The group as the query would write it."""
        return group_text(self._classes, group)

    @cached_property
    def _classes(self) -> tuple[KeyClass, ...]:
        return key_classes(self.query)

    @cached_property
    def _functions(self) -> Mapping[str, Function]:
        """The user's functions that the query calls."""
        conditions = (*self.query.filters, *self.query.thetas)
        sides = [side for e in self.query.equalities for side in (e.left, e.right)]
        nodes = (n for each in (*(c.expression for c in conditions), *sides) for n in walk(each))
        applied = (node.function for node in nodes if isinstance(node, Apply))
        return {function.name.lower(): function for function in applied}

    @cached_property
    def _pairs(self) -> list[str]:
        return [self.text(group) for group in _pairs(self._classes)]

    @cached_property
    def _sides(self) -> Mapping[Expression, tuple[int, int, str]]:
        """Key class, part and input of every side of a key."""
        return {
            side: (k, p, alias)
            for k, key in enumerate(self._classes)
            for alias, parts in key.members
            for p, side in enumerate(parts)
        }

    def _condition(self, table: str, text: str, known: list[str], choices: list[str]) -> str:
        by_plain = {_plain(each): each for each in known}
        if _plain(text) in by_plain:
            return by_plain[_plain(text)]
        found = self._rendered(table, text)
        if len(found) > 1:
            parts = " and ".join(f"'{part}'" for part in found)
            message = f"{self._where(table, text)} is more than one predicate"
            raise StatsError(message, hint=f"give each a line: {parts}")
        if found[0] not in known:
            message = f"{self._where(table, text)} is not in the query"
            raise StatsError(message, hint=self._hint(table, found[0], choices))
        return found[0]

    def _rendered(self, table: str, text: str) -> list[str]:
        """The predicates of a text as the query would print them."""
        try:
            equalities, filters, thetas = self._bind(text)
        except SqlError as error:
            message = f"{self._where(table, text)} is no predicate of the query: {error.message}"
            raise StatsError(message, hint=error.hint) from None
        known = {frozenset((e.left, e.right)): str(e) for e in self.query.equalities}
        same = [known.get(frozenset((e.left, e.right)), str(e)) for e in equalities]
        return [*same, *map(str, filters), *map(str, thetas)]

    def _hint(self, table: str, text: str, choices: list[str]) -> str:
        other = "joins" if table == "filters" else "filters"
        elsewhere = self.query.thetas if table == "filters" else self.query.filters
        if text in map(str, elsewhere) or (table == "filters" and self._group(text)):
            return f"it belongs under [{other}]"
        if not choices:
            return f"the query has no {table}"
        return nearest(text, choices) or listed(table, choices)

    def _group(self, text: str) -> Group | None:
        """The group that a text of equalities is about, if it is one."""
        try:
            chains = [[self._side(piece) for piece in chain] for chain in _chains(text)]
        except SqlError:
            return None
        groups = [_as_group([self._sides.get(side) for side in chain]) for chain in chains]
        known = [group for group in groups if group is not None]
        if len(known) < len(groups) or len({(g.key, g.streams) for g in known}) != 1:
            return None
        parts = tuple(sorted(group.parts[0] for group in known))
        whole = tuple(range(len(self._classes[known[0].key].types)))
        is_fit = len(parts) == 1 or parts == whole
        return replace(known[0], parts=parts) if is_fit else None

    def _side(self, piece: str) -> Expression:
        """The expression of a side, by its text or by the parser."""
        by_plain = {_plain(render(side)): side for side in self._sides}
        if _plain(piece) in by_plain:
            return by_plain[_plain(piece)]
        _, filters, thetas = self._bind(f"({piece}) IS NULL")
        (condition,) = (*filters, *thetas)
        assert isinstance(condition.expression, Call)
        return condition.expression.arguments[0]

    def _bind(self, text: str) -> Predicates:
        content = Text(_SELECT + text, self.file)
        tree = parse_statement(content, tokenize(content))
        scope = Scope(content, self.query.inputs, self._functions)
        return bind_predicates(scope, conjuncts(tree.args["where"].this))

    def _where(self, table: str, text: str) -> str:
        return f"{self.file}: [{table}] '{text}'"


def _pairs(classes: Iterable[KeyClass]) -> Iterator[Group]:
    for k, key in enumerate(classes):
        for pair in combinations(key.streams, 2):
            yield Group(k, tuple(range(len(key.types))), frozenset(pair))


def _as_group(places: list[tuple[int, int, str] | None]) -> Group | None:
    """The group of sides that belong to one part of one key, each of another input."""
    known = [place for place in places if place is not None]
    keys = {(k, p) for k, p, _ in known}
    streams = frozenset(alias for *_, alias in known)
    if len(keys) != 1 or len(streams) != len(places) or len(streams) < 2:
        return None
    ((key, part),) = keys
    return Group(key, (part,), streams)


def _chains(text: str) -> list[list[str]]:
    """The texts between the = of each conjunct, outside parentheses."""
    tokens = tokenize(Text(text, "predicate"))
    pieces = [[_cut(text, side) for side in _split(c, "=")] for c in _split(tokens, "AND")]
    return [] if any(not piece for chain in pieces for piece in chain) else pieces


def _split(tokens: list[Token], word: str) -> list[list[Token]]:
    groups: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += is_word(token, "(") - is_word(token, ")")
        if depth == 0 and is_word(token, word):
            groups.append([])
        else:
            groups[-1].append(token)
    return groups


def _cut(text: str, tokens: list[Token]) -> str:
    return text[tokens[0].start : tokens[-1].end + 1] if tokens else ""


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
