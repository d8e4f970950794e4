"""A light start: a short run in one process loads no libraries that it does not use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.running.batches import reads_by_spark
from penstock.cql import parse
from support.engines.reported import script

HEAVY = ("pandas", "scipy.linalg", "river", "pyspark")
RUN = f"""
import sys
from penstock.cli.main import app
try:
    app()
except SystemExit as ended:
    print([name for name in {HEAVY} if name in sys.modules], ended.code)
"""
AFTER = """
from penstock.cli.running.light_start import start_light
start_light()
import pyarrow as pa
print(list(pa.table({"a": [1]}).to_pandas()["a"]))
import numpy as np, pandas as pd, scipy.linalg
print(pa.array(pd.Series([1.0, float("nan")])).null_count, scipy.linalg.det(np.eye(2)))
"""
FUNCTIONS = """
import pandas
import penstock as ps

@ps.function(cost="1 us", selectivity=0.5)
def is_odd(k: int) -> bool:
    return k % 2 == 1
"""


def printed(code: str, *arguments: str) -> list[str]:
    """What a process prints that runs this code."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("has_functions", [False, True])
def test_a_short_run_loads_what_it_uses(
    has_functions: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("query.cql").write_text(script(tmp_path, files=2))
    Path("own.py").write_text(FUNCTIONS)
    own = ("--functions", "own.py") if has_functions else ()
    options = ("--engine", "local", "--available-now", "--sink", "noop", *own)
    loaded = printed(RUN, "run", "query.cql", *options)[-1]
    assert loaded == ("['pandas', 'scipy.linalg'] 0" if has_functions else "[] 0")


def test_what_stayed_out_is_there_for_who_asks() -> None:
    assert printed(AFTER) == ["[1]", "1 1.0"]


@pytest.mark.parametrize(("format_", "is_read"), [("csv", False), ("spark:penstock", True)])
def test_only_who_reads_by_spark_needs_our_format_there(format_: str, is_read: bool) -> None:
    with_ = f"format = '{format_}', path = 'p', timestamp = 'ts'"
    query = parse(f"CREATE STREAM a (ts TIMESTAMP) WITH ({with_}); SELECT * FROM a [NOW]")
    assert reads_by_spark(query.sources.values()) == is_read
