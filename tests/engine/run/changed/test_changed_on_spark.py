"""A query that is changed on its checkpoint, on Spark."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from reference_changes import answer_changed
from support.changed.changed_runs import found
from support.changed.changing_queries import changed
from support.engines.runs import Place, first_files_only, run_spark
from support.streams.cases import canonical, random_case, write_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SEED = 6036


def test_a_join_goes_on_as_it_is_asked_now_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    case = random_case(SEED)
    old = write_case(case, tmp_path / "in")
    new, place, since = changed(old, Random(SEED)), Place(tmp_path), 1
    with first_files_only(old, since):
        run_spark(spark, old, place, drain=False)
    run_spark(spark, new, place, drain=True, change=True)
    told, tells = answer_changed(old, new, case.batches, since, drain=True)
    assert tells
    assert found(place, new, since) == (canonical(told), canonical(tells))
