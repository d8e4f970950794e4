"""Placement: a task over a partition of the state runs where that partition was in the last batch.

Executors have copies of the chunks that they have read or written, on their disks and in memory. To
Spark a task is a number, and any executor may run it; here each task gets one to prefer. That is a
preference and no more: whoever is idle takes a task over after `spark.locality.wait`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from py4j.protocol import Py4JError
from pyspark import RDD, SparkContext
from pyspark.sql import DataFrame, SparkSession

_DRIVER = "driver"
# The numbers of tasks that the stages of a query have, and what some hands of them were.
_KEPT = 8


def settled(before: Sequence[str], tasks: int, cores: Mapping[str, int]) -> tuple[str, ...]:
    """An executor for each task, by shares of the `cores`: the one that it had `before`, unless
    that is gone, or has more than its share since others have come."""
    if not cores:
        return ()
    every = sum(cores.values())
    room = {name: -(-tasks * own // every) for name, own in sorted(cores.items())}
    places: dict[int, str] = {}

    def place(task: int, name: str) -> None:
        places[task] = name
        room[name] -= 1

    for task, name in enumerate(before[:tasks]):
        if room.get(name, 0) > 0:
            place(task, name)
    for task in range(tasks):
        if task not in places:
            place(task, max(room, key=room.__getitem__))
    return tuple(places[task] for task in range(tasks))


class Placement:
    """The executors that the tasks of a query prefer, for as long as it runs.

    On one machine, or through Spark Connect, there is nothing to prefer or no way to say so.
    """

    def __init__(self, spark: SparkSession, is_one_machine: bool):
        is_classic = isinstance(spark, SparkSession) and not is_one_machine
        self._context = spark.sparkContext if is_classic else None
        self._ids = ""
        self._cores: dict[str, int] = {}
        self._places: dict[int, tuple[str, ...]] = {}
        self._anchors: dict[tuple[str, ...], Any] = {}

    def places(self, tasks: int) -> tuple[str, ...]:
        """The executor that each of some tasks prefers, as Spark's scheduler names it; none where
        that is not known."""
        if self._context is None:
            return ()
        try:
            self._look(self._context)
            assert self._second is not None
        except (Py4JError, TypeError):
            # Some hosts of Spark let nobody ask its scheduler, or have another Scala.
            self._context = None
            return ()
        self._places[tasks] = settled(self._places.get(tasks, ()), tasks, self._cores)
        return self._places[tasks]

    def frame(self, frame: DataFrame, tasks: int) -> DataFrame:
        """A frame of so many partitions, each with its preference."""
        places = self.places(tasks)
        if not places:
            return frame
        jvm_frame = frame._jdf
        rows = self._anchored(jvm_frame.queryExecution().toRdd(), places)
        session = jvm_frame.sparkSession()
        made = session.internalCreateDataFrame(rows, jvm_frame.schema(), False)
        return DataFrame(made, frame.sparkSession)

    def hands(self, hands: RDD[Any], numbers: Sequence[int], tasks: int) -> RDD[Any]:
        """Hands for those of some tasks that have these numbers, each with its preference."""
        places = self.places(tasks)
        if not places:
            return hands
        some = tuple(places[number] for number in numbers)
        made = self._anchored(hands._jrdd.rdd(), some).toJavaRDD()
        return RDD(made, hands.ctx, hands._jrdd_deserializer)

    def _look(self, context: SparkContext) -> None:
        """See which executors there are; what they have is asked for when they change."""
        scheduler = context._jsc.sc()
        ids = scheduler.getExecutorIds().mkString(" ")
        if ids == self._ids:
            return
        listed, found = scheduler.statusStore().executorList(True), {}
        for executor in (listed.apply(number) for number in range(listed.size())):
            if executor.id() != _DRIVER:
                host = executor.hostPort().rpartition(":")[0]
                found[f"executor_{host}_{executor.id()}"] = executor.totalCores()
        self._cores = found
        # Who has just come may not be listed yet.
        self._ids = ids if len(found) == len(ids.split()) else ""

    def _anchored(self, rdd: Any, places: tuple[str, ...]) -> Any:
        """The partitions of an RDD beside those of another, which have preferences and no rows."""
        anchor = self._anchors.pop(places, None) or self._anchor(places)
        self._anchors[places] = anchor
        if len(self._anchors) > _KEPT:
            del self._anchors[next(iter(self._anchors))]
        return anchor.zipPartitions(rdd, self._second, self._any, self._any)

    def _anchor(self, places: tuple[str, ...]) -> Any:
        """An RDD with these preferences; what it holds is not looked at."""
        assert self._context is not None, "there are executors"
        jvm = self._context._jvm
        named = {name: jvm.PythonUtils.toSeq([name]) for name in set(places)}
        pairs = [jvm.scala.Tuple2(0, named[name]) for name in places]
        return self._context._jsc.sc().makeRDD(jvm.PythonUtils.toSeq(pairs), self._any)

    @cached_property
    def _any(self) -> Any:
        return self._scala("reflect.ClassTag").Any()

    @cached_property
    def _second(self) -> Any:
        """Scala's function of two arguments that gives the second: whatever the first is, it is
        looked up in an empty map, whose default is the identity. Executors must know it, so it is
        put together of what Scala has."""
        assert self._context is not None, "there are executors"
        identity = self._scala("$less$colon$less").refl()
        curried = self._scala("collection.immutable.Map").empty().withDefaultValue(identity)
        # There are several `uncurried`, which differ by what they return.
        function = self._context._jvm.java.lang.Class.forName("scala.Function$")
        uncurried = next(
            method
            for method in function.getMethods()
            if method.getName() == "uncurried"
            and method.getReturnType().getSimpleName() == "Function2"
        )
        given = self._context._gateway.new_array(self._context._jvm.java.lang.Object, 1)
        given[0] = curried
        return uncurried.invoke(self._scala("Function"), given)

    def _scala(self, name: str) -> Any:
        """One of Scala's own objects."""
        assert self._context is not None, "there are executors"
        found = self._context._jvm.scala
        for part in f"{name}$".split("."):
            found = getattr(found, part)
        return getattr(found, "MODULE$")
