"""Small experiments with every kind of chart and verdict, and one that crashes."""

from __future__ import annotations

from penstock.experiments.frame.chart import (
    Axis,
    BarChart,
    Bars,
    Chart,
    HeatMap,
    LineChart,
    Mark,
    Series,
)
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.judging import checked, near, ranked
from penstock.experiments.frame.paper import AN, BEYOND, GO

LINES = LineChart(
    "Lines",
    Axis("time", "s"),
    Axis("results", "1/s", is_log=True),
    (
        Series("(A⋈B)⋈C", "measured", (1.0, 2.0, 3.0), (10.0, 20.0, 35.0)),
        Series("(A⋈B)⋈C", "model", (1.0, 2.0, 3.0), (11.0, 22.0, 33.0)),
        Series("(A⋈B)⋈C", "paper", (3.0,), (30.0,)),
        Series("naive", "measured", (1.0, 2.0, 3.0), (5.0, 6.0, 7.0)),
    ),
    (Mark("a stretch", 1.5, 2.0), Mark("a moment", 2.5, 2.5)),
)
BARS = BarChart(
    "Bars",
    ("one", "two"),
    Axis("cost", "s"),
    (
        Bars("late", "measured", (1.0, None)),
        Bars("late", "model", (1.2, 2.0)),
        Bars("late", "paper", (1.1, 2.2)),
        Bars("early", "paper", (0.5, 0.7)),
    ),
)
KINDS = HeatMap(
    "Best plans",
    Axis("rate of A", "1/s", is_log=True),
    Axis("rate of B", "1/s"),
    (1.0, 10.0),
    (1.0, 2.0, 3.0),
    ((0.0, 1.0), (1.0, 1.0), (2.0, 0.0)),
    ("tree", "multi-way", "mesh"),
)
VALUES = HeatMap("Values", Axis("x"), Axis("y"), (1.0, 2.0), (1.0, 2.0), ((0.1, 0.2), (0.3, 0.4)))
CHARTS: tuple[Chart, ...] = (LINES, BARS, KINDS, VALUES)
CLAIMS = (
    near("It is a hundred", paper=100.0, ours=101.0, within=0.02, unit="/s"),
    ranked("In order", paper=("a", "b", "c"), ours={"a": 1.0, "c": 2.0, "b": 3.0}),
    checked("<Nothing> holds", paper="yes", ours="no", checks={"it does": False}, reason="Noise"),
)


def _find(size: Size, progress: Progress) -> Findings:
    progress(0, 2)
    progress(1, 2)
    return Findings(CHARTS, CLAIMS)


def _crash(size: Size, progress: Progress) -> Findings:
    raise ValueError("no data & <no> results")


def _only_lines(size: Size, progress: Progress) -> Findings:
    return Findings((LINES,), CLAIMS[:1])


FINDING = Experiment(
    "an-stub", AN, "Fig. 1", "A title & more", "Does it hold?", "What is run <here>.", _find
)
CRASHING = Experiment("go-crash", GO, "Fig. 2", "A crash", "Does it end?", "Nothing.", _crash)
LAST = Experiment(
    "beyond-last", BEYOND, "our own", "The last", "Is it run?", "Something.", _only_lines
)
STUBS = (FINDING, CRASHING, LAST)
