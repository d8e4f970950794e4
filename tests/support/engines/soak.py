"""A siege: running queries are killed again and again; in the end each result is there once.

    python tests/support/engines/soak.py --kills 100 --seed 1

A round prepares input, then kills the driver, a Python worker or (on a cluster) an executor of the
run over it at random moments and starts again what has died, until all queries are drained. Every
other round has another plan in each batch; every eighth one is on a cluster.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import psutil  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.api import sql
from penstock.engine.sinks.sink import Sink, parquet

DRIVER = Path(__file__).with_name("driver.py")
LONGEST = 1200.0
"""Seconds without a sign of life after which a driver counts as hung, on the busiest machine."""

STREAMS = """
CREATE STREAM a (ts BIGINT, id BIGINT, k INT, s STRING)
  WITH (format='parquet', path='{folder}/a', timestamp='ts', unit='ms', max_files=1,
        lateness='100 ms');
CREATE STREAM b (ts BIGINT, id BIGINT, k INT, j INT)
  WITH (format='parquet', path='{folder}/b', timestamp='ts', unit='ms', max_files=1,
        lateness='100 ms');
CREATE STREAM c (ts BIGINT, id BIGINT, k INT, j INT)
  WITH (format='parquet', path='{folder}/c', timestamp='ts', unit='ms', max_files=1,
        lateness='100 ms');
"""
QUERIES = {
    "common": """
SELECT a.id AS a, b.id AS b, c.id AS c, a.s AS s
FROM a [RANGE 3 SECONDS], b [RANGE 3 SECONDS], c [TUMBLE 4 SECONDS]
WHERE a.k = b.k AND b.k = c.k
""",
    "chain": """
SELECT a.id AS a, b.id AS b, c.id AS c, a.s AS s
FROM a [RANGE 3 SECONDS], b [PARTITION BY j ROWS 3], c [RANGE 5 SECONDS]
WHERE a.k = b.k AND b.j = c.j
""",
    "view": """
SELECT a.s AS s, COUNT(*) AS n, SUM(b.id) AS ids, MIN(c.id) AS first
FROM a [RANGE 3 SECONDS], b [RANGE 3 SECONDS], c [RANGE 5 SECONDS]
WHERE a.k = b.k AND b.j = c.j GROUP BY a.s EVERY 500 ms
""",
    "filtered": """
SELECT a.id AS a, b.id AS b, c.id AS c, a.s AS s
FROM a [RANGE 3 SECONDS], b [RANGE 4 SECONDS SLIDE 500 ms], c [TUMBLE 4 SECONDS]
WHERE a.k = b.k AND b.j = c.j AND a.s <> 'zwei' AND a.id % 7 <> 3 AND b.k < 11 AND b.id % 5 > 0
""",
    "pair": """
SELECT a.id AS a, b.id AS b, a.s AS s FROM a [RANGE 3 SECONDS], b [RANGE 6 SECONDS]
WHERE a.k = b.k AND a.s <> 'zwei' AND a.id % 7 <> 3 AND b.j < 8 AND b.id % 5 > 0
""",
    "sums": """
