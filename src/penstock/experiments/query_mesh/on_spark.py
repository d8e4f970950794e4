"""A mesh beside the best single plan through the ordinary engine on Spark."""

from __future__ import annotations

import tempfile
from pathlib import Path

from penstock.bench.mesh.figures import MESH, SINGLE, Half
from penstock.bench.mesh.predicates import Size as BenchSize
from penstock.bench.mesh.predicates_data import SKEWED, UNIFORM
from penstock.bench.mesh.spark import ON_SPARK, run_on_spark
from penstock.experiments.frame.chart import Axis, BarChart, Bars
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked
from penstock.experiments.frame.paper import QM
from penstock.experiments.setting.java import NO_JAVA, has_java

_QUICK = BenchSize(rows=5_000, files=4, batch=4, repeat=1, sampling=2.0, mixtures=(SKEWED, UNIFORM))
_MORE, _SLIGHT = 1.1, 0.9
"""A batch takes Spark some tenths of a second, whatever the plan: less is asked than in Fig. 10."""


def _run(size: Size, progress: Progress) -> Findings:
    if not has_java():
        return Findings((), (), notes=(NO_JAVA,))
    progress(0, 1)
    with tempfile.TemporaryDirectory(prefix="penstock-lab-") as folder:
        half = run_on_spark(_QUICK if size == "quick" else ON_SPARK, Path(folder), _silent)
    return Findings((_chart(half),), tuple(spark_claims(half)))


def _silent(said: str) -> None:
    """The bar of the experiment is enough."""


def _chart(half: Half) -> BarChart:
    runs = {"skewed": half.skewed, "uniform": half.uniform}
    names = {MESH: "query mesh", SINGLE: "single plan"}
    bars = tuple(
        Bars(name, "measured", tuple(r.rate(rival) / r.rate(SINGLE) for r in runs.values()))
        for rival, name in names.items()
    )
    axis = Axis("output rate", "single plan: 1", low=0.0)
    return BarChart("Output rate on Spark, by wall time", tuple(runs), axis, bars)


def spark_claims(half: Half) -> list[Claim]:
    """What Fig. 10 says of a mesh and the single plan, on Spark."""
    gain, loss = half.skewed.ratio(SINGLE), half.uniform.ratio(SINGLE)
    return [
        checked(
            "Skewed data: the mesh has more output than the single plan (on Spark)",
            paper="44 % more, in an engine of its own",
            ours=f"{100 * (gain - 1):+.0f} %",
            checks={"a tenth more": gain >= _MORE},
            reason="What a batch takes whatever its plan outweighs the predicates",
            timed=True,
        ),
        checked(
            "Uniform data: the mesh is hardly worse than the single plan (on Spark)",
            paper="2.2 % less",
            ours=f"{100 * (loss - 1):+.0f} %",
            checks={"a tenth less at most": loss >= _SLIGHT},
            reason="What else the machine did at the time weighs more than the difference",
            timed=True,
        ),
    ]


EXPERIMENT = Experiment(
    name="qm-spark",
    paper=QM,
    figure="Fig. 10, on Spark",
    title="A mesh on Spark",
    question="Does a mesh give more output than the best single plan through the ordinary engine?",
    about=(
        "A stream goes through six predicates, each of which takes 40 to 100 µs for a tuple. Its "
        "tuples are of three kinds that want opposite orders, and it takes two attributes to tell "
        "them apart; in the uniform data there is nothing to tell. Both plans run in turns in one "
        "session of Spark, on the same files and into Parquet, and must give the same results."
    ),
    run=_run,
    cheap=False,
    on_spark=True,
)
