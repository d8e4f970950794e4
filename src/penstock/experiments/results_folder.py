"""The folder of results: a figure, a CSV file and a summary, kept up to date after every run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from penstock.atomic import write_text
from penstock.errors import SinkError
from penstock.experiments.drawing.figure_files import check_drawing, save_figure
from penstock.experiments.frame.findings import Findings, Table
from penstock.experiments.page.page import page_of
from penstock.experiments.reports.report import Report
from penstock.experiments.reports.summary import VERSION, Detail, Summary, detail_of, summary_of

SUMMARY, PAGE = "summary.json", "index.html"
_KINDS = ("svg", "png", "csv")


@dataclass(frozen=True)
class ResultsFolder:
    """Where reports go. Experiments that were saved by earlier runs stay, those run again are
    replaced; `names` is the order in which all are shown.

    A folder is ours if it holds a summary of ours. Any other must have no file of the names that
    we write: they are somebody else's.
    """

    path: Path
    names: tuple[str, ...]

    def prepare(self) -> None:
        """Refuse, before anything is run, what could not be saved."""
        check_drawing()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            what = f"cannot write to {self.path}: {error.strerror}"
            raise SinkError(what, hint="give --output a writable directory") from error
        if self._found() is None:
            self._refuse_files_of_others()
            # From here on the folder is known as ours, even if a run is killed in the middle.
            self._write_summary(summary_of(()))

    def _refuse_files_of_others(self) -> None:
        written = [SUMMARY, PAGE, *(f"{name}.{kind}" for name in self.names for kind in _KINDS)]
        others = [name for name in written if (self.path / name).exists()]
        if others:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            what = f"{self.path} has files that are not of the laboratory: {others[0]}{more}"
            hint = "they would be overwritten: give --output another folder, or a new one"
            raise SinkError(what, hint=hint)

    def save(self, report: Report) -> None:
        """Save one report, and bring the summary and the page up to date."""
        name = report.experiment.name
        if isinstance(report.outcome, Findings) and report.outcome.charts:
            save_figure(report.outcome.charts, name, self.path)
            write_text(self.path / f"{name}.csv", csv_of(report.outcome.data))
        else:
            for kind in _KINDS:
                (self.path / f"{name}.{kind}").unlink(missing_ok=True)
        self._write(summary_of(self._merged(detail_of(report))))

    def _merged(self, new: Detail) -> Iterable[Detail]:
        by_name = {detail["name"]: detail for detail in self._saved()} | {new["name"]: new}
        return [by_name[name] for name in self.names if name in by_name]

    def _saved(self) -> list[Detail]:
        found = self._found()
        return [] if found is None else found["details"]

    def _found(self) -> Summary | None:
        """The summary of earlier runs; nothing if there is none, or it is not of ours."""
        try:
            found: Summary = json.loads((self.path / SUMMARY).read_text(encoding="utf-8"))
            names = [detail["name"] for detail in found["details"]]
            is_ours = found["version"] == VERSION and found["experiments"] == len(names)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if is_ours else None

    def _write(self, summary: Summary) -> None:
        self._write_summary(summary)
        write_text(self.path / PAGE, page_of(summary["details"], self._drawings(summary)))

    def _write_summary(self, summary: Summary) -> None:
        text = json.dumps(summary, indent=2, ensure_ascii=False)
        write_text(self.path / SUMMARY, text + "\n")

    def _drawings(self, summary: Summary) -> dict[str, str]:
        paths = {d["name"]: self.path / f"{d['name']}.svg" for d in summary["details"]}
        return {n: p.read_text(encoding="utf-8") for n, p in paths.items() if p.exists()}


def csv_of(table: Table) -> str:
    """A table as CSV, with a line of headings."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()
