"""Texts without literals: what a query compares with may be data, or a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

TEXT, NUMBER = "'…'", "0"
"""What stands in the place of a literal."""

_COMMENT = r"--[^\n]*|/\*.*?(?:\*/|\Z)|\{#.*?(?:#\}|\Z)"
_STRING = r"'(?:[^']|'')*(?:'|\Z)|“[^”]*(?:”|\Z)"
_NAME = r"\"[^\"]*(?:\"|\Z)|`[^`]*(?:`|\Z)"
_DIGITS = r"(?<![\w.])(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\w*"
# Windows, how often, how many and how wide: what a planner goes by, and no data.
_MEASURES = (
    r"(?i:\b(?:RANGE|ROWS|SLIDE|TUMBLE|WINDOW|EVERY|LIMIT)\s+(?:'[^']*'|[\d.]+))"
    r"|(?i:\b(?:DECIMAL|NUMERIC|VARCHAR|CHAR)\s*\(\s*\d+\s*(?:,\s*\d+\s*)?\))"
)
_TOKENS = re.compile(
    f"(?P<comment>{_COMMENT})|(?P<measure>{_MEASURES})|(?P<string>{_STRING})|(?P<name>{_NAME})"
    f"|(?P<number>{_DIGITS})|(?P<open>\\()|(?P<close>\\))|(?P<word>\\w+)|(?P<other>[^\\s])",
    re.DOTALL,
)
_LITERALS = re.compile(f"(?P<string>{_STRING})|(?P<number>{_DIGITS})", re.DOTALL)
_PLAIN = re.compile(
    f"(?P<string>{_STRING})|(?P<sign>[<>=≤≥≠]\\s*)(?P<number>-?{_DIGITS})", re.DOTALL
)
_LONG = 4
"""Characters from which on a number of the query is known again in other texts."""

_HARMLESS = """
format timestamp unit lateness idle future rate refresh key max_files max_age max_bytes max_row
max_time max_rows rows duration value isolation data_loss stream
out_of_order hot_sellers hot_auctions hot_bidders registry_header failondataloss
maxoffsetspertrigger
"""
_OPTIONS = frozenset(_HARMLESS.split())
"""Options of sources that say how something is read, and neither where nor by whom."""


def masked_query(text: str) -> str:
    """A query without comments and literals; windows and harmless options stay."""
    made, end = [], 0
    for found, is_kept in _judged(text):
        made += [text[end : found.start()], found[0] if is_kept else _mask(found)]
        end = found.end()
    return "".join(made) + text[end:]


def masked_words(text: str) -> str:
    """A condition without literals; also one that was cut off."""
    return _LITERALS.sub(_mask, text)


def _mask(found: re.Match[str]) -> str:
    kind = found.lastgroup
    return TEXT if kind == "string" else NUMBER if kind == "number" else ""


def _judged(text: str) -> Iterator[tuple[re.Match[str], bool]]:
    """The tokens of a text, and whether each may be seen."""
    depth, option, before = 0, "", ""
    for found in _TOKENS.finditer(text):
        kind, word = found.lastgroup, found[0]
        if kind == "open":
            depth = depth + 1 if depth or before.upper() == "WITH" else 0
        elif kind == "close":
            depth = max(depth - 1, 0)
        elif word == "=":
            option = before.lower()
        is_option = depth == 1 and before == "=" and option in _OPTIONS
        yield found, kind not in ("comment", "string", "number") or is_option
        before = before if kind == "comment" else word


def literals(text: str) -> set[str]:
    """The literals of a query that are masked in it: texts without quotes, and longer numbers.

    One that is a name of the query too is none: names are seen.
    """
    judged = [*_judged(text)]
    found = {(each.lastgroup, each[0]) for each, is_kept in judged if not is_kept}
    names = {each[0].strip('"`') for each, is_kept in judged if is_kept}
    texts = {word[1:].removesuffix(word[-1]) for kind, word in found if kind == "string"}
    numbers = {word for kind, word in found if kind == "number" and len(word) >= _LONG}
    plain = {text.replace("''", "'") for text in texts}
    return (texts | plain | numbers) - names - {""}


@dataclass(frozen=True)
class Mask:
    """Takes literals out of sentences in which figures stay, by the conditions that are known."""

    known: tuple[tuple[str, str], ...] = ()
    """Texts and what stands for them, the longest first."""

    @classmethod
    def of(cls, conditions: Iterable[str], query: str) -> Mask:
        """A mask for what is told of a query with such conditions."""
        said = {each: masked_words(each) for each in conditions}
        said |= {each: NUMBER if each[0].isdigit() else "…" for each in literals(query)}
        changed = [(old, new) for old, new in said.items() if old != new]
        return cls(tuple(sorted(changed, key=lambda each: (-len(each[0]), each))))

    def sentence(self, text: str) -> str:
        """A reason, or a plan: the figures stay, but not what is compared with."""
        for old, new in self.known:
            text = new.join(re.split(rf"(?<!\w){re.escape(old)}(?!\w)", text))
        if re.search(r"\bmesh\b", text):  # Its routes are told apart by values of the data.
            return _LITERALS.sub(_mask_unless_share, text)
        return _PLAIN.sub(lambda f: TEXT if f["string"] else f["sign"] + NUMBER, text)


def _mask_unless_share(found: re.Match[str]) -> str:
    return found[0] if found.string[found.end() :].startswith(" %") else _mask(found)
