"""A query that lives through everything: its results must be those that it means, each once.

    python tests/support/simulation/simulation.py --seeds 2000
    python tests/support/simulation/simulation.py --seed 17 --show

All that is drawn follows from the seed: the streams, the plans, how tasks run, what goes wrong, and
what a power cut leaves. So a seed that fails fails again, step by step.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pyarrow.parquet as pq

from penstock.cql import parse_script
from penstock.engine import local
from penstock.engine.local import LocalRun, open_run, open_script
from penstock.engine.places import file_names
from penstock.engine.places.place import Place
from penstock.engine.reports.log import ReportLog
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import Sink, noop
from penstock.engine.sources.listing.file_log import FileLog
from penstock.engine.state import checkpoint, hold
from penstock.engine.state import manifest as manifests
from penstock.engine.state.listing import chain, filed_state
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store, member_store
from penstock.engine.state.upkeep.chunk_cache import opened_chunks
from penstock.errors import CheckpointError, PenstockError
from penstock.plan.default_plan import default_plan
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.query.script import Script
from reference import Row
from reference_scripts import Told, answer_script
from support.plans.every_kind import any_kind
from support.simulation.simulated_disk import Death, Driver, Fault, SimulatedDisk, in_place
from support.simulation.simulated_drivers import Turns
from support.simulation.simulated_tasks import SimulatedTasks

STREAMS = """
CREATE STREAM a (ts BIGINT, k BIGINT, v BIGINT) WITH (format='csv', path='{folder}/in/a',
  timestamp='ts', unit='s', max_files=1, lateness='4 s', malformed='keep:{folder}/disk/bad');
CREATE STREAM b (ts BIGINT, k BIGINT, v BIGINT) WITH (format='csv', path='{folder}/in/b',
  timestamp='ts', unit='s', max_files=1, lateness='4 s');
