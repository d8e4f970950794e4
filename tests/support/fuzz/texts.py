"""Texts that are nearly scripts: real ones, with pieces lost, doubled, mixed up or made hostile."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random

from support.streams.scripts import random_statements

ROOT = Path(__file__).parent.parent.parent.parent
_PIECE = re.compile(r"\w+|\s+|.", re.DOTALL)
_BLOCK = re.compile(r"^```sql\n(.*?)^```", re.DOTALL | re.MULTILINE)

_HOSTILE = (
    "''", "'", '"', "`", "\0", "\ufeff", "\u2028", "🦀", "é", "--", "/*", "*/", ";", ";;", "$",
    "\\", "NULL", "-1", "0", "1e308", "1e-400", "99999999999999999999", "0x7f", "1_000", ".5",
    "5.", "*",
    "INTERVAL '1' YEAR", "[RANGE UNBOUNDED]", "[ROWS 0]", "[RANGE 0 SECONDS]", "EVERY 0 SECONDS",
    "CAST(NULL AS BIGINT)", "COUNT(DISTINCT *)", "OVER ()", "LIMIT 0", "x.y.z.w", "SELECT", "FROM",
    "WITH", "AS", "CREATE", "GROUP BY", "HAVING", "UNION ALL", "EXISTS (", "NOT", "BETWEEN",
    "IN ()",
)  # fmt: skip

Pieces = list[str]


@cache
def corpus() -> tuple[str, ...]:
    """Every script of the examples and of the pages, and some that were made up."""
    files = sorted((ROOT / "examples").rglob("*.cql"))
    pages = sorted((ROOT / "docs").rglob("*.md"))
    blocks = [block for page in pages for block in _BLOCK.findall(page.read_text())]
    made = [";\n".join(random_statements(Random(f"text {seed}"))) for seed in range(60)]
    return (*(file.read_text() for file in files), *blocks, *made)


def nearly_a_script(rng: Random) -> str:
    """A text that was a script before a few things happened to it."""
    pieces: Pieces = _PIECE.findall(rng.choice(corpus()))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        rng.choice(_CHANGES)(rng, pieces)
    return "".join(pieces)


def _drop(rng: Random, pieces: Pieces) -> None:
    start = _place(rng, pieces)
    del pieces[start : start + rng.choice((1, 1, 2, 5, 20))]


def _double(rng: Random, pieces: Pieces) -> None:
    start, length = _place(rng, pieces), rng.choice((1, 2, 5, 20))
    pieces[start:start] = pieces[start : start + length] * rng.choice((1, 1, 2, 30))


def _swap(rng: Random, pieces: Pieces) -> None:
    if pieces:
        one, other = _place(rng, pieces), _place(rng, pieces)
        pieces[one], pieces[other] = pieces[other], pieces[one]


def _poison(rng: Random, pieces: Pieces) -> None:
    pieces[_place(rng, pieces) : _place(rng, pieces)] = [" ", rng.choice(_HOSTILE), " "]


def _replace(rng: Random, pieces: Pieces) -> None:
    if pieces:
        pieces[_place(rng, pieces)] = rng.choice(_HOSTILE)


def _graft(rng: Random, pieces: Pieces) -> None:
    other: Sequence[str] = _PIECE.findall(rng.choice(corpus()))
    start, end = sorted((_place(rng, other), _place(rng, other)))
    place = _place(rng, pieces)
    pieces[place:place] = other[start:end]


def _nest(rng: Random, pieces: Pieces) -> None:
    place, depth = _place(rng, pieces), rng.choice((1, 10, 400))
    pieces[place:place] = ["(" * depth, "1", ")" * (depth - rng.choice((0, 0, 1)))]


def _lengthen(rng: Random, pieces: Pieces) -> None:
    words = [number for number, piece in enumerate(pieces) if piece.isidentifier()]
    if words:
        pieces[rng.choice(words)] *= rng.choice((10, 100))


def _cut(rng: Random, pieces: Pieces) -> None:
    del pieces[_place(rng, pieces) :]


def _place(rng: Random, pieces: Sequence[str]) -> int:
    return rng.randrange(len(pieces)) if pieces else 0


_CHANGES: tuple[Callable[[Random, Pieces], None], ...] = (
    _drop, _drop, _double, _swap, _poison, _replace, _replace, _graft, _nest, _lengthen, _cut,
)  # fmt: skip
