"""The views of a run: their numbers are those of its log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.engine.reports.entries import Answer, Entry
from penstock.engine.reports.parts import Change, InputReport, Kind, OperatorReport
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import RunHead
from penstock.watch.batches import batches_view
from penstock.watch.log_reader import LogReader, read_log
from penstock.watch.log_view import LogView, decisions_in, final_reports
from penstock.watch.now import now_view
from penstock.watch.plan_graph import is_off
from penstock.watch.plan_live import plan_view
from penstock.watch.state import state_view
from penstock.watch.verdict import busy_share, verdict
from support.engines.reported import made
from support.watch.watched_runs import chained, run_of

RUNS = RunHead("SELECT 1", "local", "noop", trigger=1.0)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(chained(), tmp_path_factory.mktemp("chain"))


def test_now_has_the_figures_of_the_last_batch(checkpoint: Path) -> None:
    log = read_log(str(checkpoint))
    last, now = log.reports[-1], now_view(log)
    assert (now.batch, now.total_results) == (last.batch, last.total_results)
    assert now.total_results > 0
    assert [line.alias for line in now.streams] == ["a", "b", "c"]
    for line in now.streams:
        mine = last.inputs[line.alias]
        assert (line.rate, line.predicted, line.kept) == (mine.rate, mine.predicted_rate, 1.0)
        assert line.rates == tuple(each.inputs[line.alias].rate for each in log.reports)
    assert [source.read for source in now.sources] == list(last.read.values())
    assert now.lag == (last.lag or 0) / 1e6
    assert now.output_rate == last.results / (last.span or 0.0)
    assert (now.is_running, now.reads_all, now.wanted_delay) == (False, True, None)
    assert now.verdict == "has ended; it read what was there as fast as it could"


def test_a_batch_of_hardly_any_event_time_tells_nothing_of_a_second(checkpoint: Path) -> None:
    log = read_log(str(checkpoint))
    short = replace(log, reports=(*log.reports[:-1], replace(log.reports[-1], span=1e-6)))
    now = now_view(short)
    assert (now.output_rate, now.work) == (None, None)


def test_batches_have_the_phases_of_the_log(checkpoint: Path) -> None:
    log = read_log(str(checkpoint))
    view = batches_view(log)
    assert [bar.batch for bar in view.batches] == [each.batch for each in log.reports]
    assert [bar.phases for bar in view.batches] == [each.phases for each in log.reports]
    assert set(view.phases) >= {"feed", "pack", "commit"}
    assert view.trigger is None
    plans = [each.plan for each in log.reports]
    switched = [i for i, bar in enumerate(view.batches) if bar.is_switch]
    assert switched == [i for i in range(1, len(plans)) if plans[i] != plans[i - 1]]
    assert switched  # The streams change in the middle of the run.
    assert batches_view(log, 5).batches == view.batches[-5:]
    modules = {module.name: module.skew for module in state_view(log).modules}
    assert view.skews == {name: skew for name, skew in modules.items() if skew is not None}
    assert list(view.skews.values()) == sorted(view.skews.values(), reverse=True)


def test_the_graph_follows_the_operators(checkpoint: Path) -> None:
    log = read_log(str(checkpoint))
    last, graph = log.reports[-1], plan_view(log)
    nodes = {node.id: node for node in graph.nodes}
    assert graph.plan == last.plan
    told = [node for node in graph.nodes if node.kind in ("probe", "filter")]
    assert len(told) == len(last.operators)
    assert sum(node.seconds for node in told) == pytest.approx(
        sum(each.seconds for each in last.operators)
    )
    assert sum(node.load for node in told) == pytest.approx(1.0)
    into = [edge.measured or 0.0 for edge in graph.edges if edge.end == "results"]
    assert sum(into) == pytest.approx(last.results / (last.span or 0.0))
    assert nodes["results"].measured == pytest.approx(sum(into))
    for edge in graph.edges:
        assert nodes[edge.start].level < nodes[edge.end].level


def test_a_tree_has_its_inner_joins_between(tmp_path: Path) -> None:
    log = read_log(str(run_of(chained(batches=4), tmp_path, plan="((a b) c)")))
    graph = plan_view(log)
    (inner,) = [node for node in graph.nodes if node.kind == "join"]
    held = log.reports[-1].modules
    assert inner.name == "(a b)"
    assert inner.measured == sum(each.tuples for n, each in held.items() if n.startswith("(a b)@"))
    assert {edge.start for edge in graph.edges if edge.end == inner.id} == {"op:a:0:0", "op:b:0:0"}
    assert [edge.end for edge in graph.edges if edge.start == inner.id] == ["op:(a b):0:0"]


def test_names_that_look_like_plans_are_names() -> None:
    names = ("(a b)", 'say "x"', "<b>")
    inputs = {name: InputReport(10, rate=5.0, predicted_rate=20.0) for name in names}
    steps = (OperatorReport("(a b)", 0, 'say "x"', "probe", 10, 20, predicted=1.5),)
    report = made(0, inputs=inputs, operators=steps, span=2.0)
    graph = plan_view(LogView("x", reports=(report,)))
    assert [node.name for node in graph.nodes if node.kind == "input"] == list(names)
    assert all(node.is_off for node in graph.nodes if node.kind == "input")
    found = {(edge.start, edge.end): edge.measured for edge in graph.edges}
    assert found["in:(a b)", "op:(a b):0:0"] == 5.0
    assert found["op:(a b):0:0", "results"] == 10.0
    assert found["in:<b>", "results"] == 5.0


def test_what_is_off_differs_by_more_than_two() -> None:
    assert not is_off(2.0, 1.0)
    assert is_off(2.01, 1.0)
    assert is_off(1.0, 2.01)
    assert is_off(0.0, 1.0)
    assert not is_off(None, 1.0)


def weighed(kind: Kind, reason: str, plan: str | None = None) -> tuple[Change, ...]:
    return (Change(kind, reason, plan),)


FIRST = made(0, plan="(a b)"), made(1, plan="a: b; b: a")
STAYS = weighed("stay", "8% less work: less than 1.1 times as good", "(b a)")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((), ""),
        (STAYS, "; by batch 2 the best is (b a), not taken (8% less work: less than 1.1 times as "),
        (weighed("stay", "it is the best plan again"), ""),
        (
            weighed("advise", "30% less work", "(b a)"),
            "; by batch 2 the best is (b a), not taken",
        ),
        (
            weighed("take-back", "it took more", "(a b)"),
            "; by batch 2 the best is (a b), taken",
        ),
        (weighed("switch", "50% less work", "a: b; b: a"), ""),
        ((*STAYS, *weighed("drift", "rate of a")), "; by batch 2 the best is (b a), not taken (8%"),
    ],
)
def test_a_plan_that_would_be_better_is_named_with_why_it_is_not_followed(
    changes: tuple[Change, ...], said: str
) -> None:
    graph = plan_view(running(*FIRST, made(2, plan="a: b; b: a", changes=changes)))
    assert graph.since == 1
    assert graph.standing.startswith(f"followed from batch 1 on{said}")
    assert (graph.better is None) == (said == "") == (graph.standing.count("best") == 0)


def test_what_was_said_of_an_earlier_plan_is_not_said_of_this_one() -> None:
    before = made(0, plan="(a b)", changes=STAYS)
    assert plan_view(running(before, made(1, plan="a: b; b: a"))).better is None
    pinned = replace(running(before), pinned="(a b)")
    assert plan_view(pinned).standing == "followed from batch 0 on"


def running(*reports: Report, available_now: bool = False) -> LogView:
    head = replace(RUNS, available_now=available_now)
    return LogView("x", is_running=True, head=head, reports=reports)


def test_verdicts_are_words() -> None:
    easy = [made(n, busy=0.62, seconds=0.1) for n in range(4)]
    assert verdict(running(*easy)) == "keeps up with 38 % to spare"
    assert verdict(running()) == "no batch yet"
    full = [made(n, busy=1.0) for n in range(4)]
    assert verdict(running(*full)) == "has no time to spare"
    assert verdict(running(*full, available_now=True)) == "reads all there is as fast as it can"
    behind = [made(n, busy=1.0, backlog={"a": n, "b": 0}) for n in range(6)]
    assert verdict(running(*behind)) == "falls behind: its backlog grows"
    shed = made(4, busy=0.5, at=1004.0, inputs={"a": InputReport(10, shed=4, keep=0.625)})
    assert verdict(running(*full[:1], shed)).endswith(" to spare, keeping 62.5 % of a")
    failed = LogView("x", head=RunHead("", "local", "noop", ended_at=1.0, error="no disk"))
    assert verdict(failed) == "was ended by an error: no disk"
    assert verdict(LogView("x", head=RUNS)) == "was killed"
    assert verdict(LogView("x")) == "does not run"


def late(*delays: float) -> list[Report]:
    return [made(n, busy=0.5, seconds=0.5, delay=delay) for n, delay in enumerate(delays)]


@pytest.mark.parametrize(
    ("delays", "wanted", "said"),
    [
        ((4.0, 4.5, 4.9, 4.0), None, "keeps up with 50 % to spare"),
        ((12.0, 12.0, 11.75, 12.0), None, "is behind: its delay is 12 s"),
        ((12.0, 12.0, 1.0, 12.0), None, "keeps up with 50 % to spare"),
        ((12.0, 12.0, 12.0, 12.0), 30.0, "keeps up with 50 % to spare"),
        ((1.5, 2.0, 2.0, 2.0), 1.0, "is behind: its delay is 2 s, and 1 s are"),
        ((6.0, 7.0, 8.0, 9.0), None, "falls behind: its delay is 9 s, and grows"),
        ((30.0, 20.0, 10.0, 8.0), None, "is behind, and catches up: its delay is 8 s"),
    ],
)
def test_who_is_later_than_wanted_does_not_keep_up(
    delays: tuple[float, ...], wanted: float | None, said: str
) -> None:
    log = running(*late(*delays))
    assert verdict(replace(log, head=replace(RUNS, delay=wanted))).startswith(said)


def test_a_delay_is_wanted_only_where_somebody_has_said_so() -> None:
    log = running(*late(8.0, 8.0, 8.0, 8.0))
    assert now_view(log).wanted_delay is None
    assert verdict(log) == "is behind: its delay is 8 s"
    asked = replace(log, head=replace(RUNS, delay=5.0))
    assert now_view(asked).wanted_delay == 5.0
    assert verdict(asked) == "is behind: its delay is 8 s, and 5 s are wanted"


def test_who_reads_what_has_waited_for_long_catches_up() -> None:
    old = [made(n, busy=1.0, delay=6.0 + n, backlog={"a": 90 - 10 * n, "b": 0}) for n in range(6)]
    assert verdict(running(*old)).startswith("is behind, and catches up: its delay is 11 s")


def test_a_run_is_not_judged_by_the_one_before_it() -> None:
    log = running(*late(12.0, 12.0, 12.0, 12.0), made(4, at=1004.0, busy=0.25, delay=0.5))
    again = replace(log, head=replace(RUNS, batch=4))
    assert verdict(again) == "keeps up with 75 % to spare"
    assert verdict(replace(again, head=replace(RUNS, batch=5))) == "no batch yet"


def test_the_busy_share_is_by_the_clock() -> None:
    """A batch after a long wait counts for as long as that was."""
    reports = [made(0, at=0.0), made(1, at=9.0, busy=0.0), made(2, at=10.0, busy=1.0)]
    assert busy_share(running(*reports)) == pytest.approx(0.1)
    assert busy_share(running()) is None


def test_the_time_between_two_runs_is_not_busy() -> None:
    before = [made(n, at=1000.0 + n, busy=0.1) for n in range(3)]
    after = [made(n, at=1200.0 + n, busy=1.0 if n == 3 else 0.1) for n in range(3, 6)]
    log = replace(running(*before, *after), head=replace(RUNS, batch=3))
    assert now_view(log).busy == busy_share(log) == pytest.approx(0.1)
    assert verdict(log) == "keeps up with 90 % to spare"
    assert busy_share(replace(log, head=replace(RUNS, batch=6))) is None


def test_batches_that_were_run_again_count_once() -> None:
    first, again = [made(n) for n in range(4)], [made(n, results=9) for n in (2, 3)]
    assert final_reports([*first, *again]) == (*first[:2], *again)


def test_decisions_are_told_in_their_order() -> None:
    switch, order = Change("switch", "better"), Change("order", "stop: it ends")
    entries: list[Entry] = [made(0, changes=(switch, order)), Answer(1001.5, "1", order)]
    assert [(d.batch, d.change) for d in decisions_in(entries)] == [(0, switch), (None, order)]


def test_a_log_is_read_on_and_anew(tmp_path: Path) -> None:
    checkpoint = run_of(chained(batches=3), tmp_path)
    reader = LogReader(str(checkpoint))
    assert len(reader.read().reports) == 3
    (segment,) = (checkpoint / "reports").glob("*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    batches = [line for line in lines if b'"kind": "batch"' in line]
    with segment.open("ab") as file:
        file.write(batches[1])  # As after a restore: batch 1 comes again.
    assert [each.batch for each in reader.read().reports] == [0, 1]
    segment.write_bytes(lines[0])
    assert reader.read().reports == ()
