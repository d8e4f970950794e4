"""Drivers of Spark that are killed while they run a script over tables that change: every batch
keeps its version, and each result is there once."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.engines.crashes import Crash
from support.tables.table_kills import TableRun, finish
from support.tables.table_scripts import TableScript

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DECOY = 70
"""A version that no batch is to read: those that have been begun have their own."""
KILLS = [
    (Crash("before the commit", 1), DECOY),
    (Crash("before a version is forgotten", 0), 2),
]
"""Where each driver dies, both in batch 1, and the version that is there for the next."""


@pytest.mark.spark
@pytest.mark.slow
def test_killed_drivers_keep_the_versions_of_their_batches(
    spark: SparkSession, tmp_path: Path
) -> None:
    case = TableScript(tmp_path)
    case.write()
    for crash, version in KILLS:
        assert TableRun(tmp_path, crash).exit_code() == -signal.SIGKILL
        case.change(version)
    finish(spark, tmp_path)
    wanted = case.expected()
    assert case.found() == wanted
    assert min(rows.total() for rows in wanted.values()) > 5
    assert len(case.kept) == 2
