"""The notation of plans: `driver: target target/method; … | early input`, with error places.

Orders of several joins have two semicolons between them: `A: B; B: A;; A: C; C: A`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

from penstock.errors import Caret, PlanError

_PLAIN = r'[^\s,:;/"()|]+'
_NAME = rf'"(?:[^"]|"")*"|{_PLAIN}'
_METHOD = r'(?:/(?P<{}>[^\s,:;/"()|]*))?'
_TOKEN = re.compile(
    rf"\s*(?:(?P<name>{_NAME}){_METHOD.format('method')}"
    rf'|(?P<close>\)){_METHOD.format("by")}|(?P<sign>[:;,/"(|]))'
)
_EXAMPLE = "a plan reads like `A: B C; B: A C` or `((A B) C)`"


@dataclass(frozen=True)
class Word:
    """A name, or one of the signs `:`, `;`, `(`, `)` and `|`, with its place in the text.

    A name or a closing parenthesis may have a method.
    """

    text: str
    place: Caret
    method: str | None = None
    is_name: bool = True


@dataclass(frozen=True)
class Clause:
    """One `driver: target target …` of the text, of its first join or of a later one."""

    driver: Word
    visits: tuple[Word, ...]
    join: int = 0

    @property
    def place(self) -> Caret:
        last = self.visits[-1] if self.visits else self.driver
        return replace(self.driver.place, end=last.place.end)


def read_clauses(text: str) -> Iterator[Clause]:
    """The orders of the text, as written."""
    words, join = list(read_words(text)), 0
    while words:
        end = next((i for i, w in enumerate(words) if _is_sign(w, ";")), len(words))
        clause, words = words[:end], words[end + 1 :]
        if clause:
            yield replace(_clause(clause), join=join)
        else:
            join += 1


def _clause(words: list[Word]) -> Clause:
    driver, *rest = words
    if not driver.is_name:
        refuse("a stream's name belongs here", driver.place, _EXAMPLE)
    if not rest or not _is_sign(rest[0], ":"):
        place = rest[0].place if rest else driver.place
        refuse(f"no colon after {driver.text}", place, _EXAMPLE)
    stray = next((word for word in rest[1:] if not word.is_name), None)
    if stray is not None and stray.text == ":":
        refuse("a second colon in one order", stray.place, f"orders end with `;`: {_EXAMPLE}")
    if stray is not None:
        refuse("a tree and an order in one plan", stray.place, _EXAMPLE)
    return Clause(driver, tuple(rest[1:]))


def _is_sign(word: Word, sign: str) -> bool:
    return not word.is_name and word.text == sign


def read_words(text: str) -> Iterator[Word]:
    """The names and signs of the text; commas are as good as spaces."""
    for match in _TOKEN.finditer(text):
        kind = next(kind for kind in ("name", "close", "sign") if match[kind] is not None)
        place = Caret(text, match.start(kind), match.end(), "--plan")
        if match["sign"] in ("/", '"'):
            refuse(f"a stray {match['sign']}", place, _EXAMPLE)
        if match["sign"] != ",":
            method = match["method"] if kind == "name" else match["by"]
            yield Word(_unquote(match[kind]), place, method, kind == "name")


def quote(name: str) -> str:
    """The name as the notation takes it: in double quotes where it has signs or spaces in it."""
    plain = re.fullmatch(_PLAIN, name)
    return name if plain else '"' + name.replace('"', '""') + '"'


def _unquote(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def refuse(message: str, place: Caret, hint: str) -> NoReturn:
    """Never: raises the error."""
    raise PlanError(message, place=place, hint=hint)
