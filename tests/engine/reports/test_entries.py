"""Entries of the report log: whatever is in them comes back, and any JSON reader takes them."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.reports.entries import Answer, Began, Ended, entry_json, read, written
from penstock.engine.reports.parts import (
    Change,
    FigureReport,
    InputReport,
    ModuleReport,
    OperatorReport,
    Prediction,
)
from penstock.engine.reports.report import Report
from penstock.engine.state.no_results import Waiting
from support.engines.reported import made

NAMES = st.text(max_size=8)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
MAYBE = st.none() | FLOATS
COUNTS = st.integers(0, 2**62)
KINDS: Any = st.sampled_from(
    [
        "switch",
        "advise",
        "stay",
        "take-back",
        "outcome",
        "drift",
        "shed",
        "behind",
        "order",
        "query",
    ]
)
CHANGES = st.builds(Change, KINDS, NAMES, st.none() | NAMES, MAYBE, MAYBE)
TABLES: Any = st.recursive(
    FLOATS | NAMES | st.booleans() | COUNTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def by_name(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(NAMES, values, max_size=3)


FIELDS: dict[str, Any] = {
    "batch": COUNTS,
    "seconds": FLOATS,
    "read": by_name(COUNTS),
    "late": by_name(COUNTS),
    "malformed": by_name(COUNTS),
    "results": COUNTS,
    "state_tuples": COUNTS,
    "frontier": st.none() | COUNTS,
    "total_results": COUNTS,
    "shed": by_name(COUNTS),
    "total_shed": by_name(COUNTS),
    "unreadable": by_name(COUNTS),
    "newest": by_name(st.none() | COUNTS),
    "waiting": st.none() | st.builds(Waiting, NAMES, st.none() | NAMES),
    "at": FLOATS,
    "span": MAYBE,
    "compiling": FLOATS,
    "cpu": FLOATS,
    "phases": by_name(FLOATS),
    "busy": MAYBE,
    "delay": MAYBE,
    "backlog": by_name(COUNTS),
    "inputs": by_name(st.builds(InputReport, COUNTS, COUNTS, FLOATS, MAYBE, MAYBE, MAYBE)),
    "operators": st.lists(
        st.builds(
            OperatorReport,
            *(NAMES, COUNTS, NAMES, st.sampled_from(["filter", "probe"]), COUNTS, COUNTS),
            *(MAYBE, FLOATS, MAYBE),
        ),
        max_size=2,
    ).map(tuple),
    "modules": by_name(st.builds(ModuleReport, COUNTS, COUNTS, MAYBE)),
    "plan": NAMES,
    "prediction": st.none() | st.builds(Prediction, FLOATS, FLOATS, FLOATS),
    "figures": st.lists(
        st.builds(FigureReport, NAMES, FLOATS, MAYBE, NAMES, MAYBE), max_size=2
    ).map(tuple),
    "stats": by_name(TABLES),
    "changes": st.lists(CHANGES, max_size=2).map(tuple),
    "filling": st.lists(st.text(max_size=5), max_size=2).map(tuple),
}
# A script's report has one of each of its queries.
FIELDS["members"] = by_name(st.builds(Report, **FIELDS))
REPORTS = st.builds(Report, **FIELDS)


@given(REPORTS)
def test_reports_come_back_as_they_were(report: Report) -> None:
    assert read(written(report)) == report


def test_every_field_of_a_report_is_made_up_here() -> None:
    """So that a new one is tried too."""
    assert set(FIELDS) == {field.name for field in fields(Report)}


@pytest.mark.parametrize(
    "entry",
    [
        Began(1.5, 7, "spark", "host", 42),
        Answer(2.5, "1-ab", Change("order", "stop: as you say"), True),
        Ended(3.5),
        Ended(3.5, "it broke"),
    ],
)
def test_other_entries_come_back_too(entry: Any) -> None:
    assert read(written(entry)) == entry


def test_a_line_is_one_line_with_its_version_and_kind() -> None:
    line = written(made(1, plan="a\nb\u2028ü"))
    assert line.count(b"\n") == 1
    data = json.loads(line)
    assert (data["version"], data["kind"], data["batch"]) == (1, "batch", 1)
    assert data["plan"] == "a\nb\u2028ü"


def test_what_is_no_number_in_json_is_null() -> None:
    report = made(
        1,
        busy=math.nan,
        seconds=math.inf,
        cpu=math.nan,
        phases={"wait": math.nan},
        stats={"costs": {"join": math.inf}},
    )
    data = json.loads(written(report))
    assert data["busy"] is data["seconds"] is data["stats"]["costs"]["join"] is None
    found = read(written(report))
    assert isinstance(found, Report)
    assert (found.busy, found.cpu) == (None, 0.0)
    assert math.isnan(found.seconds)
    assert math.isnan(found.phases["wait"])


def test_numbers_of_numpy_are_numbers() -> None:
    report = made(3, results=np.int64(8), seconds=np.float32(0.5), read={"a": np.int32(7)})
    assert read(written(report)) == made(3, results=8, seconds=0.5, read={"a": 7})


def test_lines_of_other_versions_are_read() -> None:
    full = entry_json(made(4, operators=(), plan="x"))
    later = full | {"version": 9, "colour": "blue", "changes": [{"kind": "sing", "reason": "joy"}]}
    found = read(json.dumps(later).encode())
    assert isinstance(found, Report)
    assert found.changes[0].reason == "joy"
    earlier = {name: full[name] for name in list(full)[:11]}
    assert read(json.dumps(earlier).encode()) == replace(made(4), at=0.0)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"{",
        b"[1]",
        b"null",
        b"7",
        b'{"kind": "batch"}',
        b'{"kind": "song", "at": 1}',
        b'{"kind": "batch", "batch": "one"}',
        b'{"kind": ["batch"]}',
        written(made(1))[:-20],
        written(made(1)).replace(b'"batch": 1', b'"batch": true'),
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=range(14),
)
def test_what_is_no_entry_is_passed_over(line: bytes) -> None:
    assert read(line) is None
