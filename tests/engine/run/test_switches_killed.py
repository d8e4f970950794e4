"""Killed while it switches from plan to plan, and gone on with others, a run is exact."""

from __future__ import annotations

import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.adapt.training.training_log import load_training
from penstock.cql import parse
from penstock.engine.places.place import Place as Folder
from penstock.engine.sinks.sink import parquet
from penstock.engine.state.store import Store
from support.engines.crashes import TRAINING_POINTS, Crash, Run, exit_code
from support.engines.soak import expected, results, script, write_input

QUERIES = ("chain", "view", "filtered", "pair")
KILLS = [
    ("chain", "before a rebuild", (0, 1)),
    ("filtered", "in a rebuild", (0, 2)),
    ("view", "after a rebuild", (1, 2)),
    ("filtered", "in a chunk", (9, 30)),
    ("view", "after a chunk", (2, 40)),
    ("pair", "before the commit", (0, 3)),
    ("filtered", "in the commit, after the name", (1, 0)),
    ("pair", "after the commit", (1, 1)),
    ("chain", "in the sweep", (0, 2)),
]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Counter[Any]]]:
    """Input of a few batches, and what each query makes of it."""
    folder = tmp_path_factory.mktemp("input")
    write_input(folder, 5, Random(6))
    return folder, {query: expected(script(query, folder)) for query in QUERIES}


@pytest.mark.parametrize(("query", "point", "calls"), KILLS, ids=lambda given: str(given))
def test_a_killed_run_goes_on_with_other_plans(
    query: str,
    point: str,
    calls: tuple[int, ...],
    prepared: tuple[Path, dict[str, Counter[Any]]],
    tmp_path: Path,
) -> None:
    folder, wanted = prepared
    sink = parquet(tmp_path / "results")
    run = Run(script(query, folder), str(tmp_path / "checkpoint"), sink.name)
    codes = []
    for number, call in enumerate((*calls, 10**9)):
        deadly = replace(run, seed=f"{query} {point} {number}", crash=Crash(point, call))
        codes.append(exit_code(deadly))
        if codes[-1] == 0:
            break
    assert codes[-1] == 0
    assert len(codes) > 1
    assert set(codes[:-1]) == {-signal.SIGKILL}
    assert results(sink) == wanted[query]
    assert wanted[query].total() > 30


@pytest.mark.parametrize("point", TRAINING_POINTS)
def test_a_run_that_is_killed_as_it_trains_goes_on(
    point: str, prepared: tuple[Path, dict[str, Counter[Any]]], tmp_path: Path
) -> None:
    folder, wanted = prepared
    sink = parquet(tmp_path / "results")
    run = Run(script("filtered", folder), str(tmp_path / "checkpoint"), sink.name, trains=True)
    for call in (0, 1):
        assert exit_code(replace(run, crash=Crash(point, call))) == -signal.SIGKILL
    assert exit_code(run) == 0
    assert results(sink) == wanted["filtered"]
    # The last training is there, for a run that would come next.
    assert load_training(Store(Folder.of(run.checkpoint)), parse(run.text))