"""
QUERIES = {
    "join": "SELECT a.v AS x, b.v AS y INTO found FROM a [RANGE 8 s], b [RANGE 8 s] "
    "WHERE a.k = b.k",
    "rows": "SELECT a.v AS x, b.v AS y INTO found FROM a [ROWS 3], b [RANGE 9 s] WHERE a.k = b.k",
    "view": "SELECT a.k AS x, COUNT(*) AS n, SUM(b.v) AS y INTO found "
    "FROM a [RANGE 8 s], b [RANGE 8 s] WHERE a.k = b.k GROUP BY a.k EVERY 5 s",
    "script": "CREATE STREAM pairs AS SELECT a.k AS k, a.v AS x, b.v AS y, a.ts AS ts "
    "FROM a [RANGE 8 s], b [RANGE 8 s] WHERE a.k = b.k;"
    "SELECT k, COUNT(*) AS n INTO counts FROM pairs [RANGE 6 s] GROUP BY k EVERY 5 s;"
    "SELECT x, y INTO found FROM pairs [NOW] WHERE x < 90",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LENGTH = 160
_CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
_MANIFEST = re.compile(r".*/checkpoint/manifests/(\d{12})\.json")
_MOST_OPERATIONS = 400
_MOST_LIVES = 40
FILES = 4

Rows = Counter[tuple[str, ...]]


class WrongError(AssertionError):
    """A seed whose results are not what the query means, or that did not come to an end."""


@dataclass
class World:
    """One seed: its streams, what happens, and what came of it."""

    folder: Path
    seed: int
    shows: bool = False
    said: list[str] = field(default_factory=list)
    ends: dict[int, Mapping[str, int]] = field(default_factory=dict)
    life: int = 0
    damaged: str = ""
    now: float = 1e9

    def __post_init__(self) -> None:
        rng = Random(f"world {self.seed}")
        self.kind = rng.choice(list(QUERIES))
        self.script = asked(self.folder, self.kind)
        self.sink_kind = rng.choice(("parquet", "jsonl"))
        self.partitions = rng.randint(1, 3)
        self.plans_rng = Random(f"plans {self.seed}") if rng.random() < 0.3 else None
        self.tasks = SimulatedTasks(Random(f"tasks {self.seed}"), rng.choice((0.0, 0.1, 0.4)))
        is_ordered = rng.random() < 0.5
        self.disk = SimulatedDisk(
            self.folder / "disk", Random(f"disk {self.seed}"), is_ordered=is_ordered
        )
        self.disk.on_link = self._linked
        self.disk.is_hidden = self._is_hidden
        if self.shows:
            self.disk.log = self.said
        self.is_large = Random(f"size {self.seed}").random() < 0.3
        self.rotates = rng.random() < 0.5
        self.names = Random(f"names {self.seed}")
        self.rng = rng
        self._write_streams(Random(f"streams {self.seed}"))

    # The streams

    def _write_streams(self, rng: Random) -> None:
        self.rows: dict[str, dict[str, list[Row]]] = {}
        self.arrives: dict[str, int] = {}
        self.bad: Counter[int] = Counter()
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "disk").mkdir(parents=True)
        times = rng.sample(range(10 * FILES), min(10 * FILES, 24))
        for place, name in enumerate("ab"):
            (self.folder / "in" / name).mkdir(parents=True)
            mine = sorted(times[place::2], key=lambda ts: ts + rng.choice((0, 0, 0, 3, 9)))
            cuts = sorted(rng.randrange(len(mine) + 1) for _ in range(FILES - 1))
            files = [mine[i:j] for i, j in zip([0, *cuts], [*cuts, len(mine)], strict=True)]
            self.rows[name] = {}
            for number, file in enumerate(files):
                self._write_file(name, number, file, rng)

    def _write_file(self, name: str, number: int, times: list[int], rng: Random) -> None:
        path = self.folder / "in" / name / f"{number}.csv"
        rows, lines = [], ["ts,k,v"]
        for ts in times:
            values = {"ts": ts, "k": rng.randrange(2), "v": 10 * ts + rng.randrange(10)}
            if name == "a" and rng.random() < 0.1:
                lines.append(f"{ts},bad,{values['v']}")
                self.bad[values["v"]] = number
                continue
            rows.append(Row(ts * 1_000_000, 1000 * number + len(lines), values))
            lines.append(",".join(map(str, values.values())))
        path.write_text("\n".join([*lines, ""]))
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
        self.rows[name][str(path)] = rows
        self.arrives[str(path)] = rng.choice((0, 0, 0, 1, 2))

    def _is_hidden(self, path: str) -> bool:
        """Whether a listing does not tell of a file yet."""
        return self.arrives.get(path, 0) > self.life

    def _linked(self, path: str, data: bytes) -> None:
        found = _MANIFEST.fullmatch(path)
        if found is not None:
            self.ends[int(found[1])] = json.loads(data)["manifest"]["offsets"]

    # What happens

    def live(self) -> None:
        """Live through all that happens, then to the end, and compare."""
        with self._replaced():
            while not self._is_over():
                self.life += 1
                if self.life > _MOST_LIVES:
                    raise WrongError("it does not come to an end")
                is_last = self.life > self._troubled
                count = 1 if is_last or self.rng.random() < 0.75 else 2
                drivers = [self._driver(f"{self.life}.{n}", is_last) for n in range(count)]
                turns = Turns(self.disk, Random(f"turns {self.seed} {self.life}"))
                turns.run([(each, partial(self._run, each, is_last)) for each in drivers])
                self._between_runs(is_last)
            self._compare()

    def _between_runs(self, is_last: bool) -> None:
        if self.rng.random() < 0.5:
            self._in_peace(self.tasks.finish_late)
        opened_chunks.cache_clear()
        if not is_last and self.rng.random() < 0.2:
            self.said.append("cut between runs")
            self.disk.cut()
        elif self.rotates and self.rng.random() < 0.3:
            self._in_peace(self._rotate)
        elif not self.rotates and not is_last and self.rng.random() < 0.3:
            self._in_peace(self._damage)

    def _damage(self) -> None:
        """Damage the newest manifest, or what it alone lists: once, before another is made."""
        names = manifests.manifest_names(self._store)
        if len(names) < 2 or names[-1] <= self.damaged:
            return
        self.damaged = names[-1]
        made, old = (manifests.load(self._store, name) for name in (names[-1], names[-2]))
        if made.is_closed:
            return  # Nobody goes on from there, so that nothing of the one before is kept.
        new = {*self._chunks(made)} - {*self._chunks(old)}
        chosen = self.rng.choice([self._store.path(names[-1]), *sorted(new)])
        self.disk.damage(chosen)

    def _chunks(self, made: Manifest) -> Iterator[str]:
        yield from (self._store.path(chunk.name) for chunk in made.chunks())
        for name, member in made.members.items():
            store = member_store(self._store, name)
            yield from (store.path(chunk.name) for chunk in member.chunks())

    def _rotate(self) -> None:
        """Move files of results away, as their user may."""
        self.disk.flush_all(str(self.folder / "disk"))
        for name, sink in self.sinks.items():
            path = Path(sink.place)
            if sink.kind == "jsonl" and path.exists():
                self.disk.replace(str(path), str(path.with_name(f"{name}.{self.life}")))
        self.disk.flush_all(str(self.folder / "disk"))

    @contextmanager
    def _replaced(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(in_place(self.disk))
            for owner, name, value in (
                (local, "in_process", self.tasks.in_process),
                (LocalRun, "_wait", lambda run, seconds: True),
                (ReportLog, "_put", _written),
                (hold, "_LOOK", 0),
                # Few chunks are many for some: their tasks fetch the state, and delete chunks.
                (filed_state, "LARGE", 0 if self.is_large else filed_state.LARGE),
                (chain, "SMALL", 0 if self.is_large else chain.SMALL),
                # Numba names what it keeps by others.
                (file_names, "uuid", SimpleNamespace(uuid4=self._name)),
                (checkpoint, "new_mark", lambda: self._name().hex[:16]),
                # How long something took is written down, and a cut may tear it.
                *((time, clock, self._tick) for clock in _CLOCKS),
            ):
                stack.enter_context(mock.patch.object(owner, name, value))
            yield

    def _tick(self) -> float:
        """A clock that goes on by as much whenever somebody looks at it."""
        self.now += 2.0**-10
        return self.now

    def _name(self) -> uuid.UUID:
        return uuid.UUID(int=self.names.getrandbits(128))

    @property
    def _troubled(self) -> int:
        return self.seed % 4 + 1

    def _driver(self, name: str, is_last: bool) -> Driver:
        return Driver(name, [] if is_last else [self._fault()])

    def _fault(self) -> Fault:
        rng = self.rng
        most = _MOST_OPERATIONS
        at = rng.randrange(1, most) if rng.random() < 0.5 else int(most ** rng.random())
        kind = rng.choice(("kill", "cut", "cut", "full", "io"))
        when = rng.choice(("before", "torn", "after"))
        return Fault(at, kind, when, rng.choice((1, 1, 3, 20)))  # type: ignore[arg-type]

    def _run(self, driver: Driver, is_last: bool) -> None:
        """A run of one driver, to its end or to that of the driver."""
        drains = is_last or (self.life > 2 and self.rng.random() < 0.3)
        try:
            run = self._opened()
            run.available_now(drain=drains)
        except Death:
            self.said.append(f"{driver.name} dies")
        except PenstockError as error:
            self.said.append(f"{driver.name}: {type(error).__name__}: {error.message}")
            if not driver.is_dead and is_last and not self._is_closed(error):
                raise WrongError(f"the last run ended by {error.message}") from error

    def _opened(self) -> LocalRun:
        checkpoint = str(self.folder / "disk" / "checkpoint")
        options = RunOptions(sink=noop(), checkpoint=checkpoint, partitions=self.partitions)
        plans = {each.name: self._plan(each.query) for each in self.script.members}
        if self.kind == "script":
            return open_script(self.script, plans, self.sinks, options)
        (member,) = self.script.members
        options = RunOptions(
            sink=self.sinks[member.name], checkpoint=checkpoint, partitions=self.partitions
        )
        return open_run(plans[member.name], options)

    def _plan(self, query: Query) -> Plan:
        if self.plans_rng is None:
            return default_plan(query)
        return any_kind(query, self.plans_rng)

    @property
    def sinks(self) -> dict[str, Sink]:
        """A folder or a file for each query that is shown."""
        return {
            each.name: Sink.named(f"{self.sink_kind}:{self.folder}/disk/results/{each.name}")
            for each in self.script.shown
        }

    # The end

    @property
    def _store(self) -> Store:
        return Store(Place.of(self.folder / "disk" / "checkpoint"))

    def _is_closed(self, error: PenstockError) -> bool:
        return isinstance(error, CheckpointError) and "is closed" in error.message

    def _is_over(self) -> bool:
        if self.life <= self._troubled:
            return False
        found = self._in_peace(lambda: manifests.latest(self._store))
        return found is not None and found.is_closed

    def _in_peace(self, work: Any) -> Any:
        """Do something while nothing goes wrong."""
        self.disk.driver = Driver("peace")
        return work()

    def _compare(self) -> None:
        right, found = self._in_peace(self._right), self._found()
        for name, rows in right.items():
            if found[name] != rows:
                less, more = rows - found[name], found[name] - rows
                raise WrongError(
                    f"{name}: {less.total()} lost {dict(less)}, {more.total()} too many "
                    f"{dict(more)}"
                )
        self._check_state()

    def _check_state(self) -> None:
        """What the last manifest lists is there."""
        made = manifests.latest(self._store)
        assert made is not None
        for chunk in made.chunks():
            if not self._store.exists(chunk.name):
                raise WrongError(f"{chunk.name} is listed and gone")

    def _right(self) -> dict[str, Rows]:
        """What the queries mean, by the files that each batch has read."""
        brought, bad = self._brought()
        made = answer_script(self.script, brought)
        right = {e.name: Counter(map(_as_text, made[e.name].results)) for e in self.script.shown}
        return right | {"bad": bad}

    def _brought(self) -> tuple[dict[str, list[list[Row]]], Rows]:
        brought: dict[str, list[list[Row]]] = {"a": [], "b": []}
        read: set[int] = set()
        for source in self.script.sources.values():
            files = FileLog(source, self._store).files
            done = 0
            for batch in range(max(self.ends) + 1):
                end = self.ends[batch].get(source.name, 0)
                paths = [files[number].path for number in range(done, end)]
                brought[source.name].append([r for p in paths for r in self.rows[source.name][p]])
                if source.name == "a":
                    read |= {int(Path(path).stem) for path in paths}
                done = end
        bad: Rows = Counter((str(v),) for v, number in self.bad.items() if number in read)
        return brought, bad

    def _found(self) -> dict[str, Rows]:
        found = {name: _rows_in(sink) for name, sink in self.sinks.items()}
        kept = self.folder / "disk" / "bad"
        lines = kept.read_text().splitlines() if kept.exists() else []
        return found | {"bad": Counter((_bad_value(line),) for line in lines)}


def _bad_value(line: str) -> str:
    found = re.search(r"bad,(\d+)", line)
    return found[1] if found else line


def _as_text(told: Told) -> tuple[str, ...]:
    more = (
        ()
        if told.change is None
        else (str(_EPOCH + timedelta(microseconds=told.time)), told.change)
    )
    return tuple(map(str, (*told.values, *more)))


def _rows_in(sink: Sink) -> Rows:
    path = Path(sink.place)
    rows: list[Iterable[Any]] = []
    if sink.kind == "jsonl":
        for file in sorted(path.parent.glob(f"{path.name}*")):
            rows += [json.loads(line).values() for line in file.read_text().splitlines()]
    else:
        for file in sorted(path.glob("*.parquet")):
            rows += [row.values() for row in pq.read_table(file).to_pylist()]
    return Counter(tuple(map(_plain, row)) for row in rows)


def _plain(value: object) -> str:
    text = str(value)
    is_time = isinstance(value, str) and text.endswith("Z")
    return str(datetime.fromisoformat(text)) if is_time else text


@cache
def asked(folder: Path, kind: str) -> Script:
    """A script over the streams in a folder; parsed once."""
    return parse_script(STREAMS.format(folder=folder) + QUERIES[kind])


def _written(log: ReportLog, entry: Any) -> None:
    """Write an entry of a report log at once, and not in a thread, of which nobody knows when."""
    with suppress(OSError, PenstockError):
        log._write([entry])


# Many seeds


@dataclass(frozen=True)
class Outcome:
    """What came of a seed: nothing wrong, or what; and the digest of all its operations."""

    seed: int
    digest: int
    operations: int
    wrong: str | None = None


def simulate(seed: int, folder: Path, said: list[str] | None = None) -> Outcome:
    """Live through one seed, in a folder that is used again for others.

    Paths are written down, and a cut may tear them: they are equally long wherever that is.
    """
    folder = folder.with_name(folder.name.ljust(_LENGTH - len(str(folder.parent)), "_"))
    opened_chunks.cache_clear()
    world = World(folder, seed, shows=said is not None, said=[] if said is None else said)
    try:
        world.live()
        wrong = None
    except (Exception, Death) as error:
        what = f"{type(error).__name__}: {error}"
        if not isinstance(error, WrongError):
            what += "\n" + "".join(traceback.format_exception(error)[-8:])
        wrong = f"{world.kind}, {world.sink_kind}: {what}".replace(str(folder), "")
    return Outcome(seed, world.disk.digest, world.disk.operations, wrong)


def simulate_all(seeds: Sequence[int], folder: Path) -> list[Outcome]:
    """Live through seeds one after another, in this process."""
    logging.disable(logging.WARNING)
    gc.disable()  # What it looks through is nearly all of what was imported.
    try:
        found = []
        for place, seed in enumerate(seeds):
            found.append(simulate(seed, folder))
            if place % 100 == 99:
                gc.collect()
        return found
    finally:
        gc.enable()
        logging.disable(logging.NOTSET)


def _in_own_folder(seeds: Sequence[int]) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="simulation-") as folder:
        return simulate_all(seeds, Path(folder) / "world")


def simulate_side_by_side(seeds: Sequence[int], processes: int = 2) -> list[Outcome]:
    """The same in several processes; a seed is the same in whichever."""
    shares = [seeds[start::processes] for start in range(processes)]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return sorted((o for each in pool.map(_in_own_folder, shares) for o in each), key=_seed)


def _seed(outcome: Outcome) -> int:
    return outcome.seed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="from which on")
    parser.add_argument("--seed", type=int, help="one alone, with all that happens in it")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if given.seed is not None:
        said: list[str] | None = [] if given.show else None
        with tempfile.TemporaryDirectory() as folder:
            outcome = simulate(given.seed, Path(folder) / "world", said)
        print("\n".join(said or []))
        print(outcome)
        sys.exit(outcome.wrong is not None)
    started = time.monotonic()
    seeds = range(given.first, given.first + given.seeds)
    outcomes = simulate_side_by_side(seeds)
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    for outcome in wrong[:20]:
        print(f"seed {outcome.seed}: {outcome.wrong}")
    operations = sum(outcome.operations for outcome in outcomes)
    print(
        f"{len(outcomes):,} seeds, {operations:,} operations, {len(wrong)} wrong, "
        f"{time.monotonic() - started:.0f} s"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
