"""The search for a mesh as text, for `--mesh`: `search=sa, start=content, stop=work:500`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from difflib import get_close_matches
from typing import NoReturn

from penstock.errors import Caret, PlanError
from penstock.plan.mesh_search import (
    DEFAULT_SEARCH,
    STARTS,
    STRATEGIES,
    MeshSearch,
    Plateau,
    Rounds,
    StopRule,
    Work,
)

_EXAMPLE = "write it like --mesh 'search=sa, start=content, stop=plateau, window=1000, ruster=100'"
_STOPS = "rounds:K, plateau or work:N"


def parse_mesh_search(text: str) -> MeshSearch:
    """The search that a text describes; what it does not name is as usual."""
    found, seen = DEFAULT_SEARCH, set[str]()
    start = 0
    for part in text.split(","):
        place = _place(text, start, part)
        start += len(part) + 1
        if not part.strip():
            continue
        name, equals, value = (each.strip() for each in part.partition("="))
        if name not in _READERS:
            _refuse(f"a mesh has no setting {name!r}", place, _near(name, _READERS, "settings"))
        if not equals or not value:
            _refuse(f"{name} has no value", place, _EXAMPLE)
        if name in seen:
            _refuse(f"{name} is given twice", place, "give each setting once")
        seen.add(name)
        found = _READERS[name](found, value, place)
    return found


def _search(found: MeshSearch, value: str, place: Caret) -> MeshSearch:
    for known in STRATEGIES:
        if value == known:
            return replace(found, search=known)
    _refuse(f"no search {value!r}", place, _near(value, STRATEGIES, "strategies"))


def _start(found: MeshSearch, value: str, place: Caret) -> MeshSearch:
    for known in STARTS:
        if value == known:
            return replace(found, start=known)
    _refuse(f"no start {value!r}", place, _near(value, STARTS, "starts"))


def _stop(found: MeshSearch, value: str, place: Caret) -> MeshSearch:
    kind, colon, number = value.partition(":")
    stop: StopRule
    if kind == "plateau" and not colon:
        stop = Plateau()
    elif kind == "rounds" and colon:
        stop = Rounds(_number(number, place, "rounds"))
    elif kind == "work" and colon:
        stop = Work(_number(number, place, "classifiers"))
    else:
        _refuse(f"a search does not stop by {value!r}", place, f"stop is {_STOPS}")
    return replace(found, stop=stop)


def _window(found: MeshSearch, value: str, place: Caret) -> MeshSearch:
    return replace(found, window=_number(value, place, "tuples"))


def _ruster(found: MeshSearch, value: str, place: Caret) -> MeshSearch:
    return replace(found, ruster=_number(value, place, "tuples"))


_READERS: dict[str, Callable[[MeshSearch, str, Caret], MeshSearch]] = {
    "search": _search,
    "start": _start,
    "stop": _stop,
    "window": _window,
    "ruster": _ruster,
}

_MOST = 10**9


def _number(text: str, place: Caret, what: str) -> int:
    digits = text.strip().replace("_", "")
    if not (digits.isascii() and digits.isdecimal()) or not 1 <= int(digits[:12]) <= _MOST:
        _refuse(f"{text.strip()!r} is no number of {what}", place, f"from 1 to {_MOST:,}")
    return int(digits)


def _near(word: str, known: Iterable[str], what: str) -> str:
    names = list(known)
    close = get_close_matches(word.lower(), names, n=1)
    return f"did you mean {close[0]}?" if close else f"{what} are {', '.join(names)}"


def _place(text: str, start: int, part: str) -> Caret:
    first = start + len(part) - len(part.lstrip())
    return Caret(text, first, max(start + len(part.rstrip()), first + 1), "--mesh")


def _refuse(message: str, place: Caret, hint: str) -> NoReturn:
    raise PlanError(message, place=place, hint=hint)