SELECT b.j AS j, COUNT(*) AS n, SUM(a.id) AS ids, MAX(b.id) AS last
FROM a [RANGE 3 SECONDS], b [RANGE 4 SECONDS] WHERE a.k = b.k GROUP BY b.j EVERY 500 ms
""",
}
KILLED = ("common", "chain", "view")
VIEWS = ("view", "sums")


def write_input(folder: Path, files: int, rng: Random) -> None:
    """Some seconds of three streams, a second a file; ids are unique within a stream."""
    for name in "abc":
        (folder / name).mkdir(parents=True)
        for number in range(files):
            times = [1000 * number + rng.randrange(1090) for _ in range(20)]
            columns = {
                "ts": pa.array(times),
                "id": pa.array([1000 * number + place for place in range(len(times))]),
                "k": pa.array([rng.randrange(12) for _ in times], pa.int32()),
                "j": pa.array([rng.randrange(10) for _ in times], pa.int32()),
                "s": pa.array([rng.choice(("one", "zwei", 'tr"ois')) for _ in times]),
            }
            path = folder / name / f"{number:04}.parquet"
            pq.write_table(pa.table(columns), path)
            os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))


def script(query: str, folder: Path, *, is_framed: bool = False) -> str:
    """The text of one of the queries over the input in a folder; its streams may be `framed`, so
    that they come by DataFrames."""
    streams = STREAMS.format(folder=folder)
    if is_framed:
        streams = streams.replace("format='parquet'", "format='spark:parquet'")
        streams = streams.replace("max_files=1", "maxFilesPerTrigger=1")
    return streams + QUERIES[query]


def results(sink: Sink) -> Counter[tuple[Any, ...]]:
    """What a sink holds, and how often."""
    if sink.kind == "jsonl":
        lines = Path(sink.place).read_text(encoding="utf-8").splitlines()
        return Counter(tuple(json.loads(line).values()) for line in lines)
    found: Counter[tuple[Any, ...]] = Counter()
    for path in Path(sink.place).glob("*.parquet"):
        found.update(tuple(row.values()) for row in pq.read_table(path).to_pylist())
    return found


def expected(text: str) -> Counter[tuple[Any, ...]]:
    """The results of an undisturbed run in this process."""
    with tempfile.TemporaryDirectory() as folder:
        sink = parquet(f"{folder}/out")
        sql(text).local(sink=sink, checkpoint=f"{folder}/checkpoint").available_now(drain=True)
        return results(sink)


class Siege:
    """One round: queries over one input, and a driver that is started until they are done.

    With a `seed` every batch has another plan, of any kind, but for the queries that are `planned`.
    The streams of those that are `framed` come by DataFrames. Where the master has processes of its
    own, `kill` ends one of these.
    """

    def __init__(
        self,
        folder: Path,
        rng: Random,
        *,
        master: str,
        files: int,
        queries: Iterable[str] = KILLED,
        seed: str | None = None,
        planned: Collection[str] = (),
        framed: Collection[str] = (),
        kill: Callable[[str, Random], bool] | None = None,
    ):
        self._folder = folder
        self._rng = rng
        self._master = master
        self._kill = kill
        self.kills: Counter[str] = Counter()
        write_input(folder / "in", files, rng)
        kinds = rng.sample(("jsonl", "parquet"), 2)
        # Lines write times as text, so that those of a view could not be compared.
        self._jobs = {q: "parquet" if q in VIEWS else kinds[n % 2] for n, q in enumerate(queries)}
        for query, kind in self._jobs.items():
            job = folder / "jobs" / query
            job.mkdir(parents=True)
            text = script(query, folder / "in", is_framed=query in framed)
            (job / "query.cql").write_text(text)
            (job / "sink").write_text(self._sink(query, kind).name)
            if seed is not None and query not in planned:
                (job / "seed").write_text(f"{seed} {query}")

    def _sink(self, query: str, kind: str) -> Sink:
        return Sink.named(f"{kind}:{self._folder / 'jobs' / query}/results.{kind}")

    def run(self, victims: list[str]) -> None:
        """Kill the victims one after another, then let the queries end."""
        driver = Driver(self._folder / "jobs", self._master)
        try:
            for victim in victims:
                if not driver.progress(self._rng.randint(1, 2)):
                    break
                time.sleep(self._rng.random() * 0.4)
                if not (self._kill or driver.kill)(victim, self._rng):
                    continue
                self.kills[victim] += 1
                if victim == "driver":
                    driver = Driver(self._folder / "jobs", self._master)
            driver.finish()
        finally:
            driver.destroy()

    def wrong(self) -> list[str]:
        """What is wrong with the results; nothing, it is hoped."""
        faults = []
        for query, kind in self._jobs.items():
            wanted = expected(script(query, self._folder / "in"))
            found = results(self._sink(query, kind))
            missing, extra = (wanted - found).total(), (found - wanted).total()
            if missing or extra or not wanted:
                of = f"of {wanted.total()} results of {query} in {kind}"
                faults.append(f"{missing} missing and {extra} too many {of}")
        return faults


class Driver:
    """A process that runs the queries, with all that it starts.

    After each batch a query waits to be told to go on, so that it does not depend on the speed of
    the machine how many batches are left to be killed in.
    """

    def __init__(self, jobs: Path, master: str):
        self._log = open(jobs / "driver.log", "a")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, str(DRIVER), str(jobs), master, "--again"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            start_new_session=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self._family: set[psutil.Process] = set()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put("")

    def progress(self, batches: int) -> bool:
        """Wait for some batches and let the next begin; False if the driver ended before."""
        while batches:
            line = self._lines.get(timeout=LONGEST)
            if not line:
                # Whoever waits for the end after this finds it, too.
                self._lines.put("")
                return False
            if "batch" in line:
                batches -= 1
                self._go_on()
        return True

    def _go_on(self) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write("go on\n")
            self._process.stdin.flush()

    def _hang_up(self) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def kill(self, victim: str, rng: Random) -> bool:
        """Kill -9 a process of the given kind; False if there is none."""
        self._remember()
        if victim == "driver":
            # Alone, so that its JVM dies as it does in life: a moment later.
            self._process.kill()
            self._process.wait()
            self._hang_up()
            self._log.close()
            return True
        candidates = sorted((p for p in self._family if _is(victim, p)), key=lambda p: p.pid)
        if not candidates or self._process.poll() is not None:
            return False
        try:
            rng.choice(candidates).kill()
        except psutil.NoSuchProcess:
            return False
        return True

    def finish(self) -> None:
        """Wait for the end, which must be a good one."""
        self._hang_up()
        while line := self._lines.get(timeout=LONGEST):
            del line
        assert self._process.wait(LONGEST) == 0, self._log.name

    def destroy(self) -> None:
        """Kill whatever is left."""
        self._hang_up()
        if self._process.poll() is None:
            self._remember()
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for process in self._family:
            if process.is_running():
                process.kill()
        self._log.close()

    def _remember(self) -> None:
        if self._process.poll() is None:
            self._family |= set(psutil.Process(self._process.pid).children(recursive=True))


def _is(victim: str, process: psutil.Process) -> bool:
    try:
        command = " ".join(process.cmdline())
        if victim == "executor":
            return "CoarseGrainedExecutorBackend" in command
        # Workers are forked from the daemon, so they have its command line.
        parent = process.parent()
        return (
            "spark.daemon" in command
            and parent is not None
            and parent.cmdline() == process.cmdline()
        )
    except psutil.Error:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description="kill running queries at random moments")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=36, help="at most so many of one round")
    options = parser.parse_args()
    done, passed, failed, number = 0, 0, 0, 0
    while done < options.kills and not failed:
        rng = Random(f"{options.seed} {number}")
        is_cluster = number % 8 == 7
        kinds = ("executor", "worker", "driver") if is_cluster else ("driver", "worker", "worker")
        victims = [rng.choice(kinds) for _ in range(min(options.each, options.kills - done))]
        with tempfile.TemporaryDirectory() as folder:
            master = "local-cluster[2,1,1024]" if is_cluster else "local[2]"
            seed = f"{options.seed} {number}" if number % 2 else None
            siege = Siege(Path(folder), rng, master=master, files=24, seed=seed)
            siege.run(victims)
            faults = siege.wrong()
        done, number = done + siege.kills.total(), number + 1
        passed, failed = (passed, failed + 1) if faults else (passed + siege.kills.total(), failed)
        killed = ", ".join(f"{count} × {victim}" for victim, count in siege.kills.items())
        outcome = "; ".join(faults) or "each result once"
        print(f"{done}/{options.kills}  killed {killed}: {outcome}", file=sys.stderr, flush=True)
    what = "" if failed else ": 0 lost, 0 twice"
    print(f"{passed} kills passed, {failed} sieges failed{what}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
