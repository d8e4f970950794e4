"""Scripts over tables that change: every query has the version of its batch, and reads it once."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from penstock.engine.local import open_script
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from support.engines.script_runs import plans_of
from support.tables.table_scripts import TableScript


@pytest.mark.parametrize("partitions", [1, 3])
def test_queries_meet_the_versions_of_their_batches(partitions: int, tmp_path: Path) -> None:
    case = TableScript(tmp_path)
    case.write()
    options = RunOptions(
        sink=noop(),
        checkpoint=str(tmp_path / "checkpoint"),
        partitions=partitions,
        report=case.after,
    )
    script = case.script
    run = open_script(script, plans_of(script, Random(partitions)), case.sinks, options)
    run.available_now(drain=True)
    wanted = case.expected()
    assert case.found() == wanted
    assert min(rows.total() for rows in wanted.values()) > 5
    # Two versions have been read, by two queries, and each has one row that is malformed.
    assert len(case.kept) == 2
    assert all(str(tmp_path / "t.csv") in line for line in case.kept)
