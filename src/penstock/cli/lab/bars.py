"""Progress of experiments on stderr: bars on a terminal, a line for each elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.page.verdicts import many
from penstock.experiments.reports.report import Crash, Report, run_experiment


def watched(experiments: Sequence[Experiment], size: Size) -> Iterator[Report]:
    """The reports of experiments as they end, while it is shown how far they are."""
    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield from _in_lines(experiments, size)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, TimeElapsedColumn(), console=console) as bars:
        whole = bars.add_task("experiments", total=len(experiments))
        for experiment in experiments:
            with _step_bar(bars, experiment.name) as progress:
                report = run_experiment(experiment, size, progress)
            console.print(said_of(report), highlight=False, markup=False)
            bars.advance(whole)
            yield report


def said_of(report: Report) -> str:
    """One line: what came of an experiment."""
    name, seconds = report.experiment.name, f"{report.seconds:5.0f} s"
    if isinstance(report.outcome, Crash):
        return f"{seconds}  {name}: crashed: {report.outcome.error}"
    counts = report.verdicts()
    others = "".join(f", {counts[v]} {v}" for v in ("partly", "fails") if counts[v])
    claims = many(len(report.claims), "claim")
    hold = "holds" if len(report.claims) == 1 else "hold"
    return f"{seconds}  {name}: {counts['holds']} of {claims} {hold}{others}"


@contextmanager
def _step_bar(bars: Bars, name: str) -> Iterator[Progress]:
    task = bars.add_task(name, total=None)
    yield lambda done, total: bars.update(task, completed=done, total=total)
    bars.remove_task(task)


def _in_lines(experiments: Sequence[Experiment], size: Size) -> Iterator[Report]:
    for experiment in experiments:
        report = run_experiment(experiment, size, lambda _done, _total: None)
        print(said_of(report), file=sys.stderr, flush=True)
        yield report
