"""A soak of runs that switch from plan to plan: more seeds than the tests have, and kills.

    python tests/support/engines/switch_soak.py --runs 300 --spark-runs 20 --kills 200
        --spark-kills 20 --seed 0

A killed run goes on with other plans; a run in one process is killed at a chosen point or after
some time, on Spark it is the driver or a worker. Every failure is named by its seed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))
from penstock.engine.sinks.sink import Sink
from support.engines.crashes import POINTS, TRAINING_POINTS, Crash, Run, exit_code
from support.engines.soak import QUERIES, VIEWS, Siege, expected, results, script, write_input
from support.engines.switching import any_trip, check, on_spark

MOST_KILLS = 6
"""Kills of one run before it is let go on to its end."""

Round = Callable[[int, Path], int]
"""Does what a seed says in a folder; how much of what was asked for that is."""


def local_run(seed: int, folder: Path) -> int:
    """A run with switches, compared with the reference."""
    check(any_trip(seed), folder)
    return 1


def spark_run(seed: int, folder: Path, spark: object) -> int:
    """The same on Spark, where nothing is shed: which batch sees a box first is not decided."""
    check(any_trip(seed, sheds=False), folder, on_spark(spark))
    return 1


def local_kills(seed: int, folder: Path) -> int:
    """A run in a process that is killed again and again; how often it was."""
    rng = Random(f"kills {seed}")
    write_input(folder / "in", rng.randint(3, 8), rng)
    query = rng.choice(tuple(QUERIES))
    kind = "parquet" if query in VIEWS else rng.choice(("parquet", "jsonl"))
    sink = Sink.named(f"{kind}:{folder / 'results'}")
    # Meshes are not for ROWS windows, nor for views.
    trains = query in ("common", "filtered", "pair") and rng.random() < 0.4
    run = Run(script(query, folder / "in"), str(folder / "checkpoint"), sink.name, trains=trains)
    kills = 0
    while kills < MOST_KILLS and _is_killed(replace(run, seed=f"{seed} {kills}"), rng):
        kills += 1
    assert exit_code(replace(run, seed=f"{seed} last")) == 0
    assert results(sink) == expected(run.text), f"{query} into {kind} after {kills} kills"
    return kills


def _is_killed(run: Run, rng: Random) -> bool:
    """Whether a run was killed before its end: at a point in the engine, or after some time."""
    if run.trains and rng.random() < 0.5:
        crash = Crash(rng.choice(tuple(TRAINING_POINTS)), rng.choice((0, 1, 2)))
        code = exit_code(replace(run, crash=crash))
    elif rng.random() < 0.5:
        crash = Crash(rng.choice(tuple(POINTS)), rng.choice((0, 1, 3, 10, 30)), rng.random() < 0.1)
        code = exit_code(replace(run, crash=crash))
    else:
        code = exit_code(run, killed_after=rng.uniform(0.2, 3.0))
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def spark_kills(seed: int, folder: Path) -> int:
    """Queries on Spark whose driver and workers are killed; how many were."""
    rng = Random(f"spark kills {seed}")
    queries = rng.sample(tuple(QUERIES), 2)
    siege = Siege(folder, rng, master="local[2]", files=14, queries=queries, seed=str(seed))
    siege.run([rng.choice(("driver", "worker", "worker")) for _ in range(5)])
    faults = siege.wrong()
    assert not faults, faults
    return siege.kills.total()


def soak(name: str, wanted: int, first: int, work: Round) -> Counter[str]:
    """Rounds from a first seed on until as much is done as wanted, and what came of it."""
    done: Counter[str] = Counter()
    seed = first
    while done["passed"] + done["failed"] < wanted:
        with tempfile.TemporaryDirectory() as folder:
            try:
                done["passed"] += work(seed, Path(folder))
            except Exception:
                done["failed"] += 1
                print(f"{name} of seed {seed} failed", file=sys.stderr)
                traceback.print_exc()
        seed += 1
        print(f"{name}: {done.total()}/{wanted}", end="\r", file=sys.stderr, flush=True)
    print(f"{name}: {done['passed']} passed, {done['failed']} failed", flush=True)
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description="switch plans at random, and kill such runs")
    for name, count in (("runs", 300), ("spark-runs", 20), ("kills", 200), ("spark-kills", 20)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    # What this machine has been measured to cost must not decide about plans.
    os.environ["PENSTOCK_CALIBRATION"] = os.devnull + "/none"
    seed = options.seed
    done = soak("local runs", options.runs, seed, local_run)
    done += soak("local kills", options.kills, seed, local_kills)
    if options.spark_runs:
        done += _on_spark(options.spark_runs, seed)
    done += soak("kills on Spark", options.spark_kills, seed, spark_kills)
    sys.exit(1 if done["failed"] else 0)


def _on_spark(runs: int, seed: int) -> Counter[str]:
    from penstock.engine.spark.session import make_session

    spark = make_session("local[2]", {"spark.sql.shuffle.partitions": "2"})
    try:
        return soak("runs on Spark", runs, seed, partial(spark_run, spark=spark))
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
