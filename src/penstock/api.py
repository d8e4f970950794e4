"""The face for Python: a query from text, explained and started."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.plan.choose import default_plan
from penstock.plan.explain import explain
from penstock.plan.force import forced_plan
from penstock.plan.multiway import MultiwayJoin
from penstock.query import Query
from penstock.sql import parse

if TYPE_CHECKING:
    from penstock.engine.local.batches import LocalRun
    from penstock.engine.pipeline import Report
    from penstock.engine.sinks import Sink
    from penstock.engine.spark.handle import SparkRun


def sql(text: str, *, plan: str | None = None, file: str = "query") -> ContinuousQuery:
    """The query of a script; `plan` forces probe orders, as `--plan` does. Needs no Java."""
    return ContinuousQuery.of(parse(text, file=file), plan)


@dataclass(frozen=True)
class ContinuousQuery:
    """A query with its plan, ready to be explained or started."""

    query: Query
    plan: MultiwayJoin

    @classmethod
    def of(cls, query: Query, plan: str | None = None) -> ContinuousQuery:
        """A query with its default plan, or the one that a text forces."""
        return cls(query, default_plan(query) if plan is None else forced_plan(query, plan))

    def explain(self, format: str = "text", alternatives: bool = False) -> str:
        """The plan as text, json, mermaid, dot or html."""
        return explain(self.plan, format, alternatives)

    def start(
        self,
        spark: Any,
        *,
        sink: Sink,
        checkpoint: str,
        trigger: str = "1 second",
        available_now: bool = False,
        drain: bool = False,
        partitions: int | None = None,
        overwrite: bool = False,
        report: Callable[[Report], None] | None = None,
    ) -> SparkRun:
        """Start on a Spark session; the handle's `streaming` is Spark's own StreamingQuery.

        `available_now` reads all there is and ends; `drain` then also answers what waits for the
        frontier and closes the checkpoint. Otherwise the query runs at every `trigger` until it
        is stopped. `report` is called after each batch.
        """
        from penstock.engine.spark.start import start

        return start(
            self.plan,
            spark,
            sink=sink,
            checkpoint=str(checkpoint),
            trigger=_seconds(trigger),
            available_now=available_now,
            drain=drain,
            partitions=partitions,
            overwrite=overwrite,
            report=report,
        )

    def local(
        self,
        *,
        sink: Sink,
        checkpoint: str,
        partitions: int | None = None,
        overwrite: bool = False,
        report: Callable[[Report], None] | None = None,
    ) -> LocalRun:
        """The same query in this process; call `available_now()` or `every(seconds)` on it."""
        from penstock.engine.local.batches import open_run

        return open_run(
            self.plan,
            sink=sink,
            checkpoint=str(checkpoint),
            partitions=partitions,
            overwrite=overwrite,
            report=report,
        )


def _seconds(text: str) -> float:
    from penstock.sql.duration import parse_duration

    try:
        return parse_duration(text) / 1e6
    except ValueError as error:
        raise PenstockError(str(error), hint="a trigger is written '1 second'") from None


class TemporaryCheckpoint:
    """A checkpoint that is gone after the `with` block, for runs that nobody will resume."""

    def __enter__(self) -> str:
        self._folder = tempfile.mkdtemp(prefix="penstock-")
        return self._folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
