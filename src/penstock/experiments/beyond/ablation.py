"""All optimisations on one query, each switched off in turn, on Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from penstock.calibration.batch_runs import RunPlan, run_in_process, spark_runs
from penstock.cql import parse
from penstock.experiments.frame.chart import Axis, BarChart, Bars
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import BEYOND
from penstock.experiments.setting.java import has_java
from penstock.optimize.estimate import needed_by
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan
from penstock.query import Query
from penstock.stats.calibration import calibrated
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from penstock.stats.known import Known

SWITCHES = (
    "filter-order",
    "late-filters",
    "early-aggregation",
    "recompute",
    "bushy",
    "products",
    "probe-order",
    "mesh",
)
"""Those of `--off` that matter on Spark."""
TOGETHER = "all of them"
_SLOWER = 1.1
"""A plan that takes up to so many times as long is as good: times differ by as much."""


@dataclass(frozen=True)
class Extent:
    """Tuples/s of B, the fastest stream, seconds of event time, batches, and runs of each plan."""

    rate: float
    seconds: float
    batches: int
    repeats: int


QUICK, FULL = Extent(10_000.0, 8.0, 4, 2), Extent(20_000.0, 24.0, 8, 3)
_KEYS, _GROUPS, _WINDOW = 400, 20, 4


def query_of_extent(extent: Extent) -> Query:
    """A view of a join with many matches; the dear filter is written before the selective one."""
    streams = {
        "A": (0.3, "a BIGINT"),
        "B": (1.0, "a BIGINT, b BIGINT, g BIGINT"),
        "C": (0.3, "b BIGINT"),
    }
    created = "\n".join(
        _created(name, share * extent.rate, columns, extent)
        for name, (share, columns) in streams.items()
    )
    windows = ", ".join(f"{name} [RANGE {_WINDOW} SECONDS]" for name in "ABC")
    return parse(
        f"{created}\nSELECT B.g AS g, COUNT(*) AS n, SUM(B.v) AS total FROM {windows}\n"
        "WHERE A.a = B.a AND B.b = C.b AND LENGTH(CAST(B.v AS STRING)) < 4 AND B.v < 500\n"
        "GROUP BY B.g EVERY 2 SECONDS"
    )


def _created(name: str, rate: float, columns: str, extent: Extent) -> str:
    sizes = {"g": _GROUPS, "v": 1_000}
    names = [*(each.split()[0] for each in columns.split(", ")), "v"]
    values = ", ".join(f"{each}: uniform(0, {sizes.get(each, _KEYS)})" for each in names)
    micros = round(1e6 * extent.seconds)
    return (
        f"CREATE STREAM {name} (ts TIMESTAMP, {columns}, v BIGINT) WITH (format = 'synthetic', "
        f"timestamp = 'ts', rate = {rate:g}, seed = 1, values = '{values}', "
        f"duration = '{micros} microseconds', max_time = '{micros // extent.batches} microseconds')"
        ";"
    )


def known_of(query: Query) -> Known:
    """What is true of the streams, by the costs of this machine if it is calibrated."""
    distinct = {"a": _KEYS, "b": _KEYS, "g": _GROUPS}
    columns = {"A": "a", "B": "abg", "C": "b"}
    data = {
        "capacity": 1e9,
        "streams": {
            name: {"distinct": {each: distinct[each] for each in own}}
            for name, own in columns.items()
        },
        "filters": {
            "LENGTH(CAST(B.v AS STRING)) < 4": {"selectivity": 1.0, "cost": 3e-7},
            "B.v < 500": {"selectivity": 0.5, "cost": 5e-9},
        },
    }
    return complete(query, from_data(data, query), calibrated("spark"))


def plans_of(known: Known) -> dict[str, Plan]:
    """The plan with all optimisations (""), without each of them, and without any."""
    off = {"": frozenset[str](), **{name: frozenset({name}) for name in SWITCHES}}
    off[TOGETHER] = frozenset(SWITCHES)
    return {name: decide(known, PlanOptions(off=each)).plan for name, each in off.items()}


@dataclass(frozen=True)
class Ablation:
    """By what is off: the work over that of the plan with all optimisations, and where it ran."""

    predicted: Mapping[str, float]
    measured: Mapping[str, float]
    where: str


def ablation(extent: Extent, run: RunPlan, where: str, progress: Progress) -> Ablation:
    """Plans that differ are run, those that do not are as fast."""
    known = known_of(query_of_extent(extent))
    plans = plans_of(known)
    texts = {name: _identity(plan) for name, plan in plans.items()}
    distinct = {texts[name]: plan for name, plan in plans.items()}
    problem = {text: Problem(plan.query, known) for text, plan in distinct.items()}
    work = {text: needed_by(problem[text], plan) for text, plan in distinct.items()}
    spent = _spent(distinct, extent.repeats, run, progress)
    full = texts[""]
    others = [name for name in plans if name]
    return Ablation(
        {name: work[texts[name]] / work[full] for name in others},
        {name: spent[texts[name]] / spent[full] for name in others},
        where,
    )


def _identity(plan: Plan) -> str:
    """What tells plans apart as they run: their text, of a recomputed view the order of the stream
    that drives alone, and the order of filters, which is in no text."""
    text = render_plan(plan)
    if isinstance(plan, MultiwayJoin) and plan.recompute is not None:
        orders = [(order.driver, order.targets) for order in plan.driving]
        text = f"{orders} | early {plan.early}"
    return f"{text} {[str(each) for each in plan.query.filters]}"


def _spent(
    plans: Mapping[str, Plan], repeats: int, run: RunPlan, progress: Progress
) -> dict[str, float]:
    """CPU-seconds of the tasks, of the least of some runs, which take turns: the first ones also
    load code, and what else the machine does counts for nothing."""
    found = dict[str, float]()
    turns = [each for _ in range(repeats) for each in plans.items()]
    for done, (text, plan) in enumerate(turns):
        progress(done, len(turns))
        found[text] = min(run(plan).cpu, found.get(text, float("inf")))
    return found


@contextmanager
def _runs() -> Iterator[tuple[RunPlan, str]]:
    """A way to run plans on Spark; without Java, in this process."""
    if not has_java():
        yield run_in_process, "in one process, since there is no Java here"
        return
    with spark_runs() as run:
        yield run, "on Spark"


def _run(size: Size, progress: Progress) -> Findings:
    with _runs() as (run, where):
        found = ablation(QUICK if size == "quick" else FULL, run, where, progress)
    return findings_of(found)


def findings_of(found: Ablation) -> Findings:
    """The chart and the verdicts."""
    names = tuple(found.measured)
    bars = (
        Bars("time", "measured", tuple(found.measured[name] for name in names)),
        Bars("time", "model", tuple(found.predicted[name] for name in names)),
    )
    shown = tuple(name.replace("-", "-\n").replace(" of ", "\nof ") for name in names)
    axis = Axis("CPU time without it, over that with all", is_log=True)
    chart = BarChart(f"Optimisations switched off, {found.where}", shown, axis, bars)
    return Findings((chart,), _claims(found, names))


def _claims(found: Ablation, names: Sequence[str]) -> tuple[Claim, ...]:
    alone = [name for name in names if name != TOGETHER]
    least = min(found.measured[name] for name in alone)
    most = max(alone, key=lambda name: found.predicted[name])
    reason = "Times of short runs differ by more than that on a machine that does other work too"
    return (
        checked(
            "No optimisation makes the query slower",
            paper=f"without it {1 / _SLOWER:.2f} × at the least, for each",
            ours=f"{least:.2f} × at the least",
            checks={name: found.measured[name] >= 1 / _SLOWER for name in alone},
            reason=reason,
            timed=True,
        ),
        checked(
            "What is predicted to matter most does",
            paper=f"{most}: {found.predicted[most]:.3g} × is predicted",
            ours=f"{found.measured[most]:.3g} ×",
            checks={
                "nothing else alone matters more": found.measured[most]
                >= max(found.measured[name] for name in alone) / _SLOWER
            },
            reason=reason,
            timed=True,
        ),
        checked(
            "Together they are worth a factor of two",
            paper="2 × at the least",
            ours=f"{found.measured[TOGETHER]:.3g} ×",
            checks={"2 × at the least": found.measured[TOGETHER] >= 2.0},
            reason="To read takes as long whatever the plan",
            timed=True,
        ),
    )


EXPERIMENT = Experiment(
    name="beyond-ablation",
    paper=BEYOND,
    figure="Switched off",
    title="Each optimisation switched off in turn",
    question="What is each optimisation worth to one query?",
    about="A view counts and sums the combinations of three streams with many matches, by a group, "
    "behind two filters, the dearer of which is written first. The planner chooses with all "
    "optimisations, without each of them, and without any, and the plans that differ are run, "
    "taking turns; what counts is the CPU time of their tasks. Where nothing changes without an "
    "optimisation, it has nothing to do for this query, and the ratio is one. Without Java it runs "
    "in one process.",
    run=_run,
    cheap=False,
    on_spark=True,
)
