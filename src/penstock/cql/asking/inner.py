"""SELECTs inside of a query: each becomes a query of its own, which the outer one reads.

`WITH x AS (SELECT …) SELECT …`            → `CREATE … x AS SELECT …; SELECT …`
`FROM (SELECT …) [window] AS x`            → `CREATE … x AS SELECT …; … FROM x [window] AS x`
`WHERE b.price > (SELECT AVG(…) FROM …)`   → a view of one row, joined; its value compared
`SELECT … UNION ALL SELECT …`              → two queries that make one stream
`FROM (SELECT …, ROW_NUMBER() …) WHERE …`  → one query, with QUALIFY

That of EXISTS and IN stays where it is: it is a join, and reads columns of the SELECT around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from penstock.cql.asking.ask import Ask, Kind
from penstock.cql.asking.numbered import with_qualify
from penstock.cql.reading.cursor import Cursor, is_word
from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.names import check_name
from penstock.cql.reading.respelling import respelt
from penstock.cql.reading.text import Span, Text
from penstock.cql.refused import is_asked
from penstock.errors import FollowingError

VALUE = "value"
"""The one column of a view inside of an expression."""
_WITH = "write it WITH x AS (SELECT …) SELECT …"
_NAME_IT = "name it: FROM (SELECT …) [RANGE 10 SECONDS] AS x"


def unfolded(text: Text, asked: Sequence[Ask], taken: Iterable[str]) -> list[Ask]:
    """The queries, without any that stands inside of another; `taken` are names of sources."""
    names = {name.lower() for name in taken} | {ask.name.lower() for ask in asked}
    unfolding = _Unfolding(text, names)
    found: list[Ask] = []
    for ask in asked:
        with text.forgiving():
            found += unfolding.unfold(ask)
    return found


class _Unfolding:
    """Takes queries out of each other, and gives each a name that nothing else has."""

    def __init__(self, text: Text, names: set[str]):
        self._text = text
        self._names = names

    def unfold(self, ask: Ask) -> list[Ask]:
        """Those inside of a query, and the query itself at the end."""
        found, ask = self._without_with(ask)
        ask = with_qualify(ask)
        branches = _branches(self._text, ask.select)
        if len(branches) > 1:
            return [*found, *self._union(ask, branches)]
        inner, ask = self._without_inner(ask)
        return [*found, *inner, ask]

    def _without_with(self, ask: Ask) -> tuple[list[Ask], Ask]:
        if not ask.select or not is_word(ask.select[0], "WITH"):
            return [], ask
        end = ask.select[-1].end + 1
        cursor = Cursor(self._text, ask.select[1:], (end, end + 1))
        if cursor.next and is_word(cursor.next, "RECURSIVE"):
            hint = "queries may read each other, but not go round in a circle"
            raise self._text.error(cursor.span, "RECURSIVE is not in the language", hint)
        found: list[Ask] = []
        local = dict(ask.local)
        while True:
            name = cursor.take_name("a name", _WITH)
            check_name(self._text, token_span(name), name.text)
            cursor.expect("AS", _WITH)
            body = _in_parentheses(cursor)
            inner = self._inner(ask, name.text, token_span(name), body, local)
            if name.text.lower() in local and local[name.text.lower()] not in ask.local.values():
                message = f"WITH has two queries named {name.text}"
                raise self._text.error(token_span(name), message, "rename one of them")
            found += inner
            local[name.text.lower()] = inner[-1].name.lower()
            if not cursor.take_word(","):
                return found, replace(ask, select=cursor.rest, local=local)

    def _union(self, ask: Ask, branches: list[Sequence[Token]]) -> list[Ask]:
        """The branches as queries of their own, and one that is all their results."""
        found: list[Ask] = []
        names: list[str] = []
        for number, tokens in enumerate(branches, 1):
            place = token_span(tokens[0]) if tokens else ask.place
            branch = self._inner(ask, f"{ask.name}.{number}", place, tokens, ask.local, "STREAM")
            found += branch
            names.append(branch[-1].name.lower())
        return [*found, replace(ask, select=(), branches=tuple(names))]

    def _without_inner(self, ask: Ask) -> tuple[list[Ask], Ask]:
        """The queries in parentheses, and the query with names in their places."""
        found: list[Ask] = []
        rest: list[Token] = []
        tokens, index = ask.select, 0
        while index < len(tokens):
            if not _opens_query(tokens, index) or is_asked(tokens, index + 1):
                rest.append(tokens[index])
                index += 1
                continue
            close = _closing(self._text, tokens, index)
            span = (tokens[index].start, tokens[close].end + 1)
            body, behind = tokens[index + 1 : close], tokens[close + 1 :]
            if _is_input(rest):
                name = _alias(self._text, behind, span)
                inner = self._inner(ask, name, span, body, ask.local)
                ask = _with_local(ask, name, inner[-1].name)
                rest.append(_named(name, span))
            else:
                self._check_scalar(rest, body, span)
                inner = self._inner(ask, "subquery", span, body, ask.local, "SCALAR")
                ask = replace(ask, scalars=(*ask.scalars, inner[-1].name.lower()))
                rest += [_named(inner[-1].name, span), _dot(span), _named(VALUE, span)]
            found += inner
            index = close + 1
        return found, replace(ask, select=rest)

    def _check_scalar(self, before: Sequence[Token], body: Sequence[Token], span: Span) -> None:
        last = len(before) - 1
        if before and respelt(self._text, before, last, ("EXISTS", "IN")) is not before:
            misspelt = self._text.place(token_span(before[last]))
            raise FollowingError("what stands before this SELECT is not known", place=misspelt)
        if before and any(is_word(before[-1], word) for word in ("IN", "EXISTS", "ANY", "ALL")):
            opening = f"{before[-1].text} ({body[0].text} …)".upper()
            hint = "write x IN (SELECT …) or EXISTS (SELECT … WHERE …), and WITH before all else"
            place = (before[-1].start, span[1])
            raise self._text.error(place, f"{opening} is not in the language", hint)

    def _inner(
        self,
        outer: Ask,
        name: str,
        place: Span,
        tokens: Sequence[Token],
        local: Mapping[str, str],
        kind: Kind = "ANY",
    ) -> list[Ask]:
        """A query inside of another, and those inside of it."""
        if not tokens:
            hint = "write SELECT … FROM …"
            raise self._text.error(place, "there is no SELECT here", hint)
        unique = self._unique(outer, name)
        return self.unfold(Ask(unique, place, tokens, kind, local=dict(local)))

    def _unique(self, outer: Ask, name: str) -> str:
        """The name itself, if nothing else has it."""
        candidates = [name, f"{outer.name}.{name}"]
        number = 2
        while candidates[0].lower() in self._names:
            candidates = [*candidates[1:], f"{outer.name}.{name}.{number}"]
            number += 1
        self._names.add(candidates[0].lower())
        return candidates[0]


def _with_local(ask: Ask, name: str, outside: str) -> Ask:
    return replace(ask, local={**ask.local, name.lower(): outside.lower()})


def _opens_query(tokens: Sequence[Token], index: int) -> bool:
    after = tokens[index + 1 : index + 2]
    return is_word(tokens[index], "(") and any(is_word(t, w) for t in after for w in _OPENING)


_OPENING = ("SELECT", "WITH")


def _closing(text: Text, tokens: Sequence[Token], start: int) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        depth += is_word(tokens[index], "(") - is_word(tokens[index], ")")
        if depth == 0:
            return index
    raise text.error(token_span(tokens[start]), "this ( is never closed", "add the closing )")


def _in_parentheses(cursor: Cursor) -> Sequence[Token]:
    """The tokens of a query in parentheses, which stands next."""
    if cursor.next is None or not is_word(cursor.next, "("):
        raise cursor.expected("(", _WITH)
    tokens = cursor.rest
    close = _closing(cursor.text, tokens, 0)
    for _ in range(close + 1):
        cursor.take()
    return tokens[1:close]


def _branches(text: Text, tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """What stands between one UNION ALL and the next; other unions are left as they are."""
    branches: list[list[Token]] = [[]]
    depth, skip = 0, False
    for index, token in enumerate(tokens):
        if skip:
            skip = False
            continue
        depth += is_word(token, "(") - is_word(token, ")")
        following = tokens[index + 1 : index + 2]
        if depth == 0 and is_word(token, "UNION") and any(is_word(t, "ALL") for t in following):
            branches.append([])
            skip = True
        else:
            branches[-1].append(token)
    return [_stripped(text, branch) for branch in branches] if len(branches) > 1 else [tokens]


def _stripped(text: Text, tokens: Sequence[Token]) -> Sequence[Token]:
    """A branch without the parentheses around it."""
    if tokens and is_word(tokens[0], "(") and _closing(text, tokens, 0) == len(tokens) - 1:
        return _stripped(text, tokens[1:-1])
    return tokens


def _is_input(before: Sequence[Token]) -> bool:
    """Whether what follows is an input of FROM: it stands behind FROM, JOIN or such a comma."""
    if not before or any(is_word(before[-1], word) for word in ("FROM", "JOIN")):
        return bool(before)
    if not is_word(before[-1], ","):
        return False
    depth = 0
    for token in reversed(before):
        depth += (token.text in (")", "]")) - (token.text in ("(", "["))
        if depth < 0:
            return False
        if depth == 0 and any(is_word(token, w) for w in ("SELECT", "WHERE", "GROUP BY", "HAVING")):
            return False
        if depth == 0 and is_word(token, "FROM"):
            return True
    return False


def _alias(text: Text, behind: Sequence[Token], span: Span) -> str:
    """The name that is given to a query in FROM: before or behind its window."""
    index = 0
    if behind and is_word(behind[0], "["):
        index = next((i for i, token in enumerate(behind) if is_word(token, "]")), -1) + 1
    index += index < len(behind) and is_word(behind[index], "AS")
    cursor = Cursor(text, behind[index : index + 1], (span[1], span[1] + 1))
    if cursor.next is None or cursor.next.token_type not in (TokenType.VAR, TokenType.IDENTIFIER):
        raise text.error(span, "this SELECT in FROM has no name", _NAME_IT)
    name = cursor.take()
    check_name(text, token_span(name), name.text)
    return str(name.text)


def _named(name: str, span: Span) -> Token:
    return Token(TokenType.IDENTIFIER, name, 1, 1, span[0], span[1] - 1)


def _dot(span: Span) -> Token:
    return Token(TokenType.DOT, ".", 1, 1, span[0], span[1] - 1)
