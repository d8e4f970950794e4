"""Selectivities of keys with NULLs: of all pairs of tuples, whatever plan measures them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import penstock as ps
from support.engines.supervised import follow

BATCHES, RATE, KEYS = 12, 200, 10
NULLS = {"a.k": 0.5, "a.j": 0.0, "b.k": 0.8, "c.j": 0.2}
"""The part of the values that are NULL."""


def write(folder: Path) -> None:
    """A second of event time a file."""
    rng = np.random.default_rng(5)
    for name, columns in {"a": "kj", "b": "k", "c": "j"}.items():
        (folder / name).mkdir(parents=True)
        for number in range(BATCHES):
            with open(folder / name / f"{number:03}.csv", "w", newline="", encoding="utf-8") as out:
                rows = csv.writer(out)
                rows.writerow(["ts", *columns])
                for time in np.sort(rng.integers(0, 1_000, RATE)).tolist():
                    rows.writerow([number * 1_000 + time, *(_key(rng, name, c) for c in columns)])


def _key(rng: np.random.Generator, name: str, column: str) -> int | str:
    is_null = rng.random() < NULLS[f"{name}.{column}"]
    return "" if is_null else int(rng.integers(0, KEYS))


def script(folder: Path) -> str:
    options = "timestamp='ts', unit='ms', format='csv'"
    return f"""
    CREATE STREAM a (ts BIGINT, k INT, j INT) WITH (path='{folder}/a', {options});
    CREATE STREAM b (ts BIGINT, k INT) WITH (path='{folder}/b', {options});
    CREATE STREAM c (ts BIGINT, j INT) WITH (path='{folder}/c', {options});
    SELECT a.ts AS at, b.ts AS bt, c.ts AS ct
    FROM a [RANGE 2 SECONDS], b [RANGE 2 SECONDS], c [RANGE 2 SECONDS]
    WHERE a.k = b.k AND a.j = c.j
    """


@pytest.mark.parametrize(
    "plan", ["a: b c; b: a c; c: a b", "a: c b; b: a c; c: a b", "((a b) c)", "((a c) b)"]
)
def test_nulls_count_among_the_pairs_for_every_plan(plan: str, tmp_path: Path) -> None:
    write(tmp_path / "data")
    query = ps.sql(script(tmp_path / "data"), engine="local", plan=plan)
    run = follow(query, tmp_path / "run", "off")
    figures = {figure.what: figure.value for figure in run.reports[-1].figures}
    for pair, sides in {"a.k = b.k": ("a.k", "b.k"), "a.j = c.j": ("a.j", "c.j")}.items():
        truth = float(np.prod([1.0 - NULLS[side] for side in sides])) / KEYS
        assert figures[pair] == pytest.approx(truth, rel=0.15)
