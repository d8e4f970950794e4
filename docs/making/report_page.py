"""The page of what runs tell: the lines of the report log, and what the dashboard serves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

from documented import field_table, first_line
from penstock.engine.reports.entries import Answer, Began, Ended
from penstock.engine.reports.parts import (
    Change,
    FigureReport,
    InputReport,
    ModuleReport,
    OperatorReport,
    Prediction,
)
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import RunHead
from penstock.engine.state.no_results import Waiting
from penstock.watch import views

_HEAD = """\
# Reports and views

The fields of what a running query tells of itself, as the code declares them. Every line of the log
and every answer of `/api` also has a `version`: fields are added under the same one, and none is
changed. [Following a query](../following.md) says what the figures mean, [the
dashboard](../dashboard.md) which view shows them.
"""
_LINES = {"batch": Report, "run": Began, "answer": Answer, "end": Ended}
_PARTS = (InputReport, OperatorReport, ModuleReport, Prediction, FigureReport, Change, Waiting)


def report_page() -> str:
    """All of it."""
    lines = [_section(f"A line of kind {kind}", made) for kind, made in _LINES.items()]
    parts = [_section(f"{made.__name__}, inside of a batch", made) for made in _PARTS]
    head = _section("reports/run.json", RunHead)
    shown = [_section(f"{made.__name__}, of the dashboard", made) for made in _view_types()]
    return "\n\n".join([_HEAD, *lines, *parts, head, *shown]) + "\n"


def _section(title: str, kind: type) -> str:
    return f"## {title}\n\n{first_line(kind)}\n\n{field_table(kind)}"


def _view_types() -> Iterator[type]:
    """What the views of the dashboard give, each with the classes inside of it."""
    seen: dict[type, None] = {}
    for made in vars(views).values():
        if inspect.isfunction(made) and not made.__name__.startswith("_"):
            _gather(get_type_hints(made).get("return"), seen)
    yield from seen


def _gather(kind: Any, seen: dict[type, None]) -> None:
    """A class of fields and those of its fields, whatever holds them."""
    if is_dataclass(kind) and isinstance(kind, type):
        if kind not in seen:
            seen[kind] = None
            hints = get_type_hints(kind)
            for field in fields(kind):
                _gather(hints[field.name], seen)
        return
    for inner in get_args(kind):
        _gather(inner, seen)
