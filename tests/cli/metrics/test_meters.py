"""Metrics: every one of the catalog is told by reports, documented, and shown on the board."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from penstock.cli.metrics.catalog import CATALOG, series
from penstock.cli.metrics.meters import Meters
from penstock.engine.reports.parts import KINDS, Change, InputReport, ModuleReport, Prediction
from penstock.engine.reports.report import Report
from support.engines.reported import made
from support.paths import ROOT

_ORDER = ("query", "stream", "input", "phase", "kind", "le")
PAGE = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8")
BOARD = json.loads((ROOT / "examples" / "grafana" / "board.json").read_text(encoding="utf-8"))


def told(**more: Any) -> Report:
    """A report that tells everything."""
    given: dict[str, Any] = {
        "late": {"a": 2},
        "malformed": {"a": 1},
        "unreadable": {"a": 3},
        "newest": {"a": 7_000_000, "b": 9_000_000},
        "frontier": 4_000_000,
        "phases": {"feed": 0.125, "commit": 0.5},
        "cpu": 0.5,
        "span": 2.0,
        "busy": 0.75,
        "delay": 1.5,
        "backlog": {"a": 4},
        "inputs": {"x": InputReport(10, 4, 0.6, 5.0, 6.0, 7.0)},
        "modules": {"x@0": ModuleReport(12, 100), "y@0": ModuleReport(8, 60)},
        "prediction": Prediction(0.3, 1.0, 25.0),
        "changes": (Change("switch", "better"), Change("shed", "less")),
    }
    return made(0, **given | more)


def samples(meters: Meters) -> dict[tuple[str, tuple[str, ...]], float]:
    """The values that are scraped, by name and by the labels' values."""
    families = text_string_to_metric_families(generate_latest(meters.registry).decode())
    return {
        (
            each.name,
            tuple(each.labels[label] for label in _ORDER if label in each.labels),
        ): each.value
        for family in families
        for each in family.samples
    }


def test_reports_move_every_metric_on() -> None:
    meters = Meters()
    meters(told())
    meters(told())
    found = samples(meters)
    assert {name for name, _ in found} == {name for metric in CATALOG for name in series(metric)}
    wanted: dict[tuple[str, tuple[str, ...]], float] = {
        ("penstock_batches_total", ()): 2,
        ("penstock_batch_seconds_sum", ()): 0.5,
        ("penstock_batch_seconds_count", ()): 2,
        ("penstock_phase_seconds_total", ("commit",)): 1.0,
        ("penstock_cpu_seconds_total", ()): 1.0,
        ("penstock_busy_ratio", ()): 0.75,
        ("penstock_delay_seconds", ()): 1.5,
        ("penstock_lag_seconds", ()): 5.0,
        ("penstock_last_batch_timestamp_seconds", ()): 1000.0,
        ("penstock_rows_total", ("a",)): 20,
        ("penstock_late_rows_total", ("a",)): 4,
        ("penstock_malformed_rows_total", ("a",)): 2,
        ("penstock_unreadable_files_total", ("a",)): 6,
        ("penstock_backlog", ("a",)): 4,
        ("penstock_stream_lag_seconds", ("a",)): 2.0,
        ("penstock_input_tuples_total", ("", "x")): 20,
        ("penstock_shed_tuples_total", ("", "x")): 8,
        ("penstock_kept_ratio", ("", "x")): 0.6,
        ("penstock_rate", ("", "x")): 5.0,
        ("penstock_arrival_rate", ("", "x")): 6.0,
        ("penstock_expected_rate", ("", "x")): 7.0,
        ("penstock_results_total", ("",)): 6,
        ("penstock_state_tuples", ("",)): 20,
        ("penstock_state_bytes", ("",)): 160,
        ("penstock_expected_state_tuples", ("",)): 25.0,
        ("penstock_work_ratio", ("",)): 0.25,
        ("penstock_expected_work_ratio", ("",)): 0.3,
        ("penstock_decisions_total", ("", "switch")): 2,
        ("penstock_decisions_total", ("", "shed")): 2,
    }
    assert {key: found[key] for key in wanted} == wanted


