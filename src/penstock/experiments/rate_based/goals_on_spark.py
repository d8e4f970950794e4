"""V&N’s goals on Spark: the plan for the first results beside that for the long run."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.bench.goals.cases import goal_cases
from penstock.bench.goals.run import LARGE, GoalFigures, run_goals
from penstock.experiments.frame.chart import Axis, BarChart, Bars
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import VN
from penstock.experiments.setting.java import NO_JAVA, has_java
from penstock.stats.calibration import calibrated
from penstock.stats.guess import DEFAULT_COSTS


def _run(size: Size, progress: Progress) -> Findings:
    if not has_java():
        return Findings((), (), notes=(NO_JAVA,))
    cases = goal_cases(calibrated("spark") or DEFAULT_COSTS, 0.25 if size == "quick" else 1.0)
    cases, repeat = (cases[:1], 1) if size == "quick" else (cases, 3)
    said: list[str] = []

    def step(what: str) -> None:
        progress(len(said), len(cases) + 1)
        said.append(what)

    found = run_goals(cases, repeat, step)["cases"]
    return Findings((_chart(found),), (goals_claim(found),))


def _chart(found: Sequence[GoalFigures]) -> BarChart:
    axis = Axis("times as soon, or as many", "steady plan: 1", low=0.0)
    bars = (
        Bars("the plan of the goal", "measured", tuple(each["measured"] for each in found)),
        Bars("the plan of the goal", "model", tuple(each["predicted"] for each in found)),
    )
    names = tuple(each["case"] for each in found)
    return BarChart("The plan of the goal beside the steady plan, on Spark", names, axis, bars)


def goals_claim(found: Sequence[GoalFigures]) -> Claim:
    """The claim that a plan for the first results has them sooner, where that is foreseen."""
    large = [each for each in found if each["predicted"] >= LARGE]
    return checked(
        "The plan that rates choose for early results has them sooner than the steady plan",
        paper="plans that start slower may end sooner, and the other way round (§5)",
        ours=", ".join(
            f"{each['case']}: {each['measured']:.2f} ×, foreseen {each['predicted']:.2f} ×"
            for each in found
        ),
        checks={f"{each['case']}: sooner, or more": each["measured"] > 1.0 for each in large}
        or {"at least one case promises half as much again": False},
        reason="A batch takes Spark some tenths of a second, whatever the plan",
        timed=True,
    )


EXPERIMENT = Experiment(
    name="vn-spark",
    paper=VN,
    figure="§5, on Spark",
    title="Early results on Spark",
    question="Does the plan for the first results have them sooner through the ordinary engine?",
    about=(
        "A backlog of 0.2 s of fast streams, joined in eight batches. New tuples of A find many "
        "partners in short windows, and few in B’s long one at first; once that is full, it is the "
        "other way round. So the plan for the first half of the results (`--goal first:N`), or for "
        "the most results by a moment (`--goal by:T`), is another than the one for the long run. "
        "Both take turns in one session of Spark. At quick size there is one query and one turn; "
        "`penstock bench goals` is the same."
    ),
    run=_run,
    cheap=False,
    on_spark=True,
)
