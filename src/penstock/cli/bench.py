"""`penstock bench`: how fast it is, beside Spark's own joins, and how well it decides and knows."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from penstock.cli.bench_options import (
    BenchEngine,
    BenchFormat,
    Benchmark,
    BenchOptions,
    Data,
    Format,
    Name,
    OnEngine,
    OnSpark,
    Partitions,
    Queries,
    Quick,
    Repeat,
    Routes,
    Seconds,
    Seed,
    Seeds,
    Simulate,
)
from penstock.cli.grouped_help import HelpAll
from penstock.cli.show.stopping import stoppable
from penstock.errors import SinkError

Progress = Callable[[str], None]


def bench(
    name: Name,
    quick: Quick = False,
    format: Format = BenchFormat.TEXT,
    repeat: Repeat = None,
    seconds: Seconds = None,
    data: Data = None,
    queries: Queries = None,
    seed: Seed = 1,
    seeds: Seeds = None,
    spark: OnSpark = False,
    engine: OnEngine = BenchEngine.LOCAL,
    partitions: Partitions = None,
    simulate: Simulate = False,
    routes: Routes = None,
    help_all: HelpAll = False,
) -> None:
    """Measure how fast it is and how well it decides; run nothing else meanwhile.

    \b
    join3        a join of three on one key, 3 x 20,000 tuples/s, windows of 10 s
    sparse3      the same with twenty times as many keys: few tuples match
    chain3       a three-way join on two keys: A.a = B.a AND B.b = C.b
    kernel       join3 on one core, tuple by tuple, by rates and windows
    latency      micro-batches of 30,000 tuples on Spark
    limits       join3 with sinks, a hot key, large state, many results, …
    long-window  an hour's window, a batch a second, beside the same in ten chunks
    decisions    random queries: is the chosen plan the best of all that are run?
    aggjoin      counts and sums over joins of many matches, beside Spark's own
    early        settings with another early or late plan as the best
    mesh         a ten-way join on skewed data, beside one plan and an eddy
    planning     what planning takes: joins of 3 to 25 inputs, views, meshes, …
    intervals    shed views: do their 95 % intervals hold? Exits with 1 if not
    drift        streams that change under a query: are plans changed in time?
    goals        plans for first:N and by:T beside the steady plan, on Spark
    shed         2, 3 and 5 times the capacity: does the shed query keep up?
    nexmark      queries of an auction site, beside Spark's own and Flink SQL
    shared       ten queries over three streams, together beside each by itself
    sources      join3 over files and Kafka, directly and through DataFrames
    scale        how a batch grows with rate, window, keys and partitions

    Example: penstock bench join3 --quick
    """
    wanted = BenchOptions(
        name,
        quick,
        repeat,
        seconds,
        data,
        queries,
        seed,
        seeds,
        spark,
        engine,
        partitions,
        simulate,
        routes,
    )
    wanted.check()
    with stoppable("a benchmark that is cut off has no figures"):
        found = _measure(wanted, _progress())
    is_json = format is BenchFormat.JSON
    sys.stdout.write(json.dumps(found.document, indent=2) + "\n" if is_json else found.text)
    if not found.is_kept:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Found:
    """The figures of a benchmark for programs and for people, and whether promises are kept."""

    document: object
    text: str
    is_kept: bool = True


def _measure(wanted: BenchOptions, progress: Progress) -> _Found:
    match wanted.name:
        case Benchmark.DECISIONS:
            return _decisions(wanted)
        case Benchmark.INTERVALS:
            return _intervals(wanted, progress)
        case Benchmark.EARLY:
            return _early(wanted, progress)
        case Benchmark.PLANNING:
            return _planning(wanted, progress)
        case Benchmark.GOALS:
            return _goals(wanted, progress)
        case Benchmark.SHED:
            return _shed(wanted, progress)
    with _folder(wanted.data) as folder:
        match wanted.name:
            case Benchmark.KERNEL:
                return _kernel(wanted, progress)
            case Benchmark.LATENCY:
                return _latency(wanted, folder, progress)
            case Benchmark.LIMITS:
                return _limits(wanted, folder, progress)
            case Benchmark.LONG_WINDOW:
                return _long_window(wanted, folder, progress)
            case Benchmark.AGGJOIN:
                return _aggjoin(wanted, folder, progress)
            case Benchmark.DRIFT:
                return _drift(wanted, folder, progress)
            case Benchmark.MESH:
                return _mesh(wanted, folder, progress)
            case Benchmark.SOURCES:
                return _sources(wanted, folder, progress)
            case Benchmark.NEXMARK:
                return _nexmark(wanted, folder, progress)
            case Benchmark.SHARED:
                return _shared(wanted, folder, progress)
            case Benchmark.SCALE:
                return _scale(wanted, folder, progress)
            case _:
                return _joins(wanted, folder, progress)


def _joins(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench import workload
    from penstock.bench.joins.comparison import QUICK, Size, compare
    from penstock.bench.joins.figures import document
    from penstock.bench.joins.text import comparison_text

    base = QUICK if wanted.quick else Size()
    whole = wanted.seconds or base.seconds
    rivals = min(whole, base.rival_seconds) if wanted.quick else whole
    size = Size(whole, rivals, wanted.repeat or base.repeat, base.with_flink)
    chosen = {w.name: w for w in (workload.JOIN3, workload.SPARSE3, workload.CHAIN3)}
    made = document(compare(chosen[wanted.name], size, folder, progress))
    return _Found(made, comparison_text(made))


def _kernel(wanted: BenchOptions, progress: Progress) -> _Found:
    from penstock.bench.joins.kernel import kernel_benchmark
    from penstock.bench.joins.text import kernel_text

    progress("one core, tuple by tuple")
    repeats = wanted.repeat or (1 if wanted.quick else 3)
    made = kernel_benchmark(wanted.seconds or (20 if wanted.quick else 60), repeats=repeats)
    return _Found(made, kernel_text(made))


def _latency(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.joins.latency import latency_benchmark
    from penstock.bench.joins.text import latency_text

    made = latency_benchmark(wanted.seconds or (20 if wanted.quick else 25), folder, progress)
    return _Found(made, latency_text(made))


def _limits(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.limits.run import QUICK, Size, run_limits
    from penstock.bench.limits.text import limits_text

    base = QUICK if wanted.quick else Size()
    seconds, repeat = wanted.seconds or base.seconds, wanted.repeat or base.repeat
    made = run_limits(replace(base, seconds=seconds, repeat=repeat), folder, progress)
    return _Found(made, limits_text(made), is_kept=all(each["is_kept"] for each in made["limits"]))


def _long_window(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.joins.long_window import long_window_benchmark
    from penstock.bench.joins.text import long_window_text

    seconds = wanted.seconds or (600 if wanted.quick else 3600)
    made = long_window_benchmark(seconds, folder, progress)
    return _Found(made, long_window_text(made))


def _aggjoin(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.aggjoin.figures import figures_of
    from penstock.bench.aggjoin.run import QUICK, Size, run_aggjoin
    from penstock.bench.aggjoin.text import aggjoin_text

    base = QUICK if wanted.quick else Size()
    seconds, repeat = wanted.seconds or base.seconds, wanted.repeat or base.repeat
    size = replace(base, seconds=seconds, repeat=repeat)
    made = figures_of(run_aggjoin(size, folder, progress))
    return _Found(made.document(), aggjoin_text(made))


def _early(wanted: BenchOptions, progress: Progress) -> _Found:
    from penstock.bench.early.run import QUICK, Size, document, find_winners
    from penstock.bench.early.text import early_text
    from penstock.cli.calibration import costs_of

    base = QUICK if wanted.quick else Size()
    size = replace(base, repeat=wanted.repeat or base.repeat)
    made = document(find_winners(size, costs_of("local"), progress), size)
    return _Found(made, early_text(made))


def _mesh(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.mesh.run import QUICK, Sizes, run_mesh
    from penstock.bench.mesh.text import mesh_text

    base = QUICK if wanted.quick else Sizes()
    sizes = base if wanted.repeat is None else base.repeated(wanted.repeat)
    made = run_mesh(sizes, folder, progress)
    return _Found(made.document(), mesh_text(made))


def _sources(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.sources.run import QUICK, Size, document, run_sources
    from penstock.bench.sources.text import sources_text

    base = QUICK if wanted.quick else Size()
    seconds, repeat = wanted.seconds or base.seconds, wanted.repeat or base.repeat
    size = replace(base, seconds=seconds, repeat=repeat)
    made = document(run_sources(size, folder, progress, wanted.ways))
    return _Found(made, sources_text(made))


def _drift(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.drift.cases.following import Setting
    from penstock.bench.drift.figures import document
    from penstock.bench.drift.run import QUICK, Sizes, run_drift
    from penstock.bench.drift.text import drift_text

    sizes = QUICK if wanted.quick else Sizes()
    setting = Setting(folder, progress, wanted.repeat or sizes.repeat)
    if wanted.engine is BenchEngine.SPARK:
        from penstock.bench.drift.spark import on_spark

        found = on_spark(sizes, setting)
    else:
        found = run_drift(sizes, setting)
    made = document(found, wanted.engine, setting.repeat)
    return _Found(made, drift_text(found, wanted.engine, setting.repeat), found.is_exact)


def _nexmark(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.nexmark.figures import document
    from penstock.bench.nexmark.run import QUICK, Size, run_nexmark
    from penstock.bench.nexmark.text import nexmark_text

    base = QUICK if wanted.quick else Size()
    queries, repeat = wanted.names or base.queries, wanted.repeat or base.repeat
    made = document(run_nexmark(replace(base, queries=queries, repeat=repeat), folder, progress))
    return _Found(made, nexmark_text(made), is_kept=not made["wrong"])


def _shared(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.shared.machine import Here, on_spark
    from penstock.bench.shared.run import QUICK, Size, run_shared
    from penstock.bench.shared.text import document, shared_text

    base = QUICK if wanted.quick else Size()
    size = replace(base, repeat=wanted.repeat or base.repeat)
    if wanted.engine is BenchEngine.SPARK:
        with on_spark() as machine:
            outcome = run_shared(size, machine, folder, progress)
    else:
        outcome = run_shared(size, Here(), folder, progress)
    made = document(outcome, wanted.engine.value)
    return _Found(made, shared_text(made), is_kept=made["is_enough"] and not made["wrong"])


def _scale(wanted: BenchOptions, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.contest import session
    from penstock.bench.scale.growth import QUICK_GROWTH, Growth, run_growth
    from penstock.bench.scale.run import QUICK, Size, run_scale
    from penstock.bench.scale.text import growth_text, scale_text

    if not wanted.simulate:
        growth = QUICK_GROWTH if wanted.quick else Growth()
        with session() as spark:
            grown = run_growth(spark, growth, folder, progress)
        return _Found(grown, growth_text(grown))
    base = QUICK if wanted.quick else Size()
    sizes = base.partitions if wanted.partitions is None else (wanted.partitions,)
    made = run_scale(replace(base, partitions=sizes), folder, progress)
    return _Found(made, scale_text(made), is_kept=made["is_kept"])


def _planning(wanted: BenchOptions, progress: Progress) -> _Found:
    from penstock.bench.planning import asked_for, document, planning_text, run_planning

    sizes, large = ((3, 5), (15,)) if wanted.quick else ((3, 5, 8, 10), (15, 20, 25))
    made = document(run_planning(asked_for(sizes, large), progress))
    return _Found(made, planning_text(made))


def _goals(wanted: BenchOptions, progress: Progress) -> _Found:
    from penstock.bench.goals.cases import goal_cases
    from penstock.bench.goals.run import run_goals
    from penstock.bench.goals.text import goals_text
    from penstock.cli.calibration import costs_of

    cases = goal_cases(costs_of("spark"), 0.25 if wanted.quick else 1.0)
    repeat = wanted.repeat or (1 if wanted.quick else 3)
    made = run_goals(cases, repeat, progress)
    return _Found(made, goals_text(made))


def _shed(wanted: BenchOptions, progress: Progress) -> _Found:
    from penstock.bench.drift.cases.following import Setting
    from penstock.bench.shed.run import QUICK, Size, run_shed
    from penstock.bench.shed.text import document, shed_text

    size = QUICK if wanted.quick else Size()
    setting = Setting(Path("unused"), progress)
    if wanted.engine is BenchEngine.SPARK:
        from penstock.bench.shed.spark import on_spark

        found = on_spark(size, setting)
    else:
        found = run_shed(size, setting)
    made = document(found, wanted.engine.value)
    return _Found(made, shed_text(made))


def _intervals(wanted: BenchOptions, progress: Progress) -> _Found:
    from penstock.bench.intervals.run import QUICK, Size, document, find_intervals
    from penstock.bench.intervals.text import intervals_text

    base = QUICK if wanted.quick else Size()
    size = replace(base, seeds=wanted.seeds or base.seeds, seed=wanted.seed)
    made = document(find_intervals(size, progress), size)
    return _Found(made, intervals_text(made), is_kept=not made["missed"])


def _decisions(wanted: BenchOptions) -> _Found:
    from penstock.bench.decisions.run import QUICK, Size, document, feasible_cases, judge
    from penstock.bench.decisions.text import decisions_text
    from penstock.cli.calibration import costs_of
    from penstock.cli.show.bars import bar

    base = QUICK if wanted.quick else Size()
    size = Size(wanted.how_many or base.queries, wanted.repeat or base.repeats)
    costs = costs_of("laboratory")
    with bar("queries") as progress:
        outcome = judge(size, wanted.seed, costs, progress)
    on_spark = None
    if wanted.spark:
        from penstock.bench.decisions.spark import FEW, QUERIES, compare_on_spark

        cases = list(feasible_cases(outcome))
        spark_costs = costs_of("spark")
        with bar("queries on Spark") as progress:
            some = FEW if wanted.quick else QUERIES
            on_spark = compare_on_spark(cases, spark_costs, progress, wanted.seed, some)
    made = document(outcome, wanted.seed, on_spark)
    return _Found(made, decisions_text(made))


@contextmanager
def _folder(data: Path | None) -> Iterator[Path]:
    """Where the data goes: a place that is kept, or one that is gone afterwards."""
    if data is None:
        with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
            yield Path(scratch)
        return
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot write to {data}: {error.strerror}"
        raise SinkError(what, hint="give --data a writable directory") from error
    yield data


def _progress() -> Progress:
    started = time.monotonic()

    def show(what: str) -> None:
        print(f"{time.monotonic() - started:5.0f} s  {what}", file=sys.stderr, flush=True)

    return show
