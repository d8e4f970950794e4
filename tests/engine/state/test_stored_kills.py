"""Killed at any moment and started again, a run on S3 leaves each result in its sink once."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.engine.sinks.sink import Sink
from support.engines.crashes import STORE_POINTS, Run, survived
from support.engines.soak import expected, script, write_input
from support.stores.stored_runs import names_in, stored_results

POINTS = (
    "after a chunk",
    "after the results are staged",
    "before the commit",
    "after the commit",
    "after publishing",
    "in the sweep",
    *STORE_POINTS,
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Counter[Any]]:
    """Input of a few batches, and what the query makes of it."""
    folder = tmp_path_factory.mktemp("input")
    write_input(folder, 3, Random(5))
    return folder, expected(script("chain", folder))


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_is_survived(point: str, bucket: str, prepared: tuple[Path, Counter[Any]]) -> None:
    folder, wanted = prepared
    sink = Sink.named(f"parquet:s3://{bucket}/out")
    run = Run(script("chain", folder), f"s3://{bucket}/checkpoint", sink.name)
    codes = survived(run, point, (1, 5, 400))
    assert codes[-1] == 0
    assert set(codes[:-1]) == {-signal.SIGKILL}
    assert stored_results(sink) == wanted
    assert [name for name in names_in(bucket) if "staging" in name] == []
