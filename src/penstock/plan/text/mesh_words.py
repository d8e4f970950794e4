"""The words of a mesh's text: names, filters in brackets, texts, numbers and signs, with places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from penstock.errors import Caret
from penstock.plan.text.notation import refuse

WordKind = Literal["name", "word", "filter", "text", "number", "sign"]

RESERVED = frozenset({"mesh", "or", "by", "if", "in", "then", "else", "early"})
"""Words of the notation; a name that is one of them stands in double quotes."""

_IDENTIFIER = r"[^\W\d]\w*"
_NUMBER = r"[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf\b"
# In a filter there may be brackets inside of texts and of quoted names.
_FILTER = r"""\[(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|[^\]'"])*\]"""
_TOKEN = re.compile(
    rf"""\s*(?:(?P<filter>{_FILTER})|(?P<text>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")*")"""
    rf"|(?P<number>{_NUMBER})|(?P<plain>{_IDENTIFIER})|(?P<sign><=|≤|[:;,|/()%=]))",
)
EXAMPLE = "a mesh reads like `mesh A: B C 60 % or C B 40 % by if x <= 5 then 1 else 2; B: A C`"


@dataclass(frozen=True)
class MeshWord:
    """A word; the text of a filter, name or text is without what it is put in."""

    kind: WordKind
    text: str
    place: Caret

    def is_sign(self, sign: str) -> bool:
        return self.kind == "sign" and self.text == sign

    def is_word(self, word: str) -> bool:
        return self.kind == "word" and self.text == word


def mesh_words(text: str) -> Iterator[MeshWord]:
    """All words of a text."""
    start = 0
    while text[start:].strip():
        match = _TOKEN.match(text, start)
        if match is None:
            at = len(text) - len(text[start:].lstrip())
            refuse(f"a stray {text[at]}", Caret(text, at, at + 1, "--plan"), EXAMPLE)
        yield _word(text, match)
        start = match.end()


def _word(text: str, match: re.Match[str]) -> MeshWord:
    group = str(match.lastgroup)
    found, place = match[group], Caret(text, match.start(group), match.end(), "--plan")
    match group:
        case "filter":
            return MeshWord("filter", found[1:-1].strip(), place)
        case "text":
            return MeshWord("text", found[1:-1].replace("''", "'"), place)
        case "quoted":
            return MeshWord("name", found[1:-1].replace('""', '"'), place)
        case "number":
            return MeshWord("number", found.replace("_", ""), place)
        case "plain":
            is_word = found.lower() in RESERVED
            return MeshWord(
                "word" if is_word else "name", found.lower() if is_word else found, place
            )
        case _:
            return MeshWord("sign", "<=" if found == "≤" else found, place)


def name_text(name: str) -> str:
    """The name as the notation takes it: in double quotes where it would be taken for else."""
    is_plain = re.fullmatch(_IDENTIFIER, name) and name.lower() not in RESERVED | {"inf"}
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def literal_text(value: str) -> str:
    """A text in single quotes."""
    return "'" + value.replace("'", "''") + "'"
