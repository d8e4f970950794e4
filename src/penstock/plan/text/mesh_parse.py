"""Meshes from their text, for `--plan`: `mesh A: B C or C B by if x <= 5 then 1 else 2; …`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast, get_args

from penstock.errors import Caret
from penstock.plan.default_plan import default_order
from penstock.plan.mesh import DriverMesh, Fork, Goes, MeshJoin, MeshRoute, Operator, Screen, Split
from penstock.plan.mesh_filters import placed, waiting
from penstock.plan.multiway import Method, Probe
from penstock.plan.text.mesh_words import EXAMPLE, MeshWord, mesh_words
from penstock.plan.text.notation import Word, refuse
from penstock.plan.text.orders_text import check_known, driver_of
from penstock.query import Condition, Query
from penstock.query.keys import key_classes

_MESH = re.compile(r"\s*mesh\b", re.IGNORECASE)
_SETTINGS = ("window", "ruster")
_ROUTES = "a route holds every filter of its stream and a probe of every other input, once"


def is_mesh(query: Query, text: str) -> bool:
    """Whether a text is that of a mesh."""
    is_alias = "mesh" in map(str.lower, query.aliases)
    return _MESH.match(text) is not None and not (is_alias and re.match(r"\s*mesh\s*:", text))


def forced_mesh(query: Query, text: str) -> MeshJoin:
    """The mesh that a text describes; streams that it does not name have one route, FROM's."""
    reader = _Reader(query, text, tuple(mesh_words(text)), 1)
    settings = dict(reader.settings())
    meshes: dict[str, DriverMesh] = {}
    while not (reader.is_over or reader.is_ending):
        place = reader.next_place
        mesh = reader.clause()
        if mesh.driver in meshes:
            refuse(f"{mesh.driver} has two meshes", place, "keep one of them")
        meshes[mesh.driver] = mesh
    found = tuple(meshes.get(s.alias) or _usual(query, s.alias) for s in query.streams)
    return MeshJoin(
        placed(query, found),
        found,
        early=reader.early(),
        window=settings.get("window"),
        ruster=settings.get("ruster", 1),
    )


def _usual(query: Query, driver: str) -> DriverMesh:
    """One route: filters, then probes in the order of FROM, then what waits."""
    operators: tuple[Operator, ...] = (
        *map(Screen, query.filters_of(driver)),
        *default_order(query, key_classes(query), driver).probes,
        *(Screen(c) for c in waiting(query) if c.streams == {driver}),
    )
    route = MeshRoute(tuple((operator,) for operator in operators))
    return DriverMesh(driver, Goes(0), (route,), (1.0,))


