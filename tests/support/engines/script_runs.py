"""Scripts run on an engine, and what their sinks then hold, beside what they mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq

from penstock.engine.local import LocalRun, open_script
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import Sink, noop, parquet
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.expression import Value
from penstock.query.script import Script
from penstock.query.view import CHANGE, TIME
from reference_scripts import Told, answer_script
from support.plans.every_kind import any_kind
from support.streams.cases import canonical
from support.streams.scripts import ScriptCase

Results = dict[str, Counter[tuple[Any, ...]]]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def plans_of(script: Script, rng: Random | None = None) -> dict[str, Plan]:
    """Plans that follow FROM, or any at all."""
    return {
        each.name: default_plan(each.query) if rng is None else any_kind(each.query, rng)
        for each in script.members
    }


def sinks_of(script: Script, folder: Path) -> dict[str, Sink]:
    """A folder for each query that is shown."""
    return {each.name: parquet(folder / "results" / each.name) for each in script.shown}


def opened(
    script: Script, folder: Path, plans: Mapping[str, Plan] | None = None, **more: Any
) -> LocalRun:
    """The script, ready to run in this process."""
    options = RunOptions(sink=noop(), checkpoint=str(folder / "checkpoint"), **more)
    return open_script(script, plans or plans_of(script), sinks_of(script, folder), options)


def expected(case: ScriptCase, *, drain: bool = True) -> Results:
    """What the queries that are shown mean."""
    made = answer_script(case.script, case.brought, drain)
    return {
        each.name: canonical(_row(told) for told in made[each.name].results)
        for each in case.script.shown
    }


def _row(told: Told) -> tuple[Value, ...]:
    if told.change is None:
        return told.values
    return (*told.values, _EPOCH + timedelta(microseconds=told.time), told.change)


def found(script: Script, folder: Path) -> Results:
    """What the sinks hold."""
    sinks = sinks_of(script, folder)
    return {each.name: canonical(_rows(sinks[each.name], each.query)) for each in script.shown}


def _rows(sink: Sink, query: Query) -> list[tuple[Value, ...]]:
    names = [output.name for output in query.results]
    names += [] if query.view is None else [TIME, CHANGE]
    files = sorted(Path(sink.place.path).glob("*.parquet"))
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    return [tuple(row[name] for name in names) for row in rows]
