"""Top-N as it is often written: a query of numbered rows, and one around it that keeps the first.

`SELECT … FROM (SELECT …, ROW_NUMBER() OVER (…) AS r FROM …) WHERE r <= 10`
→ `SELECT …, ROW_NUMBER() OVER (…) AS r FROM … QUALIFY r <= 10`, of which some columns are shown
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.cql.asking.ask import Ask
from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.nearest import listed, nearest
from penstock.cql.reading.text import Text
from penstock.query.query import Query
from penstock.query.view import Output

_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)


def with_qualify(ask: Ask) -> Ask:
    """The query with QUALIFY, if it is around one of numbered rows; else as it is."""
    tokens = ask.select
    start = next((i for i, token in enumerate(tokens) if is_word(token, "FROM")), len(tokens))
    body = _numbered(tokens[start + 1 :])
    if body is None:
        return ask
    alias, rest = _alias(tokens[start + len(body) + 3 :])
    only = _names(tokens[1:start], alias)
    if only is None or not rest or not is_word(rest[0], "WHERE"):
        return ask
    begin, end = token_span(rest[0])
    qualify = Token(TokenType.QUALIFY, "QUALIFY", 1, 1, begin, end - 1)
    condition = _without_alias(rest[1:], alias)
    return replace(ask, select=[*body, qualify, *condition], only=only)


def narrowed(text: Text, ask: Ask, query: Query) -> Query:
    """The query with the columns alone that the one around it selects."""
    if not ask.only or query.view is None:
        return query
    shown = {output.name.lower(): output for output in query.view.outputs}
    outputs: dict[str, Output] = {}
    for token in ask.only:
        name = token.text.lower()
        if name not in shown:
            names = [output.name for output in shown.values()]
            hint = nearest(token.text, names, listed("columns", names))
            message = f"the query inside has no column {token.text}"
            raise text.error(token_span(token), message, hint)
        outputs[name] = shown[name]
    return replace(query, view=replace(query.view, outputs=tuple(outputs.values())))


def _numbered(tokens: Sequence[Token]) -> Sequence[Token] | None:
    """What stands in the parentheses that come first, if it is a SELECT with ROW_NUMBER()."""
    if len(tokens) < 2 or not is_word(tokens[0], "(") or not is_word(tokens[1], "SELECT"):
        return None
    depth = 0
    for index, token in enumerate(tokens):
        depth += is_word(token, "(") - is_word(token, ")")
        if depth == 0:
            body = tokens[1:index]
            return body if any(is_word(each, "ROW_NUMBER") for each in body) else None
    return None


def _alias(tokens: Sequence[Token]) -> tuple[str | None, Sequence[Token]]:
    """The name of the query inside, if it has one, and what follows."""
    at = 1 if tokens and is_word(tokens[0], "AS") else 0
    if at < len(tokens) and tokens[at].token_type in _NAMES:
        return tokens[at].text.lower(), tokens[at + 1 :]
    return None, tokens


def _names(tokens: Sequence[Token], alias: str | None) -> tuple[Token, ...] | None:
    """The columns that are selected, none for `*`; None if there is anything else."""
    plain = _without_alias(tokens, alias)
    if len(plain) == 1 and is_word(plain[0], "*"):
        return ()
    is_list = all(is_word(token, ",") for token in plain[1::2]) and len(plain) % 2 == 1
    names = plain[::2]
    return tuple(names) if is_list and all(n.token_type in _NAMES for n in names) else None


def _without_alias(tokens: Sequence[Token], alias: str | None) -> list[Token]:
    """The tokens with `name` for `alias.name`."""
    kept: list[Token] = []
    for token in tokens:
        is_behind = bool(kept) and alias is not None and kept[-1].text.lower() == alias
        if is_word(token, ".") and is_behind:
            kept.pop()
        else:
            kept.append(token)
    return kept
