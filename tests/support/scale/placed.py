"""A query on a cluster with two executors, and where each of its tasks ran, as a process.

    python tests/support/scale/placed.py FOLDER MASTER PARTITIONS

FOLDER has `query.cql`; what was found there afterwards is in `found.json`. Tasks wait for the
executor that they prefer for as long as it takes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.api import sql
from penstock.engine.sinks.sink import Sink
from penstock.engine.spark.runner import placement_on
from penstock.engine.spark.session import make_session

# A script in a process of its own, without the paths that pytest has.
sys.path.insert(0, str(Path(__file__).parents[2]))
from support.waiting import wait_until

PATIENT = {"spark.locality.wait": "10h", "spark.sql.shuffle.partitions": "2"}
STAGES = 500
"""More than there will be."""
ROUNDS = 6


def where(hands: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Each hand, and the folder of the executor that has it."""
    return ((hand, os.getcwd()) for hand in hands)


def plain_rounds(spark: SparkSession) -> list[dict[int, str]]:
    """Where hands for some of 9 tasks were dealt to, other tasks in every round."""
    placement, context, rounds = placement_on(spark), spark.sparkContext, []
    for round_ in range(ROUNDS):
        numbers = [number for number in range(9) if number % ROUNDS != round_]
        dealt = context.parallelize(numbers, len(numbers))
        rounds.append(dict(placement.hands(dealt, numbers, 9).mapPartitions(where).collect()))
    return rounds


def stages(spark: SparkSession, tasks: int) -> list[dict[int, str]]:
    """The executors that ran the tasks of all stages which have so many."""
    scheduler = spark.sparkContext._jsc.sc()
    scheduler.listenerBus().waitUntilEmpty()
    found = []
    for number in range(STAGES):
        ran = scheduler.statusStore().taskList(number, 0, tasks + 1)
        if ran.size() == tasks:
            each = (ran.apply(task) for task in range(tasks))
            found.append({task.index(): task.executorId() for task in each})
    return found


def main() -> None:
    folder, master, partitions = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    spark = make_session(master, PATIENT)
    wait_until(lambda: len(set(placement_on(spark).places(2))) == 2)
    rounds = plain_rounds(spark)
    run = sql((folder / "query.cql").read_text()).start(
        spark,
        sink=Sink.named(f"parquet:{folder / 'out'}"),
        checkpoint=str(folder / "checkpoint"),
        partitions=partitions,
        available_now=True,
        drain=True,
    )
    run.await_termination()
    found = {"rounds": rounds, "stages": stages(spark, partitions)}
    (folder / "found.json").write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main()
