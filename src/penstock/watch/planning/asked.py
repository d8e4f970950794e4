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
from penstock.continuous_script import ContinuousScript
from penstock.engine.reports.report import Report
from penstock.engines import BATCH_ENGINES
from penstock.errors import CheckpointError, PenstockError
from penstock.figure import Figure
from penstock.optimize.options import PlanOptions
from penstock.optimize.script import known_of
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
    sample of the streams, and are not searched for. A query of a script is planned as if it were
    alone. A PenstockError where the query cannot be read, or none of several is chosen.
    """
    head = log.head
    if head is None or not head.query:
        raise CheckpointError(
            f"{log.checkpoint} does not say of which query it is",
            hint="it does once the query has run on it",
        )
    engine = next((each for each in BATCH_ENGINES if each == head.engine), "local")
    found = _asked(head.query, engine, functions)
    if isinstance(found, ContinuousScript):
        return _of_script(found, log)
    query, known = found, found.known
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


def _of_script(script: ContinuousScript, log: LogView) -> Asked:
    """A query of a script, by the rates that its inputs have had."""
    names = [member.name for member in script.script.members]
    if log.query is None:
        raise CheckpointError(
            f"each query of a script is planned by itself: choose {' or '.join(names)}",
            hint="penstock explain shows what they take together",
        )
    if log.query not in names:
        raise CheckpointError(
            f"{log.query} is a join that several queries share, which is planned with them",
            hint=f"choose {' or '.join(names)}",
        )
    query = script.script.member(log.query).query
    known = known_of(script.script, script.knowledge, script.options)[log.query]
    known = replace(known, rates={**known.rates, **measured_rates(known, log)})
    options = replace(script.options, off=script.options.off | {"mesh"})
    return Asked(query, with_seconds(known, log), options)


def measured_rates(known: Known, log: LogView) -> dict[str, Figure]:
    """Tuples/s of inputs, in the median of the last batches that had a time."""
    reports = log.reports[-RECENT:]
    found = {
        alias: [rate for each in reports if (rate := _rate(each, alias)) is not None]
        for alias in known.rates
    }
    return {alias: Figure(median(rates), "measured") for alias, rates in found.items() if rates}


def _rate(report: Report, alias: str) -> float | None:
    return report.inputs[alias].rate if alias in report.inputs else None


@lru_cache(maxsize=8)
def _asked(text: str, engine: str, functions: str | None) -> ContinuousQuery | ContinuousScript:
    given: str | Sequence[str] = functions or ()
    found: ContinuousQuery | ContinuousScript = sql(  # It says one of both by its hints.
        text,
        engine=engine,  # type: ignore[arg-type]
        functions=given,  # type: ignore[arg-type]
        file="the run's query",
    )
    return found
