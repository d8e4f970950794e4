"""Power cuts on a real file system, which loses what was not flushed: each result is there once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from penstock.engine.sinks.sink import Sink
from support.engines.crashes import Crash, Run, exit_code
from support.engines.soak import expected, results, script, write_input
from support.stores.loop_disk import LoopDisk, loop_disk

FILES = 20
DEATHS = (
    "before a chunk",
    "in a chunk",
    "after a chunk",
    "before the results are staged",
    "after the results are staged",
    "before the commit",
    "in the commit, before the name",
    "in the commit, after the name",
    "after the commit",
    "after publishing",
    "in the sweep",
    "after the sweep",
)
PUBLISHING = {"jsonl": "in publishing lines", "parquet": "in publishing files"}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[LoopDisk]:
    with loop_disk(tmp_path / "disk") as found:
        if found is None:
            pytest.skip("only root can mount an ext4 file system that loses power")
        yield found


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_results_are_there_once(kind: str, disk: LoopDisk, tmp_path: Path) -> None:
    rng = Random(f"cut {kind}")
    write_input(tmp_path / "in", FILES, rng)
    sink = Sink.named(f"{kind}:{disk.root / 'results'}")
    run = Run(script("common", tmp_path / "in"), str(disk.root / "checkpoint"), sink.name)
    for point in (*DEATHS, PUBLISHING[kind]):
        crash = Crash(point, rng.randrange(2))
        assert exit_code(replace(run, crash=crash)) == -signal.SIGKILL
        disk.cut()
    assert exit_code(run) == 0
    disk.cut()
    wanted = expected(run.text)
    assert wanted
    assert results(sink) == wanted
