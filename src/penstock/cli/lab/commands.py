"""`penstock lab list` and `penstock lab run`: the papers' figures and tables, run again."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.show.stopping import INTERRUPTED

if TYPE_CHECKING:
    from penstock.experiments.results_folder import ResultsFolder


class LabFormat(StrEnum):
    """How findings are shown."""

    TEXT = "text"
    JSON = "json"


lab = typer.Typer(
    name="lab",
    help="Run the experiments of the papers again, and judge what they claim.\n\n"
    "Example: penstock lab list",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Names = Annotated[
    list[str],
    typer.Argument(help="Experiments, papers (vn, an, tl, qm, go, beyond), or all."),
]
Quick = Annotated[bool, typer.Option("--quick", help="Less of it: seconds for most.")]
Output = Annotated[
    Path | None,
    typer.Option(help="Save charts, data, summary.json and a page, index.html, in this folder."),
]
Format = Annotated[LabFormat, typer.Option(help="How to show the verdicts.")]


@lab.command("list")
def list_experiments(format: Format = LabFormat.TEXT) -> None:
    """Show all experiments: the figure or table that each re-runs, and its question.

    Example: penstock lab list
    """
    from penstock.cli.lab.text import list_document, list_text
    from penstock.experiments.catalog import EXPERIMENTS

    if format is LabFormat.JSON:
        sys.stdout.write(json.dumps(list_document(EXPERIMENTS), indent=2) + "\n")
    else:
        sys.stdout.write(list_text(EXPERIMENTS))


@lab.command("run")
def run_experiments(
    names: Names,
    quick: Quick = False,
    output: Output = None,
    format: Format = LabFormat.TEXT,
) -> None:
    """Run experiments and say of every claim whether it holds.

    Exits with 1 if an experiment crashed; a claim that does not hold is a finding like any other.
    After Ctrl-C, what is finished is told and kept, and it exits with 130.

    Example: penstock lab run all --quick
    """
    from penstock.cli.lab.bars import watched
    from penstock.cli.lab.text import stopped_text, summary_text
    from penstock.experiments.catalog import chosen
    from penstock.experiments.reports.summary import detail_of, summary_of

    experiments = chosen(names)
    folder = _folder(output)
    details = []
    is_stopped = False
    try:
        for report in watched(experiments, "quick" if quick else "full"):
            if folder is not None:
                folder.save(report)
            details.append(detail_of(report))
    except KeyboardInterrupt:
        is_stopped = True
    summary = summary_of(details)
    is_json = format is LabFormat.JSON
    sys.stdout.write(
        json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
        if is_json
        else summary_text(summary)
    )
    if is_stopped:
        done = [detail["name"] for detail in details]
        print(stopped_text(done, len(experiments), output), file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
    if summary["crashed"]:
        raise typer.Exit(1)


def _folder(output: Path | None) -> ResultsFolder | None:
    """Where findings are saved, checked before anything is run."""
    from penstock.experiments.catalog import EXPERIMENTS
    from penstock.experiments.results_folder import ResultsFolder

    if output is None:
        return None
    folder = ResultsFolder(output, tuple(experiment.name for experiment in EXPERIMENTS))
    folder.prepare()
    return folder
