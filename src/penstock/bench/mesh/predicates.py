"""The mesh benchmark's query of six expensive predicates, in this process on one core."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq

from penstock.bench.data import stream_files
from penstock.bench.mesh.checks import CHECKS
from penstock.bench.mesh.figures import BATCH, BATCHED, EDDY, MESH, SINGLE, Half, Runs
from penstock.bench.mesh.predicates_data import (
    ONE_ATTRIBUTE,
    PASS,
    SEED,
    SKEWED,
    UNIFORM,
    Answer,
    Checked,
    Mixture,
    answer_of,
    ensure_tuples,
    expected,
)
from penstock.engine.local import open_run
from penstock.engine.routes.classifying import route_numbers
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import parquet
from penstock.engines import EngineName
from penstock.errors import PenstockError
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.plan import Plan
from penstock.sampling.analyze import analyze
from penstock.stats.calibration import calibrated
from penstock.stats.guess import complete

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Size:
    """How much is run: tuples a file, files, files a batch, how often; seconds for the sample."""

    rows: int = 10_000
    files: int = 4
    batch: int = 2
    repeat: int = 5
    sampling: float = 10.0
    mixtures: tuple[Mixture, ...] = (SKEWED, UNIFORM, ONE_ATTRIBUTE)

    def checked(self, mixture: Mixture) -> Checked:
        """The query on one kind of data, in this size."""
        return Checked(mixture, self.rows, self.files, self.batch)


QUICK = Size(rows=2_500, repeat=3, sampling=4.0, mixtures=(SKEWED, UNIFORM))


@dataclass(frozen=True)
class Contest:
    """The plans of the rivals for one kind of data, and what all of them must give."""

    name: str
    tuples: int
    folder: Path
    plans: Mapping[str, Plan]
    answer: Answer

    def in_turn(self, number: int) -> list[tuple[str, Plan]]:
        """The rivals of a round: nobody is always first, or always after the same rival."""
        rivals = list(self.plans.items())
        first = number % len(rivals)
        return rivals[first:] + rivals[:first]


@dataclass(frozen=True)
class Finish:
    """The seconds that a run took, and the answer that it gave."""

    seconds: float
    answer: Answer


def run_predicates(size: Size, data: Path, progress: Progress) -> Half:
    """Run every rival `repeat` times on each kind of data, taking turns; answers are checked."""
    contests = [contest_of(size, mixture, data, "local", progress) for mixture in size.mixtures]
    for contest in contests:
        run_once(contest.plans[MESH])
    finishes: dict[str, dict[str, list[Finish]]] = {
        contest.name: {rival: [] for rival in contest.plans} for contest in contests
    }
    for number in range(1, size.repeat + 1):
        for contest in contests:
            progress(f"predicates, {contest.name}, round {number} of {size.repeat}")
            for rival, plan in contest.in_turn(number):
                finishes[contest.name][rival].append(run_once(plan))
    return half_of(size, contests, finishes)


def contest_of(
    size: Size, mixture: Mixture, data: Path, engine: EngineName, progress: Progress
) -> Contest:
    """Make the data, and plan for every rival by what `analyze` finds in a sample of it."""
    checked = size.checked(mixture)
    progress(f"predicates, {mixture.name}: {checked.tuples:,} tuples, sampled and planned")
    folder = ensure_tuples(checked, data)
    query = checked.query(folder)
    known = complete(query, analyze(query, seconds=size.sampling), calibrated(engine))
    single, mesh = (
        decide(known, PlanOptions(kinds=frozenset({kind}), engine=engine)).plan
        for kind in ("multiway", "mesh")
    )
    plans = {SINGLE: single, MESH: mesh}
    if engine == "local":
        plans |= {EDDY: Eddy(query), BATCHED: Eddy(query, BATCH)}
    return Contest(mixture.name, checked.tuples, folder, plans, expected(folder))


def run_once(plan: Plan) -> Finish:
    """One run over all there is. CPU-seconds: what other processes take is not the plan's."""
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
        sink = parquet(f"{scratch}/results")
        run = open_run(plan, RunOptions(sink=sink, checkpoint=f"{scratch}/state"))
        started = time.process_time()
        run.available_now()
        seconds = time.process_time() - started
        return Finish(seconds, answer_in(sink.place.path))


def answer_in(folder: str) -> Answer:
    """The answer that the results in a folder of parquet files come to."""
    return answer_of(ds.dataset(folder, format="parquet").to_table())


def half_of(
    size: Size,
    contests: Sequence[Contest],
    finishes: Mapping[str, Mapping[str, Sequence[Finish]]],
) -> Half:
    """All runs, once every one of them is known to have given what it must."""
    runs = {contest.name: _runs(contest, finishes[contest.name]) for contest in contests}
    setting = {
        "seed": SEED,
        "repeat": size.repeat,
        "batch_tuples": size.rows * size.batch,
        "predicate_micros": {check.name: round(check.seconds * 1e6) for check in CHECKS},
        "pass_rates": PASS.tolist(),
    }
    return Half(runs.pop(SKEWED.name), runs.pop(UNIFORM.name), setting, runs)


def classifying_seconds(plan: Plan, folder: Path) -> float:
    """CPU-seconds that the classifier of a mesh takes for all tuples, file by file as in a run."""
    assert isinstance(plan, MeshJoin)
    (mesh,) = plan.meshes
    files = [
        batch for path in stream_files(folder, ".") for batch in pq.read_table(path).to_batches()
    ]
    started = time.process_time()
    for rows in files:
        route_numbers(mesh, rows)
    return time.process_time() - started


def _runs(contest: Contest, finishes: Mapping[str, Sequence[Finish]]) -> Runs:
    for rival, runs in finishes.items():
        for run in runs:
            if run.answer != contest.answer:
                raise PenstockError(
                    f"{rival} on {contest.name} data gave a wrong answer: "
                    f"{run.answer}, not {contest.answer}",
                    hint="this is a mistake in Penstock or its benchmark; please report it",
                )
    return Runs(
        contest.tuples,
        contest.answer.count,
        {rival: [run.seconds for run in runs] for rival, runs in finishes.items()},
        classifying_seconds(contest.plans[MESH], contest.folder),
    )
