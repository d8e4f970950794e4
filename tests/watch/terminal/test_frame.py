"""A frame in a terminal: its figures are the log's, it fits, and names do nothing to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.engine.reports.parts import Change, InputReport, OperatorReport
from penstock.engine.reports.run_head import RunHead
from penstock.plan.explain.quantity import figure, seconds
from penstock.watch.log_reader import read_log
from penstock.watch.log_view import LogView
from penstock.watch.terminal.frame import frame, last_line
from penstock.watch.terminal.glyphs import bar, cut, printable, sparkline
from support.engines.reported import made
from support.watch.watched_runs import chained, run_of

ESCAPES = "\x1b]0;owned\x07\x1b[2J\r\n\x9b31m\u202e"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(chained(), tmp_path_factory.mktemp("chain"))


def cells(lines: list[str], start: str) -> list[str]:
    """The words of the first line that begins so."""
    return next(line.split() for line in lines if line.startswith(start))


def test_the_figures_are_those_of_the_log(checkpoint: Path) -> None:
    log = read_log(str(checkpoint))
    lines, last = frame(log, log.reports[-1].at + 60, 200), log.reports[-1]
    assert lines[0] == f"{checkpoint}: has ended; it read what was there as fast as it could"
    assert lines[1].startswith(f"batch {last.batch}, 60 s ago; on local, into parquet:")
    assert f"results  {last.total_results:,}, {last.results:,} in the last batch" in "\n".join(
        lines
    )
    for alias, mine in last.inputs.items():
        words = cells(lines, f"{alias}  ")
        assert words[2:5] == [figure(mine.rate), "|", figure(mine.predicted_rate)]
    assert f"plan  {last.plan}" in lines
    for each in last.operators:
        out = figure(each.came_out / each.went_in)
        wanted = ["probe", *each.operator.split(), out, "|", figure(each.predicted)]
        assert [line for line in lines if line.split()[: len(wanted)] == wanted], each
    shown = lines[next(i for i, line in enumerate(lines) if line.startswith("batch  ")) + 2 :]
    assert [line.split()[0] for line in shown] == [str(r.batch) for r in log.reports[-12:]]
    for line, report in zip(shown, log.reports[-12:], strict=True):
        assert f"{seconds(report.seconds)}  " in line
        assert f" {report.results:,} " in line
    switched = [new for old, new in zip(log.reports, log.reports[1:], strict=False)
                if new.plan != old.plan]  # fmt: skip
    marks = [line.split()[0] for line in shown if "⇄" in line]
    assert marks == [str(r.batch) for r in switched if r.batch >= log.reports[-12].batch] != []


def test_it_says_which_plan_would_be_better_and_why_it_is_not_followed() -> None:
    stays = Change("stay", "8% less work: less than 1.1 times as good", "b: a; a: b")
    log = LogView("x", reports=(made(0, plan="(a b)"), made(1, plan="(a b)", changes=(stays,))))
    lines = frame(log, 2000.0, 200)
    told = lines[lines.index("plan  (a b)") + 1]
    assert told == (
        "      followed from batch 0 on; by batch 1 the best is b: a; a: b, not taken "
        "(8% less work: less than 1.1 times as good)"
    )


@pytest.mark.parametrize(("width", "height"), [(20, 5), (40, 10), (80, 24), (120, 60), (1, 1)])
def test_it_fits_the_terminal(checkpoint: Path, width: int, height: int) -> None:
    lines = frame(read_log(str(checkpoint)), 2.0, width, height)
    assert 0 < len(lines) <= height
    assert max(map(len, lines)) <= width
    if height >= 24:  # The last batch is always there.
        assert lines[-1].startswith("15 ")


@pytest.mark.parametrize("known", [1, 3, 8, 11, 12])
def test_all_batches_are_shown_where_there_is_room_for_more(checkpoint: Path, known: int) -> None:
    log = read_log(str(checkpoint))
    lines = frame(replace(log, reports=log.reports[:known]), 2.0, 200, 60)
    shown = lines[next(i for i, line in enumerate(lines) if line.startswith("batch  ")) + 2 :]
    assert [line.split()[0] for line in shown] == [str(r.batch) for r in log.reports[:known]]


@pytest.mark.parametrize("height", range(5, 40))
def test_no_table_is_cut_down_to_its_heading(checkpoint: Path, height: int) -> None:
    lines = frame(read_log(str(checkpoint)), 2.0, 60, height)
    rules = [place for place, line in enumerate(lines) if line.startswith("─")]
    assert all(lines[place + 1 : place + 2] not in ([], [""]) for place in rules)


def hostile() -> LogView:
    operator = OperatorReport(ESCAPES, 0, ESCAPES, "filter", 10, 5, predicted=0.1)
    report = made(
        0,
        read={ESCAPES: 1},
        plan=ESCAPES,
        phases={ESCAPES: 1.0},
        span=1.0,
        inputs={ESCAPES: InputReport(1, rate=1.0)},
        operators=(operator,),
        filling=(ESCAPES,),
    )
    head = RunHead(ESCAPES, ESCAPES, ESCAPES, error=ESCAPES, ended_at=1.0)
    return LogView(f"/x/{ESCAPES}", False, head, (report,), pinned=ESCAPES)


def test_names_of_the_data_do_nothing_to_a_terminal() -> None:
    script = LogView("/x", reports=(made(0, members={ESCAPES: made(0, plan=ESCAPES)}),))
    for log in (hostile(), script, hostile().of_query(ESCAPES)):
        lines = frame(log, 2.0, 500)
        assert len(lines) > 3 or log.last is None
        for line in (*lines, last_line(log)):
            assert line.isprintable(), line


def test_runs_without_a_batch_and_scripts_have_a_frame() -> None:
    assert frame(LogView("/x/y"), 2.0, 80) == ["/x/y: does not run"]
    head = RunHead("SELECT 1", "local", "noop")
    starting = LogView("/x/y", True, head)
    assert frame(starting, 2.0, 80, 24) == ["/x/y: no batch yet", "on local, into noop"]
    members = {"p": made(0, plan="a: b"), "q": made(0, plan="(a b)")}
    script = LogView("/x/y", True, head, (made(0, members=members),))
    assert {"  p: a: b", "  q: (a b)"} <= set(frame(script, 2.0, 80))
    assert "plan  (a b)" in frame(script.of_query("q"), 2.0, 80)


def test_the_last_line_says_whether_it_goes_on() -> None:
    head = RunHead("SELECT 1", "local", "noop", ended_at=9.0)
    reports = (made(0, busy=0.25), made(1, busy=0.25))
    ended = LogView("/x/y", False, head, reports)
    assert last_line(ended) == "/x/y: has ended, batch 1"
    goes_on = LogView("/x/y", True, RunHead("SELECT 1", "local", "noop"), reports)
    assert last_line(goes_on) == "/x/y: keeps up with 75 % to spare, batch 1; it goes on"
    assert last_line(LogView("/x/y")) == "/x/y: does not run, no batch yet"


def test_small_pictures() -> None:
    assert sparkline([0.0, 4.0, None, 8.0, float("nan"), float("inf")], 10) == "▁▅ █  "
    assert sparkline([1.0, 2.0, 3.0], 2) == "▆█"
    assert sparkline([0.0, -1.0], 5) == "▁▁"
    assert sparkline([], 5) == ""
    assert [bar(part, 4) for part in (0.0, 0.5, 7.0, float("nan"))] == [
        "░░░░",
        "██░░",
        "████",
        "░░░░",
    ]
    assert (cut("abcdef", 4), cut("abcd", 4), cut("ab", 0)) == ("abc…", "abcd", "…")
    assert printable("a\tb\x1bc ü") == "a�b�c ü"
