"""Goals on Spark: the plan that is chosen for one and the steady plan, taking turns."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from statistics import median
from typing import Any, TypedDict

from penstock.bench.goals.cases import Course, GoalCase, gain
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan

Progress = Callable[[str], None]
RunCourse = Callable[[Plan], Course]

LARGE = 1.5
"""Where so much is predicted, the chosen plan should be seen to be better."""


class GoalFigures(TypedDict):
    """How many times as soon, or as many results, the chosen plan has, predicted and measured."""

    case: str
    goal: str
    chosen: str
    steady: str
    predicted: float
    measured: float
    batch_seconds: float


class GoalDocument(TypedDict):
    """The figures for programs."""

    repeat: int
    cases: list[GoalFigures]
    predicted_1_5x: int
    better_where_1_5x: int


def run_goals(cases: tuple[GoalCase, ...], repeat: int, progress: Progress) -> GoalDocument:
    """All cases on a Spark session of their own."""
    with _spark_courses() as run:
        progress("warming up")
        run(cases[0].chosen)
        found = [_measured(case, run, repeat, progress) for case in cases]
    large = [each for each in found if each["predicted"] >= LARGE]
    return {
        "repeat": repeat,
        "cases": found,
        "predicted_1_5x": len(large),
        "better_where_1_5x": sum(each["measured"] > 1.0 for each in large),
    }


def _measured(case: GoalCase, run: RunCourse, repeat: int, progress: Progress) -> GoalFigures:
    progress(case.name)
    turns = [(run(case.chosen), run(case.steady)) for _ in range(repeat)]
    steps = [b - a for a, b in zip(turns[0][0][0], turns[0][0][0][1:], strict=False)]
    return {
        "case": case.name,
        "goal": str(case.goal),
        "chosen": render_plan(case.chosen),
        "steady": render_plan(case.steady),
        "predicted": round(case.predicted, 2),
        "measured": round(median(gain(case.goal, *turn) for turn in turns), 2),
        "batch_seconds": round(median(steps), 2),
    }


@contextmanager
def _spark_courses() -> Iterator[RunCourse]:
    """A way to run plans over all there is, and to see when their results were there."""
    from penstock.engine.spark.session import make_session
    from penstock.engine.spark.start import start

    spark: Any = make_session()

    def run(plan: Plan) -> Course:
        with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
            options = RunOptions(sink=noop(), checkpoint=f"{folder}/run", available_now=True)
            handle = start(plan, spark, options)
            handle.await_termination()
            reports = list(handle.reports)
        seconds = accumulate((report.seconds for report in reports), initial=0.0)
        return list(seconds), [0.0, *(float(report.total_results) for report in reports)]

    try:
        yield run
    finally:
        spark.stop()
