"""The options of `penstock bench`, and which benchmark has which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_OF_SOME = "Of some benchmarks"


class Benchmark(StrEnum):
    """The benchmarks, each of which measures one thing."""

    JOIN3 = "join3"
    SPARSE3 = "sparse3"
    CHAIN3 = "chain3"
    KERNEL = "kernel"
    LATENCY = "latency"
    LIMITS = "limits"
    LONG_WINDOW = "long-window"
    DECISIONS = "decisions"
    AGGJOIN = "aggjoin"
    EARLY = "early"
    MESH = "mesh"
    PLANNING = "planning"
    INTERVALS = "intervals"
    DRIFT = "drift"
    GOALS = "goals"
    SHED = "shed"
    SOURCES = "sources"
    NEXMARK = "nexmark"
    SHARED = "shared"
    SCALE = "scale"


# Benchmarks that make up their data themselves.
_OWN_DATA = (
    Benchmark.DECISIONS,
    Benchmark.EARLY,
    Benchmark.PLANNING,
    Benchmark.INTERVALS,
    Benchmark.GOALS,
    Benchmark.SHED,
)


class BenchEngine(StrEnum):
    """Where a benchmark runs that can run on both."""

    LOCAL = "local"
    SPARK = "spark"


class BenchFormat(StrEnum):
    """How the figures are shown."""

    TEXT = "text"
    JSON = "json"


Name = Annotated[Benchmark, typer.Argument(metavar="NAME", hidden=True)]
Quick = Annotated[bool, typer.Option("--quick", help="Less of it: within minutes.")]
Format = Annotated[BenchFormat, typer.Option(help="How to show the figures.")]
Repeat = Annotated[
    int | None,
    typer.Option(min=1, help="Runs of each, for medians; default 3, mesh 5."),
]
Seconds = Annotated[
    int | None, typer.Option(min=1, help="Event time; default 60, 25, long-window 3600.")
]
Data = Annotated[
    Path | None, typer.Option(help="Keep the data here, and use it again if it is there.")
]
Queries = Annotated[
    str | None,
    typer.Option(
        help="(decisions) How many; default 60. (nexmark) Which, as q3,q8; default all.",
        rich_help_panel=_OF_SOME,
    ),
]
Seed = Annotated[
    int,
    typer.Option(help="(decisions, intervals) Other queries or values.", rich_help_panel=_OF_SOME),
]
Seeds = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="(intervals) Sheddings of each setting; default 200.",
        rich_help_panel=_OF_SOME,
    ),
]
OnSpark = Annotated[
    bool,
    typer.Option(
        "--spark",
        help="(decisions) Run ten of the queries on Spark too.",
        rich_help_panel=_OF_SOME,
    ),
]
Partitions = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="(scale --simulate) How many; default 100, 1,000 and 10,000.",
        rich_help_panel=_OF_SOME,
    ),
]
Simulate = Annotated[
    bool,
    typer.Option(
        "--simulate",
        help="(scale) The driver of a large cluster: tasks answer at once, without their work.",
        rich_help_panel=_OF_SOME,
    ),
]
Routes = Annotated[
    str | None,
    typer.Option(
        help="(sources) Which beside files, as kafka,files_dataframe; default all.",
        rich_help_panel=_OF_SOME,
    ),
]
OnEngine = Annotated[
    BenchEngine,
    typer.Option(help="(drift, shed, shared) Where to run it.", rich_help_panel=_OF_SOME),
]


@dataclass(frozen=True)
class BenchOptions:
    """A benchmark with the options that were given."""

    name: Benchmark
    quick: bool
    repeat: int | None
    seconds: int | None
    data: Path | None
    queries: str | None
    seed: int
    seeds: int | None
    spark: bool
    engine: BenchEngine = BenchEngine.LOCAL
    partitions: int | None = None
    simulate: bool = False
    routes: str | None = None

    @property
    def how_many(self) -> int | None:
        """The number of queries, if that is what was given."""
        text = self.queries or ""
        return int(text) if text.isdecimal() and int(text) else None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of queries, if any were given."""
        return _listed(self.queries)

    @property
    def ways(self) -> tuple[str, ...]:
        """The names of routes, if any were given."""
        return _listed(self.routes)

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
        if self.spark and not is_decisions:
            yield "goes with decisions alone", "--spark"
        if self.queries is not None and name not in (Benchmark.DECISIONS, Benchmark.NEXMARK):
            yield "goes with decisions and nexmark alone", "--queries"
        if is_decisions and self.queries is not None and self.how_many is None:
            yield "is a number of queries, 1 or more", "--queries"
        if self.seconds is not None and name is Benchmark.MESH:
            yield "mesh has two sizes: its own and --quick", "--seconds"
        if self.seconds is not None and name is Benchmark.NEXMARK:
            yield "nexmark has two sizes: its own and --quick", "--seconds"
        if self.seconds is not None and name is Benchmark.SHARED:
            yield "shared has two sizes: its own and --quick", "--seconds"
        if self.seconds is not None and name is Benchmark.DRIFT:
            yield "drift has two sizes: its own and --quick", "--seconds"
        if self.engine is not BenchEngine.LOCAL and name not in _ON_BOTH:
            yield "goes with drift, shed and shared alone", "--engine"
        if self.partitions is not None and not self.simulate:
            yield "goes with scale --simulate alone", "--partitions"
        if name is not Benchmark.SCALE and (self.simulate or self.partitions is not None):
            yield "goes with scale alone", "--partitions, --simulate"
        if self.seconds is not None and name is Benchmark.SCALE:
            yield "scale has two sizes: its own and --quick", "--seconds"
        if self.routes is not None and name is not Benchmark.SOURCES:
            yield "goes with sources alone", "--routes"
        if self.repeat is not None and name in _ONE_RUN:
            yield _ONE_RUN[name], "--repeat"


def _listed(text: str | None) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(each.strip() for each in (text or "").split(",") if each.strip())


_ON_BOTH = (Benchmark.DRIFT, Benchmark.SHED, Benchmark.SHARED)

_ONE_RUN = {
    Benchmark.PLANNING: "planning is the same every time",
    Benchmark.INTERVALS: "intervals are shed by --seeds",
    Benchmark.SHED: "shed is one run of many batches",
    Benchmark.SCALE: "scale is one run of many batches",
    Benchmark.LATENCY: "latency is one run of many batches",
    Benchmark.LONG_WINDOW: "long-window is one run of many batches",
}
