"""Windows in brackets: `[RANGE 10 SECONDS SLIDE 2 SECONDS]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.cql.expressions.literals import whole_number
from penstock.cql.reading.cursor import Cursor, is_word
from penstock.cql.reading.dialect import Token, TokenType, token_span
from penstock.cql.reading.text import Span, Text
from penstock.duration import MICROS, UNITS_HINT, Duration
from penstock.errors import SqlError
from penstock.query.window import NOW, UNBOUNDED, RowsWindow, TimeWindow, Window, tumble

WINDOWS_HINT = (
    "the windows are [RANGE 10 SECONDS], [RANGE 10 SECONDS SLIDE 2 SECONDS], [ROWS 100], "
    "[PARTITION BY a ROWS 3], [TUMBLE 1 MINUTE], [NOW] and [UNBOUNDED]"
)
_KINDS = ("NOW", "UNBOUNDED", "TUMBLE", "ROWS", "PARTITION BY", "RANGE", "WINDOW")
_PARTITIONED = "write it [PARTITION BY a, b ROWS 3]"


@dataclass(frozen=True)
class Bracket:
    """A window, where it stands, and where the token before it ends.

    `partition_by` are the places of the columns that the window is partitioned by. One that
    `is_mistaken` stands for a window that is not known, where all mistakes are looked for.
    """

    window: Window
    span: Span
    after: int
    partition_by: tuple[Span, ...] = ()
    is_mistaken: bool = False


MISTAKEN = TimeWindow(extent=1)
"""The window of an input whose own is not known; this very object, whatever is equal to it."""


def cut_windows(text: Text, tokens: Sequence[Token]) -> tuple[list[Token], list[Bracket]]:
    """The tokens of a SELECT without its bracketed windows, and the windows."""
    rest: list[Token] = []
    brackets: list[Bracket] = []
    last: SqlError | None = None
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.token_type is TokenType.L_BRACKET and _is_index(tokens[index + 1 : index + 3]):
            rest += tokens[index : index + 3]
            index += 2
        elif token.token_type is TokenType.L_BRACKET:
            close = _closing(text, tokens, index)
            brackets.append(_bracket(text, tokens[index : close + 1], rest))
            index = close
        elif token.token_type is TokenType.R_BRACKET:
            hint = "a window opens with ["
            last = text.error(token_span(token), "this ] closes nothing", hint)
            text.note(last)
        else:
            rest.append(token)
        index += 1
    if last is not None:
        raise last
    return rest, brackets


def _is_index(inside: Sequence[Token]) -> bool:
    """Whether a bracket holds a number or a text alone, as in `b.tags[1]`."""
    types = [token.token_type for token in inside]
    return types in ([kind, TokenType.R_BRACKET] for kind in (TokenType.NUMBER, TokenType.STRING))


def _closing(text: Text, tokens: Sequence[Token], start: int) -> int:
    for index in range(start + 1, len(tokens)):
        if tokens[index].token_type is TokenType.R_BRACKET:
            return index
        if tokens[index].token_type is TokenType.L_BRACKET:
            break
    text.note(text.error(token_span(tokens[start]), "this [ is never closed", WINDOWS_HINT))
    # Where all mistakes are looked for, it ends where a window does.
    end = tokens[-1].end + 1
    cursor = Cursor(text, tokens[start + 1 :], (end, end + 1))
    _window(cursor)
    return len(tokens) - len(cursor.rest) - 1


def _bracket(text: Text, tokens: Sequence[Token], before: Sequence[Token]) -> Bracket:
    span = (tokens[0].start, tokens[-1].end + 1)
    bracket = Bracket(MISTAKEN, span, before[-1].end + 1 if before else 0, is_mistaken=True)
    tally = text.tally
    with text.forgiving():
        inside = tokens[1:-1] if is_word(tokens[-1], "]") else tokens[1:]
        cursor = Cursor(text, inside, token_span(tokens[-1]))
        window, columns = _window(cursor)
        bracket = replace(bracket, window=window, partition_by=tuple(map(token_span, columns)))
        cursor.expect_end(WINDOWS_HINT)
        return replace(bracket, is_mistaken=text.tally > tally)
    return bracket


def _window(cursor: Cursor) -> tuple[Window, list[Token]]:
    match _kind(cursor):
        case "NOW":
            return NOW, []
        case "UNBOUNDED":
            return UNBOUNDED, []
        case "TUMBLE":
            return tumble(take_duration(cursor)), []
        case "ROWS":
            return RowsWindow(_count(cursor)), []
        case "PARTITION BY":
            return _partitioned(cursor)
        case "WINDOW" if cursor.take_word("UNTIL") or cursor.take_slip(["UNTIL"], "UNTIL NOW"):
            return _until_now(cursor), []
        case "RANGE" | "WINDOW":
            return _range(cursor), []
    raise cursor.expected("a window", WINDOWS_HINT)


def _kind(cursor: Cursor) -> str | None:
    """The keyword that a window begins with."""
    written = next((word for word in _KINDS if cursor.take_word(word)), None)
    return written or cursor.take_slip(_KINDS, "a window")


def _range(cursor: Cursor) -> TimeWindow:
    extent = take_duration(cursor)
    slides = cursor.take_word("SLIDE") or cursor.take_slip(["SLIDE"], "SLIDE or ]")
    return TimeWindow(extent, take_duration(cursor) if slides else 1)


def _until_now(cursor: Cursor) -> TimeWindow:
    cursor.expect("NOW", "write it [WINDOW UNTIL NOW]")
    return UNBOUNDED


def _partitioned(cursor: Cursor) -> tuple[RowsWindow, list[Token]]:
    columns = [cursor.take_name("a column", _PARTITIONED)]
    while cursor.take_word(","):
        columns.append(cursor.take_name("a column", _PARTITIONED))
    cursor.expect("ROWS", _PARTITIONED)
    return RowsWindow(_count(cursor), tuple(column.text for column in columns)), columns


def _count(cursor: Cursor) -> int:
    start = cursor.span[0]
    sign = "-" if cursor.take_word("-") else ""
    token = cursor.take_type(TokenType.NUMBER, TokenType.STRING)
    if token is None:
        raise cursor.expected("a number of rows", "write it [ROWS 100]")
    digits, span = sign + token.text, (start, token.end + 1)
    if not digits.isdecimal() or not digits.strip("0"):
        hint = "write a whole number, 1 or more"
        cursor.text.note(cursor.text.error(span, f"a window cannot hold {digits} rows", hint))
        return 1
    count = whole_number(digits)
    if count is None:
        hint = "write UNBOUNDED for a window without end"
        cursor.text.note(cursor.text.error(span, "a window cannot hold so many rows", hint))
    return count or 1


def take_duration(cursor: Cursor, what: str = "a window") -> int:
    """The microseconds of a length of time that stands next, which `what` is to last."""
    start = cursor.span[0]
    sign = "-" if cursor.take_word("-") else ""
    token = cursor.take_type(TokenType.NUMBER, TokenType.STRING)
    if token is None:
        raise cursor.expected("a length of time", "write it like 10 SECONDS")
    written = sign + token.text
    if written.replace(".", "").lstrip("-").isdecimal():
        written += " " + cursor.take_name("a unit of time", UNITS_HINT).text
    with cursor.text.forgiving():
        return _positive(cursor.text, written, (start, cursor.taken_to), what)
    return MICROS


def _positive(text: Text, written: str, span: Span, what: str) -> int:
    try:
        micros = Duration.parse(written).micros
    except ValueError as error:
        raise text.error(span, *error.args) from None
    if micros <= 0:
        raise text.error(span, f"{what} cannot be {written} long", "it must be longer than 0")
    return micros
