"""Random views over windows most of which count rows."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from penstock.query import Input, RowsWindow
from support.streams.cases import Case, random_view


def random_rows_view(seed: int) -> Case:
    """The view of a seed, most windows of which count rows, at least one."""
    rng = Random(f"rows view {seed}")
    case = random_view(5_000 + seed)
    streams = [item.alias for item in case.query.streams]
    chosen = {alias for alias in streams if rng.random() < 0.6} or {streams[0]}
    inputs = tuple(
        _counting(item, rng) if item.alias in chosen else item for item in case.query.inputs
    )
    return replace(case, query=replace(case.query, inputs=inputs))


def _counting(item: Input, rng: Random) -> Input:
    by: tuple[str, ...] = rng.choice(((), (), ("k",), ("j",), ("s", "j")))
    return replace(item, window=RowsWindow(rng.choice((1, 3, 7, 20)), by))
