"""The query of a log and what is known of it: what its run measured, the rest guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median

from penstock.adapt.figures.overlay import given_of
from penstock.adapt.knowledge import times
from penstock.adapt.planning.weighing import work_of_plan
from penstock.adapt.resume import measured_at, over
from penstock.adapt.settings import DEFAULT_SETTINGS
from penstock.api import ContinuousQuery, sql
from penstock.engines import BATCH_ENGINES
from penstock.errors import CheckpointError, PenstockError
from penstock.optimize.options import PlanOptions
from penstock.plan.text.parse import forced_plan
from penstock.query import Query
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.watch.log_view import LogView
from penstock.watch.verdict import RECENT


@dataclass(frozen=True)
class Asked:
    """A query, what is known of it now, and how its plans are to be searched for."""

    query: Query
    known: Known
    options: PlanOptions


def asked_of(log: LogView, functions: str | None = None) -> Asked:
    """The query of a log by the last figures that its run measured; `functions` are in a file.

    Seconds are as the last batches have taken them, as in a run that plans again. Meshes need a
    sample of the streams, and are not searched for. A PenstockError where the query cannot be
    read, or is one of several.
    """
    head = log.head
    if head is None or not head.query:
        raise CheckpointError(
            f"{log.checkpoint} does not say of which query it is",
            hint="it does once the query has run on it",
        )
    engine = next((each for each in BATCH_ENGINES if each == head.engine), "local")
    query = _query(head.query, engine, functions)
    known = query.known
    measured = measured_at(log.checkpoint, query.query)
    if measured is not None:
        known = complete(query.query, over(given_of(known), measured), known.costs)
    options = replace(query.options, off=query.options.off | {"mesh"})
    return Asked(query.query, with_seconds(known, log), options)


def with_seconds(known: Known, log: LogView) -> Known:
    """What is known, with costs such that the running plan takes what it took in the last batches;
    as they are where that cannot be said."""
    last, took = log.last, measured_work(log)
    if last is None or took is None:
        return known
    try:
        expected = work_of_plan(known, forced_plan(known.query, last.plan))
    except PenstockError:  # A mesh, for one: its text does not say who takes which route.
        return known
    most = DEFAULT_SETTINGS.most_factor
    factor = min(most, max(1.0 / most, took / expected)) if expected > 0.0 else 1.0
    return replace(known, costs=times(known.costs, factor))


def measured_work(log: LogView) -> float | None:
    """CPU-seconds for a second of event time, in the median of the last batches of the plan."""
    mine = [each for each in log.reports[-RECENT:] if each.plan == log.reports[-1].plan]
    works = [max(0.0, each.cpu - each.compiling) / each.span for each in mine if each.span]
    return median(works) if any(works) else None


@lru_cache(maxsize=8)
def _query(text: str, engine: str, functions: str | None) -> ContinuousQuery:
    given: str | Sequence[str] = functions or ()
    found: object = sql(text, engine=engine, functions=given, file="the run's query")  # type: ignore[arg-type]
    if not isinstance(found, ContinuousQuery):
        raise CheckpointError(
            "the run is of a script of several queries, which are planned together",
            hint="penstock explain shows their plans",
        )
    return found