def test_what_a_batch_does_not_tell_stays() -> None:
    meters = Meters()
    meters(made(0))
    assert math.isnan(samples(meters)["penstock_delay_seconds", ()])
    meters(told())
    meters(made(2, inputs={"x": InputReport(0)}))
    found = samples(meters)
    assert found["penstock_delay_seconds", ()] == 1.5
    assert found["penstock_rate", ("", "x")] == 5.0
    assert found["penstock_kept_ratio", ("", "x")] == 1.0


def test_the_queries_of_a_script_are_told_apart_and_counted_once() -> None:
    meters = Meters()
    members = {"p": told(results=5, changes=()), "q": told(results=7)}
    meters(told(members=members, changes=(Change("behind", "late"),), results=12))
    found = samples(meters)
    assert found["penstock_results_total", ("p",)] == 5
    assert found["penstock_results_total", ("q",)] == 7
    assert ("penstock_results_total", ("",)) not in found
    assert found["penstock_rows_total", ("a",)] == 10
    decisions = {k[1]: n for k, n in found.items() if k[0] == "penstock_decisions_total" and n}
    assert decisions == {("q", "switch"): 1, ("q", "shed"): 1, ("", "behind"): 1}


@pytest.mark.parametrize("name", ['"} 1\npenstock_fake_total 7', "a\\b", "ü\n# HELP x y"])
def test_a_hostile_name_is_a_label_and_nothing_else(name: str) -> None:
    meters = Meters()
    meters(made(0, read={name: 3}, late={name: 0}, malformed={name: 0}))
    found = samples(meters)
    assert found["penstock_rows_total", (name,)] == 3
    assert "penstock_fake_total" not in {key for key, _ in found}


def test_every_metric_is_on_the_page() -> None:
    rows = re.findall(r"^\| `(penstock_\w+)` \| (\w+) \| (.*?) \| (.*) \|$", PAGE, re.M)
    wanted = [
        (m.name, m.kind, ", ".join(f"`{label}`" for label in m.labels), m.what.rstrip("."))
        for m in CATALOG
    ]
    assert [(name, kind, labels.strip(), what) for name, kind, labels, what in rows] == wanted


def queries(value: object) -> Iterator[str]:
    """All queries in a board: of panels and of variables."""
    match value:
        case dict():
            for key, each in value.items():
                if key in ("expr", "query") and isinstance(each, str):
                    yield each
                yield from queries(each)
        case list():
            for each in value:
                yield from queries(each)


def test_the_board_names_metrics_that_are_there_and_all_of_them() -> None:
    named = {name for text in queries(BOARD) for name in re.findall(r"\bpenstock_\w+", text)}
    told_of = {name for metric in CATALOG for name in series(metric)}
    assert named == told_of
    # A query with a wrong label shows nothing, and says nothing.
    labels = {label for metric in CATALOG for label in metric.labels} | {"job", "le"}
    for text in queries(BOARD):
        for group in re.findall(r"\bby \(([^)]*)\)", text):
            assert {each.strip() for each in group.split(",")} <= labels, text


def test_decisions_that_nobody_took_yet_are_counted_too() -> None:
    """Else the first of a kind would not be seen to be one more."""
    meters = Meters()
    meters(told(changes=()))
    found = {labels[1]: n for (name, labels), n in samples(meters).items() if "decisions" in name}
    assert found == dict.fromkeys(KINDS, 0.0)
    meters(told(changes=(Change("switch", "better"),)))
    assert samples(meters)["penstock_decisions_total", ("", "switch")] == 1.0


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool (prometheus) is not there")
def test_prometheus_takes_the_metrics_and_the_expressions_of_the_board(tmp_path: Path) -> None:
    meters = Meters()
    meters(told())
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=generate_latest(meters.registry), check=False
    )
    assert done.returncode == 0
    rules = [
        {"record": f"x:{n}", "expr": expression.replace("$job", ".*")}
        for n, expression in enumerate(
            each for each in queries(BOARD) if "label_values" not in each
        )
    ]
    (tmp_path / "rules.json").write_text(json.dumps({"groups": [{"name": "x", "rules": rules}]}))
    subprocess.run(["promtool", "check", "rules", tmp_path / "rules.json"], check=True)
