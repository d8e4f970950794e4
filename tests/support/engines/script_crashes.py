"""Scripts in one process that kill themselves at a chosen point, as `kill -9` there would."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.cql import parse_script
from penstock.engine.local import open_script
from penstock.engine.run.options import RunOptions
from penstock.engine.script import member_run, script_pipeline
from penstock.engine.sinks.sink import Sink, jsonl, noop, parquet
from penstock.engine.sources import derived_rows
from penstock.errors import CheckpointError
from support.engines import crashes
from support.engines.crashes import Crash, after, arm, before
from support.fresh_process import exit_code
from support.sharing.forced import forced
from support.sharing.restless import Restless

_TEXT = """
CREATE STREAM a (ts BIGINT, k BIGINT, v BIGINT)
  WITH (format = 'parquet', path = '{folder}/a', timestamp = 'ts', unit = 's', max_files = 1);
CREATE STREAM b (ts BIGINT, k BIGINT, w BIGINT)
  WITH (format = 'parquet', path = '{folder}/b', timestamp = 'ts', unit = 's', max_files = 1,
        malformed = 'keep:{kept}');
CREATE STREAM pair AS SELECT a.k AS k, a.v AS v, b.w AS w
  FROM a [RANGE 20 SECONDS] LEFT JOIN b [RANGE 30 SECONDS] ON a.k = b.k AND b.w > 800;
CREATE VIEW total AS SELECT k, COUNT(*) AS n, SUM(v) AS v
  FROM pair [RANGE 30 SECONDS] GROUP BY k EVERY 10 SECONDS;
SELECT t.k AS k, t.n AS n, b.w AS w INTO met FROM total AS t, b [NOW] WHERE t.k = b.k;
SELECT a.v AS v, b.w AS w INTO wide
  FROM b [RANGE 10 SECONDS], a [RANGE 40 SECONDS] WHERE b.k = a.k AND a.v > 200;
SELECT k, COUNT(*) AS n INTO counted FROM pair [RANGE 20 SECONDS] GROUP BY k EVERY 10 SECONDS;
"""

SCRIPT_POINTS: dict[str, tuple[crashes.Wrap, Any, str]] = {
    "after derived rows": (after, derived_rows.DerivedWriter, "_flush"),
    "between levels": (after, member_run.MemberRun, "made"),
    "before malformed rows are kept, in a script": (before, script_pipeline, "publish_kept"),
    "in the sweep of a query": (before, member_run.MemberRun, "settle"),
    "after the sweep of a query": (after, member_run.MemberRun, "settle"),
    "before derived rows are forgotten": (before, script_pipeline, "forget_derived"),
}
crashes.MORE_POINTS.update(SCRIPT_POINTS)


@dataclass(frozen=True)
class ScriptRun:
    """A run of the script over some input; what it leaves lies in `place`."""

    folder: str
    place: str
    crash: Crash | None = None

    @property
    def sinks(self) -> dict[str, Sink]:
        """One of each kind that holds results once."""
        return {
            "met": jsonl(f"{self.place}/met.jsonl"),
            "counted": parquet(f"{self.place}/counted"),
            "wide": parquet(f"{self.place}/wide"),
        }

    @property
    def kept(self) -> Path:
        """The file of malformed rows."""
        return Path(self.place, "malformed.jsonl")


def write_input(folder: Path, files: int, rng: Random) -> None:
    """Streams of so many files, a batch each, of 10 seconds; some rows have no event time."""
    for name, value in (("a", "v"), ("b", "w")):
        (folder / name).mkdir(parents=True)
        for n in range(files):
            times: list[int | None] = [
                *sorted(rng.randrange(10 * n, 10 * n + 10) for _ in range(30))
            ]
            times[rng.randrange(30)] = None if name == "b" else times[0]
            columns = {
                "ts": pa.array(times, pa.int64()),
                "k": pa.array([rng.randrange(5) for _ in times], pa.int64()),
                value: pa.array([rng.randrange(1_000) for _ in times], pa.int64()),
            }
            pq.write_table(pa.table(columns), folder / name / f"{n:04}.parquet")


def perform(run: ScriptRun) -> None:
    """Run over all there is and drain; nothing is left to do on a closed checkpoint."""
    if run.crash is not None:
        _arm_later(run.crash) if run.crash.in_drain else arm(run.crash)
    script = parse_script(_TEXT.format(folder=run.folder, kept=run.kept))
    options = RunOptions(sink=noop(), checkpoint=f"{run.place}/checkpoint", partitions=2)
    try:
        # `pair` and `wide` share a join.
        planned = forced(script)
        plans = Restless(planned.script, 0 if run.crash is None else run.crash.call)
        options = replace(options, followed_by=plans)
        started = open_script(planned.script, planned.plans, run.sinks, options)
    except CheckpointError as error:
        if "is closed" not in error.message:
            raise
        return
    started.available_now(drain=True)


def _arm_later(crash: Crash) -> None:
    drain = script_pipeline.ScriptPipeline.drain

    def armed(*arguments: Any) -> None:
        arm(crash)
        drain(*arguments)

    script_pipeline.ScriptPipeline.drain = armed  # type: ignore[method-assign, assignment]


def exit_codes(runs: Sequence[ScriptRun]) -> list[int | None]:
    """How fresh processes end that do these runs one after another."""
    return [exit_code(perform, run) for run in runs]


def results(run: ScriptRun) -> dict[str, Counter[str]]:
    """What its sinks hold, and the file of malformed rows."""
    met = Path(run.place, "met.jsonl").read_text().splitlines()
    assert all(json.loads(line) for line in met)
    return {
        "met": Counter(met),
        "counted": _rows(Path(run.place, "counted")),
        "wide": _rows(Path(run.place, "wide")),
        "malformed": Counter(run.kept.read_text().splitlines()),
    }


def _rows(folder: Path) -> Counter[str]:
    files = sorted(folder.glob("*.parquet"))
    return Counter(str(row) for file in files for row in pq.read_table(file).to_pylist())
