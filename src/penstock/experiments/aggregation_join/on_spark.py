"""T&L's plans through the ordinary engine on Spark: each early plan beside the late one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.bench.early.settings import plans_of
from penstock.calibration.batch_runs import spark_runs
from penstock.calibration.workload import MadeStream, Workload
from penstock.experiments.frame.chart import Axis, BarChart, Bars
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import TL
from penstock.experiments.setting.java import NO_JAVA, has_java
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.plan.plan import Plan
from penstock.stats.guess import complete

_RATE, _KEYS, _GROUPS = 10_000, 10, 20
_SECONDS = {"quick": 3, "full": 8}
_TURNS = {"quick": 1, "full": 3}
_PLANS = {"quick": ("LAP", "EAP11"), "full": ("LAP", "EAP01", "EAP10", "EAP11")}
_FASTER = 1.5
"""What a batch takes whatever its plan is a good part of these runs: less is asked than counted."""


@dataclass(frozen=True)
class Run:
    """The wall seconds of a plan's batches, and how many changes of the view it told."""

    seconds: float
    results: int


def workload_of(seconds: int) -> Workload:
    """Two streams that fold well, in batches of a second: a row a key, group and tick."""
    streams = tuple(MadeStream(name, _RATE, {"k": _KEYS}, groups=_GROUPS) for name in "AB")
    return Workload(streams, float(seconds), batches=seconds, every=1.0)


def _run(size: Size, progress: Progress) -> Findings:
    workload = workload_of(_SECONDS[size])
    plans = {name: plans_of(workload.query())[name] for name in _PLANS[size]}
    foreseen = speedups(predicted(workload, plans))
    if not has_java():
        return Findings((_chart("What the model foresees", foreseen, {}),), (), notes=(NO_JAVA,))
    runs = _measured(plans, _TURNS[size], progress)
    found = speedups({name: run.seconds for name, run in runs.items()})
    return Findings((_chart("On Spark", foreseen, found),), tuple(spark_claims(runs)))


def predicted(workload: Workload, plans: Mapping[str, Plan]) -> dict[str, float]:
    """Seconds a second of each plan by the planner's model, what starting a batch takes aside."""
    query = workload.query()
    problem = Problem(query, complete(query, workload.statistics()))
    return {name: needed_by(problem, plan) for name, plan in plans.items()}


def speedups(seconds: Mapping[str, float]) -> dict[str, float]:
    """How many times faster each early plan is than the late one."""
    return {name: seconds["LAP"] / own for name, own in seconds.items() if name != "LAP"}


def _measured(plans: Mapping[str, Plan], turns: int, progress: Progress) -> dict[str, Run]:
    """The fastest run of each plan, the plans taking turns; the first run of all warms Spark up."""
    steps = 1 + turns * len(plans)
    progress(0, steps)
    best: dict[str, Run] = {}
    with spark_runs() as run:
        run(plans["EAP11"])
        for turn in range(turns):
            for number, (name, plan) in enumerate(plans.items()):
                progress(1 + turn * len(plans) + number, steps)
                made = run(plan)
                seconds = min(made.seconds, best[name].seconds if name in best else made.seconds)
                best[name] = Run(seconds, made.results)
    return best


def _chart(title: str, foreseen: Mapping[str, float], found: Mapping[str, float]) -> BarChart:
    names = tuple(foreseen)
    bars = [Bars("faster than LAP", "model", tuple(foreseen[name] for name in names))]
    if found:
        bars.append(Bars("faster than LAP", "measured", tuple(found[name] for name in names)))
    return BarChart(title, names, Axis("LAP’s time over the plan’s", "×", is_log=True), tuple(bars))


def spark_claims(runs: Mapping[str, Run]) -> list[Claim]:
    """What is said of early plans, judged by runs on Spark."""
    faster = speedups({name: run.seconds for name, run in runs.items()})
    told = {name: run.results for name, run in runs.items()}
    return [
        checked(
            "All plans tell the same of the view (on Spark)",
            paper="equivalent plans",
            ours=", ".join(f"{name} {count:,}" for name, count in told.items()) + " changes",
            checks={"as many changes": len(set(told.values())) == 1, "some": told["LAP"] > 0},
        ),
        checked(
            "Where both streams fold, aggregating both early is the fastest (on Spark)",
            paper="EAP11 is the best where both have few groups",
            ours=", ".join(f"{name} {ratio:.2f} ×" for name, ratio in faster.items()),
            checks={
                f"EAP11 is {_FASTER} times as fast as LAP": faster["EAP11"] >= _FASTER,
                "no other plan is faster": faster["EAP11"] == max(faster.values()),
            },
            reason="What a batch takes whatever its plan outweighs the joins",
            timed=True,
        ),
    ]


EXPERIMENT = Experiment(
    name="tl-spark",
    paper=TL,
    figure="Fig. 6 and 10 (d), on Spark",
    title="Aggregating before the join, on Spark",
    question="Does aggregating early pay through the ordinary engine too?",
    about=(
        "Two streams of 10,000 tuples a second with ten keys and twenty groups each, windows of a "
        "second, and a view of counts and sums evaluated every second: many partners, few groups. "
        "The plans (at quick size LAP and EAP11) run in turns in one session of Spark, in batches "
        "of a second of event time, into no sink. Ratios are by wall time; the model’s are of work "
        "alone, without what starting a batch takes, so that it foresees more than can be seen. "
        "Without Java nothing is run, and the chart says so."
    ),
    run=_run,
    cheap=False,
    on_spark=True,
)
