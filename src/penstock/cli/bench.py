"""`penstock bench`: how fast it is, beside Spark's own joins, and how well it decides and knows."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.errors import SinkError

if TYPE_CHECKING:
    from penstock.bench.joins.comparison import Size

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
    has_own_data = name in _OWN_DATA
    if has_own_data and (seconds is not None or data is not None):
        raise typer.BadParameter(f"{name} has data of its own", param_hint="--seconds, --data")
    if name is Benchmark.DECISIONS:
        _decisions(quick, repeat, queries, seed, spark, format)
        return
    if seeds is not None and name is not Benchmark.INTERVALS:
        raise typer.BadParameter("goes with intervals alone", param_hint="--seeds")
    if queries is not None or spark:
        raise typer.BadParameter("goes with decisions alone", param_hint="--queries, --spark")
    if seconds is not None and name is Benchmark.MESH:
        raise typer.BadParameter("mesh has two sizes: its own and --quick", param_hint="--seconds")
    if repeat is not None and name is Benchmark.PLANNING:
        raise typer.BadParameter("planning is the same every time", param_hint="--repeat")
    if name is Benchmark.INTERVALS:
        _intervals(quick, repeat, seeds, seed, format)
        return
    if repeat is not None and name in (Benchmark.LATENCY, Benchmark.LONG_WINDOW):
        raise typer.BadParameter(f"{name} is one run of many batches", param_hint="--repeat")
    with _folder(data) as folder:
        made = _measure(name, quick, repeat, seconds, folder, _progress())
    is_json = format is BenchFormat.JSON
    shown = json.dumps(made, indent=2) + "\n" if is_json else _text(name, made)
    sys.stdout.write(shown)


def _measure(
    name: Benchmark,
    quick: bool,
    repeat: int | None,
    seconds: int | None,
    folder: Path,
    progress: Progress,
) -> dict[str, Any]:
    match name:
        case Benchmark.KERNEL:
            from penstock.bench.joins.kernel import kernel_benchmark

            progress("one core, tuple by tuple")
            repeats = repeat or (1 if quick else 3)
            return dict(kernel_benchmark(seconds or (20 if quick else 60), repeats=repeats))
        case Benchmark.LATENCY:
            from penstock.bench.joins.latency import latency_benchmark

            return latency_benchmark(seconds or (20 if quick else 25), folder, progress)
        case Benchmark.LONG_WINDOW:
            from penstock.bench.joins.long_window import long_window_benchmark

            return long_window_benchmark(seconds or (600 if quick else 3600), folder, progress)
        case Benchmark.AGGJOIN:
            return _aggjoin(quick, repeat, seconds, folder, progress)
        case Benchmark.EARLY:
            return _early(quick, repeat, progress)
        case Benchmark.MESH:
            return _mesh(quick, repeat, folder, progress)
        case Benchmark.PLANNING:
            return _planning(quick, progress)
        case _:
            from penstock.bench import workload
            from penstock.bench.joins.comparison import compare
            from penstock.bench.joins.figures import document

            chosen = {w.name: w for w in (workload.JOIN3, workload.SPARSE3, workload.CHAIN3)}
            size = _size(quick, repeat, seconds)
            return document(compare(chosen[name], size, folder, progress))


def _aggjoin(
    quick: bool, repeat: int | None, seconds: int | None, folder: Path, progress: Progress
) -> dict[str, Any]:
    from penstock.bench.aggjoin.figures import document
    from penstock.bench.aggjoin.run import QUICK, Size, run_aggjoin

    base = QUICK if quick else Size()
    size = replace(base, seconds=seconds or base.seconds, repeat=repeat or base.repeat)
    return document(run_aggjoin(size, folder, progress))


def _early(quick: bool, repeat: int | None, progress: Progress) -> dict[str, Any]:
    from penstock.bench.early.run import QUICK, Size, document, find_winners
    from penstock.cli.calibration import costs_of

    base = QUICK if quick else Size()
    size = replace(base, repeat=repeat or base.repeat)
    return document(find_winners(size, costs_of("local"), progress), size)


def _mesh(quick: bool, repeat: int | None, folder: Path, progress: Progress) -> dict[str, Any]:
    from penstock.bench.mesh.run import QUICK, Sizes, run_mesh

    sizes = QUICK if quick else Sizes()
    return run_mesh(sizes if repeat is None else sizes.repeated(repeat), folder, progress)


def _planning(quick: bool, progress: Progress) -> dict[str, Any]:
    from penstock.bench.planning import asked_for, document, run_planning

    sizes, large = ((3, 5), (15,)) if quick else ((3, 5, 8, 10), (15, 20, 25))
    return document(run_planning(asked_for(sizes, large), progress))


def _intervals(
    quick: bool, repeat: int | None, seeds: int | None, seed: int, format: BenchFormat
) -> None:
    from penstock.bench.intervals.run import QUICK, Size, document, find_intervals
    from penstock.bench.intervals.text import intervals_text

    if repeat is not None:
        raise typer.BadParameter("intervals are shed by --seeds", param_hint="--repeat")
    base = QUICK if quick else Size()
    size = replace(base, seeds=seeds or base.seeds, seed=seed)
    made = document(find_intervals(size, _progress()), size)
    is_json = format is BenchFormat.JSON
    sys.stdout.write(json.dumps(made, indent=2) + "\n" if is_json else intervals_text(made))
    if made["missed"]:
        raise typer.Exit(1)


def _decisions(
    quick: bool,
    repeat: int | None,
    queries: int | None,
    seed: int,
    spark: bool,
    format: BenchFormat,
) -> None:
    from penstock.bench.decisions.run import QUICK, Size, document, feasible_cases, judge
    from penstock.bench.decisions.text import decisions_text
    from penstock.cli.calibration import costs_of
    from penstock.cli.show.bars import bar

    base = QUICK if quick else Size()
    size = Size(queries or base.queries, repeat or base.repeats)
    costs = costs_of("laboratory")
    with bar("queries") as progress:
        outcome = judge(size, seed, costs, progress)
    on_spark = None
    if spark:
        from penstock.bench.decisions.spark import compare_on_spark

        cases = list(feasible_cases(outcome))
        spark_costs = costs_of("spark")
        with bar("queries on Spark") as progress:
            on_spark = compare_on_spark(cases, spark_costs, progress)
    made = document(outcome, seed, on_spark)
    is_json = format is BenchFormat.JSON
    sys.stdout.write(json.dumps(made, indent=2) + "\n" if is_json else decisions_text(made))


def _size(quick: bool, repeat: int | None, seconds: int | None) -> Size:
    from penstock.bench.joins.comparison import QUICK, Size

    base = QUICK if quick else Size()
    whole = seconds or base.seconds
    rivals = min(whole, base.rival_seconds) if quick else whole
    return Size(whole, rivals, repeat or base.repeat, base.with_flink)


def _text(name: Benchmark, made: dict[str, Any]) -> str:
    from penstock.bench.joins import text

    match name:
        case Benchmark.KERNEL:
            return text.kernel_text(made)
        case Benchmark.LATENCY:
            return text.latency_text(made)
        case Benchmark.LONG_WINDOW:
            return text.long_window_text(made)
        case Benchmark.AGGJOIN:
            from penstock.bench.aggjoin.text import aggjoin_text

            return aggjoin_text(made)
        case Benchmark.EARLY:
            from penstock.bench.early.text import early_text

            return early_text(made)
        case Benchmark.MESH:
            from penstock.bench.mesh.text import mesh_text

            return mesh_text(made)
        case Benchmark.PLANNING:
            from penstock.bench.planning import planning_text

            return planning_text(made)
        case _:
            return text.comparison_text(made)


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
