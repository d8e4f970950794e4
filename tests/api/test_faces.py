"""The package's faces: each is there, light to import, and what its signature says."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any, get_args, get_type_hints

import pytest

import penstock as ps
from penstock import api
from penstock.engine.local import LocalRun
from penstock.engine.run.options import RunOptions
from penstock.engine.spark.handle import SparkRun
from penstock.errors import UsageError

FACES = ("start", "local", "check", "explain")


@pytest.mark.parametrize("name", ps.__all__)
def test_every_face_is_there(name: str) -> None:
    assert getattr(ps, name) is not None
    assert name in dir(ps)


def test_what_is_no_face_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ps.nothing  # noqa: B018


def test_a_query_is_made_with_the_options_that_are_shown() -> None:
    assert ps.sql is api.sql
    options = inspect.signature(ps.sql).parameters
    assert "stats" in options
    assert all(option.kind is not option.VAR_KEYWORD for option in options.values())
    assert "`goal` is `steady`" in (inspect.getdoc(ps.sql) or "")


def test_both_engines_take_the_same_options() -> None:
    here, there = (
        inspect.signature(method).parameters
        for method in (ps.ContinuousQuery.local, ps.ContinuousQuery.start)
    )
    assert dict(here) == {name: option for name, option in there.items() if name != "spark"}
    # Who follows the streams is made of `replan`, and so is a pin that is followed; when state is
    # rebuilt at once is for tests; sinks of several queries are given as one option.
    unasked = {"supervisor", "followed_by", "rebuilt_at_once", "pin", "sinks"}
    made = {*RunOptions.__dataclass_fields__} - unasked
    assert {*here} - {"self", "replan"} == made
    assert {*inspect.signature(RunOptions.of).parameters} == made


@pytest.mark.parametrize("handle", [LocalRun, SparkRun])
def test_both_handles_are_runs(handle: Any) -> None:
    assert ps.Run in handle.__mro__
    for name, member in vars(ps.Run).items():
        if not name.startswith("_"):
            assert getattr(handle, name) is not member, name


def test_the_package_alone_loads_next_to_nothing() -> None:
    code = "import sys, penstock; print(*[m for m in sys.modules if m.startswith('penstock')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["penstock"]


@pytest.mark.parametrize("engine", ["flink", "Spark", "", None, 3, ["spark"]])
def test_an_engine_is_refused_in_one_way(engine: Any) -> None:
    script = "CREATE STREAM a (ts BIGINT) WITH (format='csv', path='a', timestamp='ts', unit='s');"
    script += " SELECT * FROM a [NOW]"
    with pytest.raises(UsageError) as planning:
        ps.sql(script, engine=engine)
    assert str(planning.value) == f"no engine {engine!r}\nhint: there are spark, local, laboratory"
    with pytest.raises(UsageError) as checking:
        ps.sql(script).check(sink="noop", checkpoint="c", engine=engine)
    assert str(checking.value) == f"no engine {engine!r}\nhint: there are spark, local"


@pytest.mark.parametrize("face", [ps.sql, *map(ps.ContinuousQuery.__dict__.get, FACES)])
def test_type_hints_can_be_looked_up(face: Any) -> None:
    hints = get_type_hints(face)
    assert hints["return"] is not None
    if "sink" in hints:
        assert ps.Sink in get_args(hints["sink"])
