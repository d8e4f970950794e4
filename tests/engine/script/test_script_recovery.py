"""A script that is killed at any moment and started again leaves each result in its sink once."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from support.engines.crashes import Crash
from support.engines.script_crashes import ScriptRun, exit_codes, perform, results, write_input

# One run after another on the same checkpoint, each killed somewhere else: those that come first
# die before their batch is final, those after them make some progress.
SERIES = {
    "before the manifest": [
        Crash("after the file log", 0),
        Crash("in a chunk", 3),
        Crash("after derived rows", 1),
        Crash("between levels", 2),
        Crash("after malformed rows are staged", 1),
        Crash("after the results are staged", 9),
        Crash("before the commit", 1),
        Crash("in the commit, before the name", 9),
    ],
    "after it": [
        Crash("in the commit, after the name", 9),
        Crash("after the commit", 1),
        Crash("in publishing lines", 0),
        Crash("in publishing files", 1),
        Crash("after publishing", 4),
        Crash("after publishing", 5),
        Crash("before malformed rows are kept, in a script", 1),
        Crash("in the sweep of a query", 2),
        Crash("after the sweep of a query", 1),
        Crash("before derived rows are forgotten", 1),
        Crash("in the sweep", 0),
    ],
    "in the drain": [
        Crash("between levels", 1, in_drain=True),
        Crash("after the commit", 0, in_drain=True),
    ],
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Counter[str]]]:
    """Input of many batches, and what an undisturbed run makes of it."""
    folder = tmp_path_factory.mktemp("script")
    write_input(folder / "input", 14, Random(11))
    run = ScriptRun(str(folder / "input"), str(folder))
    perform(run)
    return run.folder, results(run)


@pytest.mark.parametrize("series", SERIES)
def test_a_killed_script_loses_and_doubles_nothing(
    series: str, whole: tuple[str, dict[str, Counter[str]]], tmp_path: Path
) -> None:
    folder, wanted = whole
    killed = [ScriptRun(folder, str(tmp_path), crash) for crash in SERIES[series]]
    codes = exit_codes([*killed, ScriptRun(folder, str(tmp_path))])
    assert codes == [*[-signal.SIGKILL] * len(killed), 0]
    assert results(killed[0]) == wanted
    assert min(each.total() for each in wanted.values()) > 10
    left = [path for path in tmp_path.rglob("*") if path.is_file() and "derived" in path.parts]
    assert not left