@dataclass
class _Reader:
    """Goes through the words of a text; `at` is the number of the next one."""

    query: Query
    text: str
    words: tuple[MeshWord, ...]
    at: int

    @property
    def is_over(self) -> bool:
        return self.at >= len(self.words)

    @property
    def is_ending(self) -> bool:
        """Whether `| early` comes next."""
        return self._is(MeshWord.is_sign, "|") and self._is(MeshWord.is_word, "early", ahead=1)

    @property
    def next_place(self) -> Caret:
        if self.is_over:
            end = len(self.text.rstrip())
            return Caret(self.text, max(end - 1, 0), max(end, 1), "--plan")
        return self.words[self.at].place

    def settings(self) -> Iterator[tuple[str, int]]:
        """`window=1000 ruster=100`, if they are there."""
        while self._is(MeshWord.is_sign, "=", ahead=1):
            name = self._take("name", "a setting's name")
            if name.text not in _SETTINGS:
                refuse(f"no setting {name.text}", name.place, f"there are {', '.join(_SETTINGS)}")
            self.at += 1
            yield name.text, self._count("tuples")

    def clause(self) -> DriverMesh:
        """The mesh of one stream, and the semicolon after it."""
        word = self._take("name", "a stream's name")
        driver = driver_of(self.query, Word(word.text, word.place))
        if not self._skip_sign(":"):
            refuse(f"no colon after {driver}", self.next_place, EXAMPLE)
        routes, shares = zip(*self._routes(driver), strict=True)
        classifier: Fork = Goes(0)
        if self._skip_word("by"):
            classifier = self._fork(driver, len(routes))
        elif len(routes) > 1:
            hint = "say which tuples take which: `by if x <= 5 then 1 else 2`"
            refuse(f"{driver} has {len(routes)} routes and no classifier", word.place, hint)
        if not (self._skip_sign(";") or self.is_over or self.is_ending):
            refuse(f"{self.words[self.at].text} does not belong here", self.next_place, EXAMPLE)
        given = [share for share in shares if share is not None]
        equal = 1.0 / len(routes)
        parts = tuple(equal if s is None or len(given) < len(shares) else s for s in shares)
        return DriverMesh(driver, classifier, tuple(routes), parts)

    def early(self) -> tuple[str, ...]:
        """The inputs that are aggregated before the join."""
        if self.is_over:
            return ()
        self.at += 2
        place, names = self.words[self.at - 1].place, list[str]()
        while not self.is_over:
            word = self._take("name", "an input's name")
            check_known(self.query, Word(word.text, word.place))
            names.append(word.text)
            self._skip_sign(",")
        if not names or self.query.view is None:
            what = "the query aggregates nothing" if names else "early names no input"
            refuse(what, place, "name inputs of a view: `mesh A: B; B: A | early A`")
        return tuple(alias for alias in self.query.aliases if alias in names)

    def _routes(self, driver: str) -> Iterator[tuple[MeshRoute, float | None]]:
        yield self._route(driver)
        while self._skip_word("or"):
            yield self._route(driver)

    def _route(self, driver: str) -> tuple[MeshRoute, float | None]:
        place, stages = self.next_place, list[tuple[Operator, ...]]()
        while self._is_operator:
            stage = [self._operator(driver)]
            while not self.is_ending and self._skip_sign("|"):
                stage.append(self._operator(driver))
            stages.append(tuple(stage))
        route = MeshRoute(tuple(stages))
        self._check_whole(driver, route, place)
        if not (not self.is_over and self.words[self.at].kind == "number"):
            return route, None
        share = float(self._take("number", "a share").text) / 100.0
        if not self._skip_sign("%"):
            refuse("a share is in per cent", self.next_place, "write it like `B C 60 %`")
        return route, share

    @property
    def _is_operator(self) -> bool:
        return not self.is_over and self.words[self.at].kind in ("name", "filter")

    def _operator(self, driver: str) -> Operator:
        if not self._is_operator:
            refuse("an input or a filter belongs here", self.next_place, EXAMPLE)
        word = self.words[self.at]
        self.at += 1
        if word.kind == "filter":
            return Screen(self._condition(driver, word))
        check_known(self.query, Word(word.text, word.place))
        if not self._skip_sign("/"):
            return Probe(word.text, "sorted")
        method = self._take("name", "a method")
        known = get_args(Method)
        if method.text not in known:
            refuse(f"no method {method.text!r}", method.place, f"methods are {', '.join(known)}")
        return Probe(word.text, cast("Method", method.text))

    def _condition(self, driver: str, word: MeshWord) -> Condition:
        every = (*self.query.filters, *waiting(self.query))
        mine = {str(c): c for c in every if c.streams == {driver}}
        if word.text not in mine:
            known = ", ".join(f"[{text}]" for text in mine) or "none"
            refuse(f"{driver} has no filter {word.text}", word.place, f"there is {known}")
        return mine[word.text]

    def _check_whole(self, driver: str, route: MeshRoute, place: Caret) -> None:
        names = [o.target if isinstance(o, Probe) else str(o.condition) for o in route.operators]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None or driver in names:
            refuse(f"a route of {driver} has {twice or driver} too many", place, _ROUTES)
        every = (*self.query.filters, *waiting(self.query))
        wanted = [alias for alias in self.query.aliases if alias != driver]
        wanted += [str(c) for c in every if c.streams == {driver}]
        missing = next((name for name in wanted if name not in names), None)
        if missing is not None:
            refuse(f"a route of {driver} leaves out {missing}", place, _ROUTES)

    def _fork(self, driver: str, routes: int) -> Fork:
        if not self._skip_word("if"):
            place, number = self.next_place, self._count("a route")
            if number > routes:
                refuse(f"there is no route {number}", place, f"{driver} has routes 1 to {routes}")
            return Goes(number - 1)
        name = self._take("name", "a column's name")
        if self.query.input(driver).source.field(name.text) is None:
            fields = ", ".join(each.name for each in self.query.input(driver).source.fields)
            refuse(f"{driver} has no column {name.text}", name.place, f"it has {fields}")
        limit, values = self._test()
        passed = self._branch("then", driver, routes)
        return Split(name.text, limit, values, passed, self._branch("else", driver, routes))

    def _test(self) -> tuple[float | None, frozenset[str]]:
        if self._skip_sign("<="):
            return float(self._take("number", "a number").text), frozenset()
        if not self._skip_word("in"):
            refuse("no test of the column", self.next_place, "write `x <= 5` or `x in ('a', 'b')`")
        values = []
        if not self._skip_sign("("):
            refuse("no list of texts", self.next_place, "write `x in ('a', 'b')`")
        while not self._skip_sign(")"):
            values.append(self._take("text", "a text in single quotes").text)
            self._skip_sign(",")
        return None, frozenset(values)

    def _branch(self, word: str, driver: str, routes: int) -> Fork:
        if not self._skip_word(word):
            refuse(f"no `{word}`", self.next_place, EXAMPLE)
        return self._fork(driver, routes)

    def _count(self, what: str) -> int:
        word = self._take("number", f"a number of {what}")
        if not word.text.isdecimal() or int(word.text) < 1:
            refuse(f"{word.text} is no number of {what}", word.place, "it is a whole number from 1")
        return int(word.text)

    def _take(self, kind: str, what: str) -> MeshWord:
        if self.is_over or self.words[self.at].kind != kind:
            refuse(f"{what} belongs here", self.next_place, EXAMPLE)
        self.at += 1
        return self.words[self.at - 1]

    def _is(self, test: Callable[[MeshWord, str], bool], text: str, ahead: int = 0) -> bool:
        place = self.at + ahead
        return place < len(self.words) and test(self.words[place], text)

    def _skip_sign(self, sign: str) -> bool:
        found = self._is(MeshWord.is_sign, sign)
        self.at += found
        return found

    def _skip_word(self, word: str) -> bool:
        found = self._is(MeshWord.is_word, word)
        self.at += found
        return found
