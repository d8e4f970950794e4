"""Each query in a run of its own, then all in one: processor time of either, and their rows.

Planning is not counted: every query is planned from the same stats file for both. Runs go over the
same files, a file of each stream to a batch, into parquet.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow.csv as csv

from penstock.api import know_script
from penstock.bench.data import ensure_folder
from penstock.bench.nexmark.data import Events, as_text, tables
from penstock.bench.nexmark.rows import Fingerprint, fingerprint, rows_in
from penstock.bench.shared.machine import Machine
from penstock.bench.shared.queries import QUERIES, stats_text
from penstock.bench.workload import quoted
from penstock.cql import parse_script
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop, parquet
from penstock.optimize.options import PlanOptions
from penstock.optimize.script import decide_script
from penstock.plan.script import PlannedScript
from penstock.query.made.nexmark import STREAMS, StreamKind
from penstock.query.script import Member, Script
from penstock.stats.derived import Expected
from penstock.stats.known import Known

Progress = Callable[[str], None]
_FIRST_MTIME = 1_000_000_000
"""Readers take files in the order of their times; these are long past and a second apart."""


@dataclass(frozen=True)
class Size:
    """The events, and how often all of it is run."""

    events: Events = field(default_factory=lambda: Events(rate=50_000, seconds=40, step=1))
    repeat: int = 3


QUICK = Size(Events(rate=20_000, seconds=20, step=1), repeat=1)


@dataclass(frozen=True)
class Outcome:
    """Processor seconds of each query by itself, and of all together with and without sharing, of
    each repetition; queries whose rows differ; and what the planner made of it."""

    size: Size
    apart: Mapping[str, Sequence[float]]
    together: Sequence[float]
    unshared: Sequence[float]
    results: Mapping[str, int]
    wrong: Sequence[str]
    planned: PlannedScript

    @property
    def ratio(self) -> float:
        """How many times as much processor time the queries take one by one."""
        each = (statistics.median(seconds) for seconds in self.apart.values())
        return sum(each) / statistics.median(self.together)


def run_shared(size: Size, machine: Machine, folder: Path, progress: Progress) -> Outcome:
    """Run all queries, one by one and together, as often as the size says."""
    progress("events")
    data = _ensure_files(size.events, folder)
    script = parse_script(script_text(data, size.events, QUERIES))
    known = _knowledge(script, machine, size.events.rate)
    together = decide_script(script, known, PlanOptions(engine=machine.engine))
    off = PlanOptions(engine=machine.engine, off=frozenset({"sharing"}))
    unshared = decide_script(script, known, off)
    alone = {name: _alone(unshared, name) for name in QUERIES}
    with tempfile.TemporaryDirectory(prefix="penstock-shared-") as scratch:
        runs = _Runs(machine, Path(scratch))
        progress("all once, which loads and compiles code")
        runs.run(together, "warm up")
        found: dict[str, list[float]] = {}
        for number in range(size.repeat):
            progress(f"round {number + 1} of {size.repeat}")
            for name, planned in alone.items():
                found.setdefault(name, []).append(runs.run(planned, f"apart {number}"))
            found.setdefault("", []).append(runs.run(together, f"together {number}"))
            found.setdefault("off", []).append(runs.run(unshared, f"unshared {number}"))
        rows = {name: runs.rows(name) for name in QUERIES}
    return Outcome(
        size,
        {name: found[name] for name in QUERIES},
        found[""],
        found["off"],
        {name: each[0].count for name, each in rows.items()},
        [name for name, each in rows.items() if len(set(each)) != 1 or not each[0].count],
        together,
    )


def script_text(data: Path, events: Events, queries: Mapping[str, str]) -> str:
    """The streams over files, and queries with their names."""
    asked = [f"{_into(text, name)};" for name, text in queries.items()]
    return "\n".join([*(_stream(kind, events, data) for kind in STREAMS), *asked])


@dataclass
class _Runs:
    """Runs of scripts on a machine, each in a folder of its own."""

    machine: Machine
    scratch: Path
    folders: dict[str, list[Path]] = field(default_factory=dict)

    def run(self, planned: PlannedScript, name: str) -> float:
        """Run over all there is; processor seconds."""
        shown = [member.name for member in planned.script.shown]
        place = self.scratch / f"{name} {' '.join(shown)[:40]}"
        sinks = {each: parquet(place / each) for each in shown}
        options = RunOptions(
            sink=noop(), checkpoint=str(place / "checkpoint"), available_now=True, drain=True
        )
        begun = self.machine.seconds()
        self.machine.run(planned, sinks, options)
        for each in shown:
            self.folders.setdefault(each, []).append(place / each)
        return self.machine.seconds() - begun

    def rows(self, name: str) -> list[Fingerprint]:
        """What each run of a query has given."""
        return [fingerprint(rows_in(folder)) for folder in self.folders[name]]


def _alone(planned: PlannedScript, name: str) -> PlannedScript:
    script = Script((planned.script.member(name),))
    return PlannedScript(script, {name: planned.decisions[name]}, planned.capacity)


def _knowledge(
    script: Script, machine: Machine, rate: float
) -> Callable[[Member, Mapping[str, Expected]], Known]:
    """What the team knows of every query."""
    with tempfile.TemporaryDirectory(prefix="penstock-shared-") as scratch:
        path = Path(scratch, "stats.toml")
        path.write_text(stats_text(rate), encoding="utf-8")
        return know_script(script, path, None, machine.engine)


def _into(text: str, name: str) -> str:
    return text.replace(" FROM ", f" INTO {name} FROM ", 1)


def _stream(kind: StreamKind, events: Events, folder: Path) -> str:
    known = STREAMS[kind]
    columns = ", ".join(f"{field.name} {field.type}" for field in known.fields)
    return (
        f"CREATE STREAM {kind} ({columns}) WITH (format = 'csv', timestamp = 'dateTime', "
        f"path = {quoted(folder / kind)}, rate = {events.rate * known.share:g}, max_files = 1);"
    )


def _ensure_files(events: Events, root: Path) -> Path:
    name = f"shared-csv-rate{events.rate}-{events.seconds}s-step{events.step}"
    return ensure_folder(root / name, partial(_write, events))


def _write(events: Events, folder: Path) -> None:
    for kind in STREAMS:
        (folder / kind).mkdir(parents=True)
        for number, rows in enumerate(tables(events, kind)):
            path = folder / kind / f"{number:06d}.csv"
            csv.write_csv(as_text(rows), path)
            os.utime(path, (_FIRST_MTIME + number, _FIRST_MTIME + number))
