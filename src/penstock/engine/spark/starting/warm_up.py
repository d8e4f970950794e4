"""Warm up a session: the first Python function takes seconds, whatever it does."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from threading import Thread

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from penstock.kernels.warm_up import warm_up as load_kernels

_MARK = "spark.penstock.isWarm"
_SIMPLIFIED = "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled"
_AS_QUERIES = {"SPARK_SIMPLIFIED_TRACEBACK": "1"}


def warm_up(context: SparkContext) -> None:
    """Have Spark start its Python workers, by a job such as the stages of most batches are.

    The driver loads the kernels too, for the stages that it runs itself.
    """
    kernels = Thread(target=load_kernels)
    kernels.start()
    cores = context.defaultParallelism
    context.parallelize(range(cores), cores).mapPartitions(_unchanged).collect()
    kernels.join()


def warm_up_beside(context: SparkContext) -> Thread:
    """A thread that warms a session up, unless that was done or begun before.

    It does not tell what is wrong with the session: the first batch will see that.
    """
    _share_workers(context)
    is_cold = context._conf.get(_MARK) is None
    context._conf.set(_MARK, "true")
    warming = Thread(target=_try_to_warm_up, args=(context, is_cold), daemon=True)
    warming.start()
    return warming


def _share_workers(context: SparkContext) -> None:
    """Have plain jobs run in the workers in which queries run, so that no others are started.

    Spark has workers for each environment. That of queries alone says how errors are to be told.
    """
    if context._conf.get(_SIMPLIFIED, "true") == "true":
        context.environment.update(_AS_QUERIES)


def _try_to_warm_up(context: SparkContext, is_cold: bool) -> None:
    with suppress(PySparkException, Py4JError, OSError):
        if is_cold:
            warm_up(context)


def _unchanged(numbers: Iterable[int]) -> Iterable[int]:
    return numbers
