"""SQL that is not in the language: refused by name, before it can fail in some other way."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.cql.reading.cursor import is_word
from penstock.cql.reading.dialect import Token, token_span
from penstock.cql.reading.text import Text
from penstock.slips import meant

_CLAUSES = {
    "IS DISTINCT FROM": "compare with <> and ask IS NULL",
    "UNION": "write UNION ALL",
    "EXCEPT": "leave it out",
    "INTERSECT": "write it as a join",
}
_WINDOW_FUNCTIONS = {
    *("WINDOW", "TUMBLE", "TUMBLING", "HOP", "HOPPING", "SESSION", "SESSION_WINDOW", "CUMULATE")
}
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
        message = "WITH does not fit here"
        raise text.error(
            token_span(tokens[0]),
            message,
            "it stands before a SELECT: WITH x AS (SELECT …) SELECT …",
        )
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
    if is_word(token, "SELECT") and index and not is_asked(tokens, index):
        _refuse_slip(text, tokens[max(0, index - 2) : index])
        message = "a SELECT does not fit here"
        raise text.error(
            token_span(token),
            message,
            "it stands in parentheses: FROM (SELECT …) [RANGE 10 SECONDS] AS x",
        )
    if is_word(token, "DISTINCT") and index and tokens[index - 1].text.upper() in ("IS", "NOT"):
        name = "IS DISTINCT FROM"
        raise text.error(token_span(token), f"{name} is not in the language", _CLAUSES[name])
    if is_word(token, "UNION") and any(is_word(t, "ALL") for t in tokens[index + 1 : index + 2]):
        hint = "name it in FROM: FROM (SELECT … UNION ALL SELECT …) [RANGE 10 SECONDS] AS x"
        raise text.error(token_span(token), "UNION ALL does not fit here", hint)
    if name in _CLAUSES and is_word(token, name):
        raise text.error(token_span(token), f"{name} is not in the language", _CLAUSES[name])


def _refuse_slip(text: Text, before: Sequence[Token]) -> None:
    """Of a SELECT behind a misspelt UNION ALL, say that this is meant."""
    written = " ".join(token.text for token in before)
    if meant(written, ["UNION ALL"]):
        span = (before[0].start, before[-1].end + 1)
        message = f"'{text.at(span)}' does not fit here"
        raise text.error(span, message, "did you mean UNION ALL?")


def is_asked(tokens: Sequence[Token], index: int) -> bool:
    """Whether a SELECT stands inside of EXISTS (…) or IN (…)."""
    before = tokens[max(index - 2, 0) : index]
    return (
        is_word(tokens[index], "SELECT")
        and len(before) == 2
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
