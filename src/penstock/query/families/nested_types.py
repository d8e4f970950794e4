"""Types that are made of others, as they are written: ARRAY<…>, MAP<…, …> and STRUCT<…: …, …>."""

from __future__ import annotations

import re
from collections.abc import Iterable

Parts = tuple[tuple[str, str], ...]
"""The types inside of another, by name."""

_OUTER = re.compile(r"(ARRAY|MAP|STRUCT)\s*<(.*)>", re.IGNORECASE | re.DOTALL)
_MEMBER = re.compile(r"(`(?:[^`]|``)+`|[^\s:`<>,()]+)\s*(?::\s*|\s+)(\S.*)", re.DOTALL)
# Names of what is inside of an ARRAY and a MAP.
_INNER = {"ARRAY": ("element",), "MAP": ("key", "value")}


def split(written: str) -> tuple[str, Parts] | None:
    """The kind of a nested type, and the types inside of it by name; None if it is no such type.

    `STRUCT<city: STRING, at: MAP<STRING, INT>>` → STRUCT, (city, STRING), (at, MAP<STRING, INT>)
    """
    outer = _OUTER.fullmatch(written.strip())
    if outer is None:
        return None
    kind, inner = outer[1].upper(), [each.strip() for each in _pieces(outer[2])]
    if kind in _INNER:
        names = _INNER[kind]
        return (kind, tuple(zip(names, inner, strict=True))) if len(names) == len(inner) else None
    members = [_MEMBER.fullmatch(each) for each in inner]
    found = [(_unquoted(each[1]), each[2]) for each in members if each]
    names_seen = {name.lower() for name, _ in found}
    is_sound = len(found) == len(members) == len(names_seen)
    return (kind, tuple(found)) if is_sound else None


def joined(kind: str, parts: Iterable[tuple[str, str]]) -> str:
    """A nested type as we write it."""
    if kind != "STRUCT":
        return f"{kind}<{', '.join(type_ for _, type_ in parts)}>"
    return f"STRUCT<{', '.join(f'{quoted(name)}: {type_}' for name, type_ in parts)}>"


def quoted(name: str) -> str:
    """A name, in backticks if it is not a word."""
    return name if name.isidentifier() else f"`{name.replace('`', '``')}`"


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _pieces(inner: str) -> list[str]:
    """What stands between the commas that are in no brackets."""
    pieces, depth, is_quoted = [""], 0, False
    for letter in inner:
        is_quoted ^= letter == "`"
        depth += 0 if is_quoted else (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0 and not is_quoted:
            pieces.append("")
        else:
            pieces[-1] += letter
    return pieces
