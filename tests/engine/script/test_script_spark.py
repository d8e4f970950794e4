"""Scripts on Spark: the same results, whoever runs with whom."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from penstock.engine.run.job import Staged, run_here
from penstock.engine.run.options import RunOptions
from penstock.engine.script import joint_job
from penstock.engine.sinks.sink import noop
from penstock.engine.spark import runner
from penstock.engine.spark.start import start_script
from penstock.engine.wire.facts import Fact
from penstock.engine.wire.packets import Packet
from support.engines.script_runs import expected, found, plans_of, sinks_of
from support.sharing.forced import any_plans, forced
from support.sharing.shared_scripts import several_case, shared_case
from support.streams.scripts import random_script, write_script

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("seed", "here"), [(3, True), (9, False), (21, False)])
def test_a_script_gives_what_it_means_on_spark(
    seed: int, here: bool, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What reads other queries alone is done `here`, in the driver, if it is small."""
    done: list[Staged] = []

    def watched(job: Staged, packets: Sequence[Packet]) -> list[Fact]:
        # Where nothing is read, all is done there.
        done.extend([job] if job.is_small else [])
        return run_here(job, packets)

    monkeypatch.setattr(runner, "run_here", watched)
    if not here:
        monkeypatch.setattr(joint_job, "_SMALL", -1)
    case = random_script(seed)
    script = write_script(case, tmp_path)
    options = RunOptions(
        sink=noop(),
        checkpoint=str(tmp_path / "checkpoint"),
        available_now=True,
        drain=True,
        partitions=2,
    )
    plans = plans_of(script, Random(seed))
    run = start_script(script, plans, sinks_of(script, tmp_path), spark, options)
    run.await_termination()
    assert found(script, tmp_path) == expected(case)
    assert bool(done) == here


def test_different_joins_give_what_they_mean_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    case = several_case(5)
    script = write_script(case, tmp_path)
    names = tuple(member.name for member in script.members if member.name != "over")
    planned = forced(script, {"shared.1": names})
    options = RunOptions(
        sink=noop(),
        checkpoint=str(tmp_path / "checkpoint"),
        available_now=True,
        drain=True,
        partitions=2,
    )
    sinks = sinks_of(planned.script, tmp_path)
    start_script(planned.script, planned.plans, sinks, spark, options).await_termination()
    assert found(planned.script, tmp_path) == expected(case)


def test_a_shared_join_gives_what_each_query_means_on_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    case = shared_case(12)
    planned = forced(write_script(case, tmp_path))
    script, plans = planned.script, any_plans(planned, Random(12))
    # Some take the combinations of three inputs, and one those of two.
    assert len({len(each.takes.aliases) for each in script.members if each.takes}) == 2
    options = RunOptions(
        sink=noop(),
        checkpoint=str(tmp_path / "checkpoint"),
        available_now=True,
        drain=True,
        partitions=2,
    )
    start_script(script, plans, sinks_of(script, tmp_path), spark, options).await_termination()
    assert found(script, tmp_path) == expected(case)
