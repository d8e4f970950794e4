"""`penstock bench`: how fast it is, beside Spark's own joins, and how well it decides and knows."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from penstock.errors import SinkError

Progress = Callable[[str], None]


class Benchmark(StrEnum):
    """The benchmarks, each of which measures one thing."""

    JOIN3 = "join3"
    SPARSE3 = "sparse3"
    CHAIN3 = "chain3"
    KERNEL = "kernel"
    LATENCY = "latency"
    LONG_WINDOW = "long-window"
    DECISIONS = "decisions"
    AGGJOIN = "aggjoin"
    EARLY = "early"
    MESH = "mesh"
    PLANNING = "planning"
    INTERVALS = "intervals"


# Benchmarks that make up their data themselves.
_OWN_DATA = (Benchmark.DECISIONS, Benchmark.EARLY, Benchmark.PLANNING, Benchmark.INTERVALS)


class BenchFormat(StrEnum):
    """How the figures are shown."""

    TEXT = "text"
    JSON = "json"


def bench(
    name: Annotated[Benchmark, typer.Argument(help="What to measure.")],
    quick: Annotated[bool, typer.Option("--quick", help="Less of it: within minutes.")] = False,
    format: Annotated[BenchFormat, typer.Option(help="How to show the figures.")] = (
        BenchFormat.TEXT
    ),
    repeat: Annotated[
        int | None,
        typer.Option(min=1, help="Runs of each, medians are shown; default 3 or (mesh) 5."),
    ] = None,
    seconds: Annotated[
        int | None, typer.Option(min=1, help="Event time; default 60, 25 or (long-window) 3600.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Keep the data here, and use it again if it is there.")
    ] = None,
    queries: Annotated[
        int | None, typer.Option(min=1, help="(decisions) Random queries; default 60.")
    ] = None,
    seed: Annotated[int, typer.Option(help="(decisions, intervals) Other queries or values.")] = 1,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="(intervals) Sheddings of each setting; default 200.")
    ] = None,
    spark: Annotated[
        bool, typer.Option("--spark", help="(decisions) Run ten of the queries on Spark too.")
    ] = False,
) -> None:
    """Measure: joins beside Spark's own, one core, small batches, a long window, or decisions.

    \b
    join3        a three-way join on one key, 3 x 20,000 tuples/s, windows of 10 s
    sparse3      the same with twenty times as many keys, so that few tuples match
    chain3       a three-way join on two keys: A.a = B.a AND B.b = C.b
    kernel       join3 on one core, tuple by tuple, and how it grows with rate and window
    latency      micro-batches of 30,000 tuples on Spark
    long-window  an hour's window, a batch a second, beside the same in ten chunks
    decisions    random queries: is the chosen plan the best of all that are run?
    aggjoin      counts and sums over joins with many matches, beside Spark's own and late plans
    early        settings in each of which another early or late plan is the best
    mesh         a ten-way join and six predicates on skewed data, beside one plan and an eddy
    planning     what planning takes: joins of 3 to 25 inputs, views, goals, shedding, meshes
    intervals    shed views: do their 95 % intervals hold the truth? Exits with 1 if not

    Nothing else should run meanwhile. Progress goes to stderr.
    """
    asked = _Asked(name, quick, repeat, seconds, data, queries, seed, seeds, spark)
    asked.check()
    found = _measure(asked, _progress())
    is_json = format is BenchFormat.JSON
    sys.stdout.write(json.dumps(found.document, indent=2) + "\n" if is_json else found.text)
    if not found.is_kept:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Asked:
    """A benchmark with the options that were given."""

    name: Benchmark
    quick: bool
    repeat: int | None
    seconds: int | None
    data: Path | None
    queries: int | None
    seed: int
    seeds: int | None
    spark: bool

    def check(self) -> None:
        """Refuse options that the benchmark does not have."""
        for message, option in self._faults():
            raise typer.BadParameter(message, param_hint=option)

    def _faults(self) -> Iterator[tuple[str, str]]:
        name, is_decisions = self.name, self.name is Benchmark.DECISIONS
        has_data = self.seconds is not None or self.data is not None
        if name in _OWN_DATA and has_data:
            yield f"{name} has data of its own", "--seconds, --data"
        if self.seeds is not None and name is not Benchmark.INTERVALS and not is_decisions:
            yield "goes with intervals alone", "--seeds"
        if (self.queries is not None or self.spark) and not is_decisions:
            yield "goes with decisions alone", "--queries, --spark"
        if self.seconds is not None and name is Benchmark.MESH:
            yield "mesh has two sizes: its own and --quick", "--seconds"
        if self.repeat is not None and name in _ONE_RUN:
            yield _ONE_RUN[name], "--repeat"


_ONE_RUN = {
    Benchmark.PLANNING: "planning is the same every time",
    Benchmark.INTERVALS: "intervals are shed by --seeds",
    Benchmark.LATENCY: "latency is one run of many batches",
    Benchmark.LONG_WINDOW: "long-window is one run of many batches",
}


@dataclass(frozen=True)
class _Found:
    """The figures of a benchmark for programs and for people, and whether promises are kept."""

    document: object
    text: str
    is_kept: bool = True


def _measure(asked: _Asked, progress: Progress) -> _Found:
    match asked.name:
        case Benchmark.DECISIONS:
            return _decisions(asked)
        case Benchmark.INTERVALS:
            return _intervals(asked, progress)
        case Benchmark.EARLY:
            return _early(asked, progress)
        case Benchmark.PLANNING:
            return _planning(asked, progress)
    with _folder(asked.data) as folder:
        match asked.name:
            case Benchmark.KERNEL:
                return _kernel(asked, progress)
            case Benchmark.LATENCY:
                return _latency(asked, folder, progress)
            case Benchmark.LONG_WINDOW:
                return _long_window(asked, folder, progress)
            case Benchmark.AGGJOIN:
                return _aggjoin(asked, folder, progress)
            case Benchmark.MESH:
                return _mesh(asked, folder, progress)
            case _:
                return _joins(asked, folder, progress)


def _joins(asked: _Asked, folder: Path, progress: Progress) -> _Found:
    from penstock.bench import workload
    from penstock.bench.joins.comparison import QUICK, Size, compare
    from penstock.bench.joins.figures import document
    from penstock.bench.joins.text import comparison_text

    base = QUICK if asked.quick else Size()
    whole = asked.seconds or base.seconds
    rivals = min(whole, base.rival_seconds) if asked.quick else whole
    size = Size(whole, rivals, asked.repeat or base.repeat, base.with_flink)
    chosen = {w.name: w for w in (workload.JOIN3, workload.SPARSE3, workload.CHAIN3)}
    made = document(compare(chosen[asked.name], size, folder, progress))
    return _Found(made, comparison_text(made))


def _kernel(asked: _Asked, progress: Progress) -> _Found:
    from penstock.bench.joins.kernel import kernel_benchmark
    from penstock.bench.joins.text import kernel_text

    progress("one core, tuple by tuple")
    repeats = asked.repeat or (1 if asked.quick else 3)
    made = kernel_benchmark(asked.seconds or (20 if asked.quick else 60), repeats=repeats)
    return _Found(made, kernel_text(made))


def _latency(asked: _Asked, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.joins.latency import latency_benchmark
    from penstock.bench.joins.text import latency_text

    made = latency_benchmark(asked.seconds or (20 if asked.quick else 25), folder, progress)
    return _Found(made, latency_text(made))


def _long_window(asked: _Asked, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.joins.long_window import long_window_benchmark
    from penstock.bench.joins.text import long_window_text

    seconds = asked.seconds or (600 if asked.quick else 3600)
    made = long_window_benchmark(seconds, folder, progress)
    return _Found(made, long_window_text(made))


def _aggjoin(asked: _Asked, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.aggjoin.figures import figures_of
    from penstock.bench.aggjoin.run import QUICK, Size, run_aggjoin
    from penstock.bench.aggjoin.text import aggjoin_text

    base = QUICK if asked.quick else Size()
    seconds, repeat = asked.seconds or base.seconds, asked.repeat or base.repeat
    size = replace(base, seconds=seconds, repeat=repeat)
    made = figures_of(run_aggjoin(size, folder, progress))
    return _Found(made.document(), aggjoin_text(made))


def _early(asked: _Asked, progress: Progress) -> _Found:
    from penstock.bench.early.run import QUICK, Size, document, find_winners
    from penstock.bench.early.text import early_text
    from penstock.cli.calibration import costs_of

    base = QUICK if asked.quick else Size()
    size = replace(base, repeat=asked.repeat or base.repeat)
    made = document(find_winners(size, costs_of("local"), progress), size)
    return _Found(made, early_text(made))


def _mesh(asked: _Asked, folder: Path, progress: Progress) -> _Found:
    from penstock.bench.mesh.run import QUICK, Sizes, run_mesh
    from penstock.bench.mesh.text import mesh_text

    base = QUICK if asked.quick else Sizes()
    sizes = base if asked.repeat is None else base.repeated(asked.repeat)
    made = run_mesh(sizes, folder, progress)
    return _Found(made.document(), mesh_text(made))


def _planning(asked: _Asked, progress: Progress) -> _Found:
    from penstock.bench.planning import asked_for, document, planning_text, run_planning

    sizes, large = ((3, 5), (15,)) if asked.quick else ((3, 5, 8, 10), (15, 20, 25))
    made = document(run_planning(asked_for(sizes, large), progress))
    return _Found(made, planning_text(made))


def _intervals(asked: _Asked, progress: Progress) -> _Found:
    from penstock.bench.intervals.run import QUICK, Size, document, find_intervals
    from penstock.bench.intervals.text import intervals_text

    base = QUICK if asked.quick else Size()
    size = replace(base, seeds=asked.seeds or base.seeds, seed=asked.seed)
    made = document(find_intervals(size, progress), size)
    return _Found(made, intervals_text(made), is_kept=not made["missed"])


def _decisions(asked: _Asked) -> _Found:
    from penstock.bench.decisions.run import QUICK, Size, document, feasible_cases, judge
    from penstock.bench.decisions.text import decisions_text
    from penstock.cli.calibration import costs_of
    from penstock.cli.show.bars import bar

    base = QUICK if asked.quick else Size()
    size = Size(asked.queries or base.queries, asked.repeat or base.repeats)
    costs = costs_of("laboratory")
    with bar("queries") as progress:
        outcome = judge(size, asked.seed, costs, progress)
    on_spark = None
    if asked.spark:
        from penstock.bench.decisions.spark import compare_on_spark

        cases = list(feasible_cases(outcome))
        spark_costs = costs_of("spark")
        with bar("queries on Spark") as progress:
            on_spark = compare_on_spark(cases, spark_costs, progress)
    made = document(outcome, asked.seed, on_spark)
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
