"""The views of decisions, state, shedding and results: by the log, manifests and sinks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from penstock.engine.reports.parts import InputReport
from penstock.watch.decisions import decisions_view, plan_spans
from penstock.watch.log_reader import read_log
from penstock.watch.log_view import LogView
from penstock.watch.now import now_view
from penstock.watch.plan_live import plan_view
from penstock.watch.results import Results, results_view
from penstock.watch.shedding import interval_widths, shedding_view
from penstock.watch.state import PartitionState, skew, state_view
from support.engines.reported import made
from support.watch.watched_runs import HOSTILE, chained, counted, hostile, run_of, scripted


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(chained(), tmp_path_factory.mktemp("more"))


def test_decisions_have_their_reasons_and_promises(checkpoint: Path) -> None:
    log = read_log(str(checkpoint))
    view = decisions_view(log)
    switches = [line for line in view.decisions if line.kind == "switch"]
    told = [c for each in log.reports for c in each.changes if c.kind == "switch"]
    assert [(s.reason, s.plan, s.promise) for s in switches] == [
        (c.reason, c.plan, c.promise) for c in reversed(told)
    ]
    assert switches
    assert [line.at for line in view.decisions] == sorted(
        (line.at for line in view.decisions), reverse=True
    )


def test_plans_are_told_with_their_batches() -> None:
    reports = tuple(made(n, plan=plan) for n, plan in enumerate("aabbba"))
    spans = [(span.plan, span.first, span.last) for span in plan_spans(reports)]
    assert spans == [("a", 0, 1), ("b", 2, 4), ("a", 5, 5)]


def test_state_is_told_by_module_and_partition(checkpoint: Path) -> None:
    log = read_log(str(checkpoint))
    last, view = log.reports[-1], state_view(log)
    assert {m.name: (m.tuples, m.bytes, m.predicted) for m in view.modules} == {
        name: (each.tuples, each.bytes, each.predicted) for name, each in last.modules.items()
    }
    assert view.tuples == last.state_tuples
    for module in view.modules:
        assert sum(part.tuples for part in module.partitions) == module.tuples
        assert module.history[-1] == module.tuples


def test_skew_is_the_largest_by_the_mean() -> None:
    parts = tuple(PartitionState(n, size, 0) for n, size in enumerate((30, 10, 20)))
    assert skew(parts) == pytest.approx(1.5)
    assert skew(parts[:1]) is None
    assert skew(()) is None


def test_results_are_the_last_rows_of_the_sink(checkpoint: Path) -> None:
    log = read_log(str(checkpoint))
    view = results_view(log, most=7)
    files = sorted((checkpoint.parent / "out").glob("*.parquet"))
    rows = [tuple(row.values()) for row in pq.read_table(files[-1]).to_pylist()]
    assert view.columns == tuple(pq.read_schema(files[-1]).names)
    assert view.rows == tuple(rows[-7:])
    assert (view.total, view.is_all, view.missing) == (log.reports[-1].total_results, False, None)


def test_results_of_a_file_of_lines_are_its_last(tmp_path: Path) -> None:
    checkpoint = hostile(tmp_path)
    view = results_view(read_log(str(checkpoint)))
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert view.rows == tuple(tuple(line.values()) for line in lines)
    assert view.is_all
    assert HOSTILE in [cell for row in view.rows for cell in row]


def test_results_of_a_view_are_its_rows_now(tmp_path: Path) -> None:
    checkpoint = counted(tmp_path)
    view = results_view(read_log(str(checkpoint)))
    assert view.is_view
    held = [dict(zip(view.columns, row, strict=True)) for row in view.rows]
    told = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {row["k"]: row["n"] for row in held} == {row["k"]: row["n"] for row in told}


def test_a_sink_that_keeps_nothing_says_so(tmp_path: Path) -> None:
    checkpoint = counted(tmp_path, view=False)
    view = results_view(read_log(str(checkpoint)))
    assert "cannot be read back: its sink, noop, keeps none" in (view.missing or "")


def test_what_is_shed_is_told_by_input() -> None:
    reports = tuple(
        made(
            n,
            inputs={"a": InputReport(10, shed=n, keep=1.0 - n / 10)},
            total_shed={"a": 5 + n},
            delay=float(n),
        )
        for n in range(4)
    )
    view = shedding_view(LogView("nowhere", reports=reports))
    (line,) = view.inputs
    assert (line.keeps, line.shed, line.total_shed) == ((1.0, 0.9, 0.8, 0.7), 3, 8)
    assert view.is_shedding
    assert view.delays == (0.0, 1.0, 2.0, 3.0)


def test_widths_are_parts_of_values() -> None:
    shown = Results(True, None, 3, ("k", "n", "n_low", "n_high"))
    rows = ((1, 100, 90.0, 110.0), (2, 10, 8.0, 12.0), (3, 0, 0.0, 0.0), (4, None, None, None))
    (line,) = interval_widths(replace(shown, rows=rows))
    assert (line.column, line.rows) == ("n", 2)
    assert line.width == pytest.approx(0.15)


def test_queries_of_a_script_are_told_apart(tmp_path: Path) -> None:
    checkpoint = scripted(tmp_path)
    log = read_log(str(checkpoint))
    last = log.reports[-1]
    assert set(log.queries) == {"pairs", "counts"}
    for name in log.queries:
        mine, own = log.of_query(name), last.members[name]
        assert now_view(mine).total_results == own.total_results
        assert plan_view(mine).plan == own.plan
        assert {m.name for m in state_view(mine).modules} == set(own.modules)
        assert sum(m.tuples for m in state_view(mine).modules) == sum(
            part.tuples for m in state_view(mine).modules for part in m.partitions
        )
        assert results_view(mine).missing is None
    assert results_view(log).missing is not None
    assert now_view(log).total_results == last.total_results
