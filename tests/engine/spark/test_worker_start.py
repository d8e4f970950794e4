"""How workers start: from one daemon for plain jobs and queries, with PySpark as it is installed
and all that steps need; light ones without what only code of users needs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from penstock.engine.spark.daemon import installed_first
from penstock.light_start import LIGHT_START

DAEMON = """
import sys
from pyspark import daemon
from penstock.engine.spark.daemon import main

names = ("pyspark.worker", "penstock.engine.run.job", "pandas", "scipy.linalg")
daemon.manager = lambda: print([name for name in names if name in sys.modules])
sys.argv[1:] = ["pyspark.worker"]
main()
"""
SESSION = """
import sys, threading
from penstock.engine.spark import session
from penstock.engine.spark.starting import warm_up

may_begin = threading.Event()
real = warm_up.warm_up

def waiting(spark):
    may_begin.wait()
    real(spark)
    print("warm")

warm_up.warm_up = waiting
loaded = lambda _: [sorted({"pandas", "scipy.linalg"} & sys.modules.keys())]
with session.own_session("local[1]", registers=False, is_light=True, waits=False) as spark:
    print("given")
    print(*spark.sparkContext.parallelize([0], 1).mapPartitions(loaded).collect())
    may_begin.set()
print("stopped")
"""


def printed(code: str, **environment: str) -> list[str]:
    """What a process prints that runs this code."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def package(folder: Path) -> list[str]:
    """The archives of a PySpark that is installed in a folder."""
    home = folder / "pyspark"
    (home / "python" / "lib").mkdir(parents=True)
    (home / "__init__.py").touch()
    return [str(home / "python" / "lib" / name) for name in ("pyspark.zip", "py4j-src.zip")]


def test_archives_of_the_installed_pyspark_come_last(tmp_path: Path) -> None:
    archives = package(tmp_path)
    paths = ["/here", *archives, "/jars/core.jar", str(tmp_path)]
    assert installed_first(paths) == ["/here", "/jars/core.jar", str(tmp_path), *archives]


def test_archives_that_spark_has_brought_stay_first(tmp_path: Path) -> None:
    package(tmp_path)
    paths = ["/brought/pyspark.zip", "/brought/py4j-src.zip", str(tmp_path)]
    assert installed_first(paths) == paths
    assert installed_first(paths[:2]) == paths[:2]


@pytest.mark.parametrize("is_light", [False, True])
def test_the_daemon_loads_what_workers_need(is_light: bool) -> None:
    light = {LIGHT_START: "true"} if is_light else {}
    more = [] if is_light else ["pandas", "scipy.linalg"]
    assert printed(DAEMON, **light) == [str(["pyspark.worker", "penstock.engine.run.job", *more])]


@pytest.mark.spark
@pytest.mark.classic
def test_plain_jobs_and_queries_have_workers_of_one_daemon(spark: SparkSession) -> None:
    def of_job(_: Iterable[int]) -> Iterator[int]:
        yield os.getppid()

    def of_query(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"id": pa.array([os.getppid()] * len(batch))})

    jobs = spark.sparkContext.parallelize(range(2), 2).mapPartitions(of_job).collect()
    queries = spark.range(0, 2, 1, 2).mapInArrow(of_query, "id long").collect()
    assert len({*jobs, *(row.id for row in queries)}) == 1


@pytest.mark.spark
@pytest.mark.classic
def test_workers_have_pyspark_as_it_is_installed(spark: SparkSession) -> None:
    def places(_: Iterable[int]) -> Iterator[str]:
        import py4j
        import pyspark

        yield from (str(pyspark.__file__), str(py4j.__file__))

    found = spark.sparkContext.parallelize([0], 1).mapPartitions(places).collect()
    assert not [place for place in found if ".zip" in place]


@pytest.mark.spark
@pytest.mark.classic
def test_a_session_is_given_while_it_is_warming_up_and_stopped_after_that() -> None:
    assert printed(SESSION) == ["given", "[]", "warm", "stopped"]
