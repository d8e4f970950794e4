"""SQL that is not in the language: refused by name, before it can fail in some other way."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.dialect import Token, token_span
from penstock.cql.reading.text import Text

_CLAUSES = {
    "ORDER BY": "leave it out; sort where the results are read",
    "LIMIT": "leave it out; a stream has no end",
    "DISTINCT": "group instead: SELECT x FROM … GROUP BY x",
    "IS DISTINCT FROM": "compare with <> and ask IS NULL",
    "UNION": "run one script for each SELECT",
    "EXCEPT": "leave it out",
    "INTERSECT": "write it as a join",
}
_WINDOW_FUNCTIONS = {
    *("WINDOW", "TUMBLE", "TUMBLING", "HOP", "HOPPING", "SESSION", "SESSION_WINDOW", "CUMULATE")
}
ONE_ROW = "group by it: the view has one row for each value, to be counted where it is read"
WINDOWS_IN_FROM = (
    "windows stand in FROM: bid [TUMBLE 1 MINUTE], or bid [RANGE 5 MINUTES] with EVERY 1 MINUTE at "
    "the end; each result has its _time"
)
_JOIN_WORDS = {"INNER", "CROSS", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI"}
_OTHER_JOINS = {"NATURAL", "ASOF", "POSITIONAL"}
_JOINS_HINT = (
    "the joins are JOIN … ON …, LEFT, RIGHT and FULL JOIN, LEFT SEMI JOIN and LEFT ANTI JOIN"
)
_REFUSED_JOINS = {"OUTER", "RIGHT SEMI", "RIGHT ANTI", "FULL SEMI", "FULL ANTI"}


def refuse_clauses(text: Text, tokens: Sequence[Token], functions: Collection[str] = ()) -> None:
    """Nothing, if a SELECT statement has none of the clauses that the language lacks.

    `functions` are the user's own, in lower case: they may have any name.
    """
    if is_word(tokens[0], "WITH"):
        message = "WITH before SELECT is not in the language"
        raise text.error(token_span(tokens[0]), message, "name the streams in FROM")
    for index, token in enumerate(tokens):
        if index and _names_something(tokens, index):
            continue
        _refuse_clause(text, tokens, index)
        if token.text.lower() not in functions:
            _refuse_window(text, tokens, index)
        if is_word(token, "JOIN"):
            _refuse_join(text, tokens, index)


def _names_something(tokens: Sequence[Token], index: int) -> bool:
    """Whether a keyword is used as a name: `b.limit`, `AS limit`, `limit.x`."""
    before = tokens[index - 1]
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    return (
        is_word(before, ".") or is_word(before, "AS") or (after is not None and after.text == ".")
    )


def _refuse_clause(text: Text, tokens: Sequence[Token], index: int) -> None:
    token = tokens[index]
    name = " ".join(token.text.upper().split())
    if is_word(token, "SELECT") and index and not _is_asked(tokens, index):
        message = "a SELECT inside another is not in the language"
        hint = "join all streams in one FROM, or ask WHERE EXISTS (SELECT …)"
        raise text.error(token_span(token), message, hint)
    if is_word(token, "DISTINCT") and is_word(tokens[index - 1], "("):
        raise text.error(token_span(token), "DISTINCT aggregates are not in the language", ONE_ROW)
    if is_word(token, "DISTINCT") and index and tokens[index - 1].text.upper() in ("IS", "NOT"):
        name = "IS DISTINCT FROM"
        raise text.error(token_span(token), f"{name} is not in the language", _CLAUSES[name])
    if name in _CLAUSES and is_word(token, name):
        raise text.error(token_span(token), f"{name} is not in the language", _CLAUSES[name])


def _is_asked(tokens: Sequence[Token], index: int) -> bool:
    """Whether a SELECT stands inside of EXISTS (…) or IN (…)."""
    before = tokens[max(index - 2, 0) : index]
    return (
        len(before) == 2
        and is_word(before[1], "(")
        and any(is_word(before[0], word) for word in ("EXISTS", "IN"))
    )


def _refuse_window(text: Text, tokens: Sequence[Token], index: int) -> None:
    """Of `window(ts, '1 minute')`, `TUMBLE(…)` and the like say where windows stand here."""
    call = tokens[index : index + 2]
    if len(call) < 2 or not is_word(call[1], "("):
        return
    if any(is_word(call[0], name) for name in _WINDOW_FUNCTIONS):
        message = f"{call[0].text}(…) is not in the language"
        raise text.error(token_span(call[0]), message, WINDOWS_IN_FROM)


def _refuse_join(text: Text, tokens: Sequence[Token], index: int) -> None:
    words = [tokens[index]]
    while index and tokens[index - 1].text.upper() in _JOIN_WORDS | _OTHER_JOINS:
        index -= 1
        words.insert(0, tokens[index])
    name = " ".join(word.text.upper() for word in words)
    is_refused = name.removesuffix(" JOIN") in _REFUSED_JOINS
    if is_refused or any(word.text.upper() in _OTHER_JOINS for word in words):
        span = (words[0].start, words[-1].end + 1)
        raise text.error(span, f"{name} is not in the language", _JOINS_HINT)
