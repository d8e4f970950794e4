"""A&N's drop boxes on Spark: several times the capacity, shed to what the machine can do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.bench.drift.cases.following import Setting
from penstock.bench.shed.run import AIM, BOUND, Shed
from penstock.bench.shed.run import Size as BenchSize
from penstock.bench.shed.text import ENOUGH
from penstock.experiments.frame.chart import Axis, BarChart, Bars
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import AN
from penstock.experiments.setting.java import NO_JAVA, has_java

_SIZES: dict[Size, BenchSize] = {
    "quick": BenchSize(step=2.0, batches=2, whole=0),
    "full": BenchSize(whole=1),
}


def _run(size: Size, progress: Progress) -> Findings:
    if not has_java():
        return Findings((), (), notes=(NO_JAVA,))
    from penstock.bench.shed.spark import on_spark

    steps = len(_SIZES[size].times) + 2
    done = iter(range(steps))
    setting = Setting(Path("unused"), lambda _: progress(next(done), steps))
    found = on_spark(_SIZES[size], setting)
    return Findings((_results_chart(found), _delay_chart(found)), shed_claims(found))


def _names(found: Sequence[Shed]) -> tuple[str, ...]:
    return tuple(f"{each.times:g} × capacity" for each in found)


def _results_chart(found: Sequence[Shed]) -> BarChart:
    return BarChart(
        "Results of the shed query",
        _names(found),
        Axis("results", "1/s", low=0.0),
        (
            Bars("shed", "model", tuple(each.predicted for each in found)),
            Bars("shed", "measured", tuple(each.measured for each in found)),
        ),
    )


def _delay_chart(found: Sequence[Shed]) -> BarChart:
    delays = tuple(max(each.delays) for each in found)
    axis = Axis("longest delay", "s", low=0.0)
    return BarChart("Delay", _names(found), axis, (Bars("shed", "measured", delays),))


def shed_claims(found: Sequence[Shed]) -> tuple[Claim, ...]:
    """What the paper's model says of a plan with drop boxes, on Spark."""
    return (
        checked(
            "A query at 2, 3 and 5 times the capacity keeps up with its drop boxes (on Spark)",
            paper="a plan with drop boxes is feasible",
            ours=", ".join(f"{s.times:g} ×: load {s.load:.2f}" for s in found),
            checks={
                f"at {s.times:g} × the delay is {BOUND:g} batches at most": s.keeps_up
                for s in found
            }
            | {
                f"at {s.times:g} × it would not without them": s.whole > 1.0
                for s in found
                if s.whole is not None
            },
            reason="What else the machine did at the time: loads are measured just before",
            timed=True,
        ),
        checked(
            "It has the results that the model predicts of the drop boxes (on Spark)",
            paper="the output rate of Eq. 18",
            ours=", ".join(f"{s.times:g} ×: {s.kept_vs_predicted:.3f} of them" for s in found),
            checks={f"{ENOUGH} at {s.times:g} ×": s.kept_vs_predicted >= ENOUGH for s in found},
            reason="Which tuples are dropped is chance, and a short run has few of them",
            timed=True,
        ),
    )


EXPERIMENT = Experiment(
    name="an-spark",
    paper=AN,
    figure="§4.2, on Spark",
    title="Shedding on Spark",
    question="Does a query that is shed keep up at several times the capacity, with the results "
    "that were predicted?",
    about="Two streams are joined, at rates that would take 2, 3 and 5 seconds of work for each "
    "second; runs at three rates tell which these are. Drop boxes bring the load down to "
    f"{AIM:g}. The delay is how much later than its newest tuples a batch is done, if tuples come "
    "by the clock and each batch takes what it took.",
    run=_run,
    cheap=False,
    on_spark=True,
)
