"""A light start: a short run in one process loads no libraries that it does not use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.running.batches import Session, reads_by_spark
from penstock.cql import parse
from penstock.query.source import Source
from support.engines.reported import script

HEAVY = ("pandas", "scipy.linalg", "river.drift", "pyspark", "penstock.stats.files.schema")
RUN = f"""
import sys
from penstock.cli.main import app
try:
    app()
except SystemExit as ended:
    print([name for name in {HEAVY} if name in sys.modules], ended.code)
"""
LOADED = """
import gc
from penstock.light_start import loading
with loading():
    print(gc.isenabled())
print(gc.isenabled(), gc.get_freeze_count())
with loading():
    import decimal
print(gc.isenabled(), gc.get_freeze_count() > 1000)
"""
AFTER = """
from penstock.light_start import start_light
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


def sources(format_: str) -> list[Source]:
    """The source of a query that reads a format."""
    with_ = f"format = '{format_}', path = 'p', timestamp = 'ts'"
    query = parse(f"CREATE STREAM a (ts TIMESTAMP) WITH ({with_}); SELECT * FROM a [NOW]")
    return list(query.sources.values())


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


@pytest.mark.parametrize("format_", ["csv", "spark:penstock"])
@pytest.mark.parametrize("has_functions", [False, True])
def test_workers_are_light_where_no_code_of_others_runs(
    format_: str, has_functions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.engine.spark import session

    asked: dict[str, object] = {}
    monkeypatch.setattr(session, "own_session", lambda *_, **how: asked.update(how))
    Session("local[1]", {}, has_functions).opened(sources(format_))
    is_read = format_ != "csv"
    light = not is_read and not has_functions
    assert asked == {"registers": is_read, "is_light": light, "waits": False}


def test_what_is_loaded_is_not_looked_through_for_garbage() -> None:
    assert printed(LOADED) == ["False", "True 0", "True True"]


def test_what_stayed_out_is_there_for_who_asks() -> None:
    assert printed(AFTER) == ["[1]", "1 1.0"]


@pytest.mark.parametrize(("format_", "is_read"), [("csv", False), ("spark:penstock", True)])
def test_only_who_reads_by_spark_needs_our_format_there(format_: str, is_read: bool) -> None:
    assert reads_by_spark(sources(format_)) == is_read
