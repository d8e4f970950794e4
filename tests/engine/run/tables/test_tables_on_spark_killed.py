"""Drivers of Spark that are killed while they run a script over tables that change: every batch
keeps its version, and each result is there once."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from support.engines.crashes import Crash
from support.tables.table_kills import TableRun
from support.tables.table_scripts import TableScript

DECOY = 70
"""A version that no batch is to read: those that have been begun have their own."""
KILLS = [
    (Crash("before the commit", 1), DECOY),
    (Crash("before a version is forgotten", 0), 2),
]
"""Where each driver dies, both in batch 1, and the version that is there for the next."""


@pytest.mark.spark
@pytest.mark.slow
def test_killed_drivers_keep_the_versions_of_their_batches(tmp_path: Path) -> None:
    case = TableScript(tmp_path)
    case.write()
    for crash, version in KILLS:
        assert TableRun(tmp_path, crash).exit_code() == -signal.SIGKILL
        case.change(version)
    assert TableRun(tmp_path).exit_code() == 0
    wanted = case.expected()
    assert case.found() == wanted
    assert min(rows.total() for rows in wanted.values()) > 5
    assert len(case.kept) == 2
