"""The demo's texts: its scripts, its table, what it tells of a run, and the page beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.cli.demo.batch_table import BatchTable
from penstock.cli.demo.ending import view_text
from penstock.cli.demo.page import dashboard_of
from penstock.cli.demo.preparing import sized
from penstock.cli.demo.site import BURST, RUSH, START, WRITTEN, Site
from penstock.cli.demo.story import story_of
from penstock.cli.demo.summary import costs_text, summary
from penstock.cli.demo.trial import Trial, trial_of
from penstock.cli.demo.voice import say, tell
from penstock.cql import parse
from penstock.engine.reports.parts import Change, InputReport
from penstock.engine.reports.report import Report
from penstock.engine.sources.made.made import made_of
from penstock.errors import SetupError
from penstock.plan.text.parse import render_plan

SITE = Site(people=100, seconds=48)
SLOW = Trial("((bid auction) person)", 0.8, 0.4, 0.3, 120_000, ((1,), (2,)))
FAST = Trial("((auction person) bid)", 0.2, 0.1, 0.3, 10_000, ((1,), (2,)))
OTHER = Change("switch", "53% less work", "((bid auction) person) | early person", 0.53)
CAME_OF_IT = Change("outcome", "it was", None, 0.53, 0.4)


def batch(
    number: int, shed: int = 0, changes: tuple[Change, ...] = (), delay: float = 1.0
) -> Report:
    """A batch of a second, of which some bids were shed."""
    bid = InputReport(4600, shed, 1.0 - shed / 4600, 4600.0)
    return Report(
        batch=number,
        seconds=0.5,
        read={"bid": 4600, "auction": 300, "person": 100},
        late={},
        malformed={},
        results=5,
        state_tuples=10_000 + number,
        frontier=None,
        total_results=5 * (number + 1),
        total_shed={"bid": shed},
        newest={"bid": START + 1_000_000 * (number + 1), "auction": None},
        at=100.0 + number,
        span=1.0,
        busy=0.5,
        delay=delay,
        inputs={"bid": bid, "auction": InputReport(300), "person": InputReport(100, rate=100.0)},
        changes=changes,
    )


def test_streams_come_in_nexmarks_proportions_and_change_in_event_time() -> None:
    calm = {name: made_of(s).rate for name, s in parse(SITE.calm(2)).sources.items()}
    assert (calm["auction"], calm["bid"]) == (3 * calm["person"], 46 * calm["person"])
    query = parse(SITE.live)
    counts = {
        name: [count(source, second) for second in (5, 18, 30, 42)]
        for name, source in query.sources.items()
    }
    expected = {
        "person": [100, 100 * RUSH, 100 * RUSH, 100 * RUSH],
        "auction": [300, 300, 300, 300],
        "bid": [4600, 4600, 4600 * BURST, 4600],
    }
    for name, rates in expected.items():
        assert counts[name] == pytest.approx([4 * rate for rate in rates], rel=0.2), name


def count(source: ps.query.source.Source, second: int) -> int:
    """The tuples of four seconds of a stream, in whole blocks."""
    made = made_of(source)
    first = second * 1_000_000 // made.block_micros
    blocks = 4_000_000 // made.block_micros
    return sum(len(rows) for rows, _ in made.generate(first, first + blocks, ["ts"]))


def test_the_plan_as_written_is_one_of_the_query() -> None:
    assert ps.sql(SITE.live, plan=WRITTEN).decision.is_forced


@pytest.mark.parametrize(
    "plan",
    [
        WRITTEN,
        "((auction person) bid) | early auction person",
        "bid: auction person; auction: person bid; person: auction bid | early auction person"
        " | recompute person",
    ],
)
def test_a_plan_is_drawn_with_a_line_for_each_of_its_parts(plan: str) -> None:
    lines = ps.sql(SITE.rushed(2), plan=plan).explain().splitlines()
    drawn = [line for line in lines if line.startswith(("TreeJoin", "Multi", "├", "│", "└"))]
    assert lines[: len(drawn)] == drawn
    assert all("   state " in line for line in drawn)
    assert max(map(len, drawn)) <= 100
    assert "auction.seller = person.id" in "\n".join(lines[: len(drawn) + 2])


def test_the_table_has_a_line_for_each_batch_and_what_happens_before_it() -> None:
    table = BatchTable(SITE)
    lines = [line for number in range(48) for line in table.lines(batch(number, shed=460))]
    assert lines[0].split() == [
        "second",
        "bid/s",
        "auction/s",
        "person/s",
        "state",
        "took",
        "busy",
        "delay",
        "kept",
    ]
    assert lines[1].split() == [
        "1.0",
        "4,600",
        "100",
        "10,000",
        "0.50",
        "s",
        "50",
        "%",
        "1.0",
        "s",
        "91",
        "%",
    ]
    news = [number for number, line in enumerate(lines) if line.startswith("──")]
    assert [re.findall(r"second (\d+)", lines[number]) for number in news] == [
        ["12"],
        ["24"],
        ["36"],
    ]
    assert [lines[number + 1].split()[0] for number in news] == ["12.0", "24.0", "36.0"]


def test_decisions_stand_below_their_batch() -> None:
    first, second, *rest = [*BatchTable(SITE).lines(batch(0, changes=(OTHER,)))][1:]
    assert first.split()[0] == "1.0"
    assert second.strip().startswith("another plan: ((bid auction) person) | early person: 53%")
    assert rest == []


def test_a_story_has_its_switches_and_its_sheddings() -> None:
    reports = [batch(number) for number in range(48)]
    reports[13] = batch(13, changes=(OTHER,))
    reports[20] = batch(20, changes=(CAME_OF_IT,))
    for number in (26, 27, 28):
        reports[number] = batch(number, shed=100 * number, delay=0.1 * number)
    story = story_of(reports)
    (switch,) = story.switches
    assert (switch.second, switch.promise, switch.outcome) == (14.0, 0.53, 0.4)
    (shedding,) = story.sheddings
    assert (shedding.first, shedding.last, shedding.is_over) == (26.0, 29.0, True)
    assert shedding.least == {"bid": pytest.approx(1 - 2800 / 4600)}
    assert shedding.delay == pytest.approx(2.8)
    assert (story.tuples, story.results, story.clock) == (48 * 5000, 240, 47.5)


def test_the_summary_says_what_happened() -> None:
    reports = [batch(n, shed=460 if n in (26, 27) else 0) for n in range(48)]
    reports[13] = batch(13, changes=(OTHER, CAME_OF_IT))
    said = " ".join(summary(SITE, SLOW, FAST, story_of(reports)).split())
    assert "took 0.2 CPU-seconds for a second of data, the plan as written 0.8" in said
    assert "4.0 times less work" in said
    assert "12.0 times less state. Both gave the same 2 results." in said
    assert "At second 14.0 the query went over to another plan" in said
    assert "expected to take 53 % less work; measured: 40 % less." in said
    assert "From second 26.0 to 28.0 it shed tuples, and kept 90 % of bid at the least" in said
    assert "It read 240,000 tuples" in said


def test_the_summary_does_not_make_up_what_did_not_happen() -> None:
    calm = [batch(number) for number in range(48)]
    said = " ".join(summary(SITE, FAST, SLOW, story_of(calm)).split())
    assert "4.0 times more work" in said
    assert "The query kept its plan" in said
    assert "Nothing was shed" in said
    short = " ".join(summary(SITE, SLOW, replace(FAST, rows=()), story_of(calm[:3])).split())
    assert "They gave 2 and 0 results, which differ: a mistake." in short
    assert "It ended before second 12" in short
    assert "It ended before second 24" in short
    shedding = [*calm[:30], batch(30, shed=4600)]
    ended = " ".join(summary(SITE, SLOW, FAST, story_of(shedding)).split())
    assert "to the end it shed tuples" in ended


def test_a_trial_counts_full_batches_and_takes_off_what_starting_takes() -> None:
    spark = {"spark": 0.3, "view": 0.1}
    full = [
        replace(batch(n), cpu=0.1 * n, seconds=1.0 + 0.1 * n, span=2.0, phases=spark)
        for n in range(5)
    ]
    empty = replace(batch(5), seconds=0.5, span=0.0, cpu=0.0, phases={"spark": 0.5})
    trial = trial_of([*full, empty], ())
    assert trial.work == pytest.approx(0.15)
    assert trial.start == 0.3
    assert trial.seconds == pytest.approx((1.3 - 0.3) / 2)
    assert trial.state == 10_005


def test_a_site_is_sized_by_what_its_rush_took() -> None:
    assert sized(SITE, replace(FAST, seconds=0.25)) == replace(SITE, people=120)
    assert sized(SITE, replace(FAST, seconds=1.0)) == replace(SITE, people=30)
    assert sized(SITE, replace(FAST, seconds=0.0)).people == 20_000
    assert sized(SITE, replace(FAST, seconds=1e9)).people == 20


def test_the_view_at_the_end_has_the_last_row_of_each_group_that_is_left(tmp_path: Path) -> None:
    assert view_text(tmp_path).startswith("no results yet")
    rows = {
        "category": [10, 11, 10, 11],
        "meetings": [1, 2, 3, None],
        "_time": [1, 1, 2, 2],
        "_change": ["upsert", "upsert", "upsert", "delete"],
    }
    pq.write_table(pa.table(rows), tmp_path / "0.parquet")
    line, when = view_text(tmp_path).splitlines()[1:]
    assert line.split()[0] == "10"
    assert float(line.split()[1]) == 3.0
    assert when == "all of 2"


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_all_that_is_said_fits_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever plan is chosen: the one of this line has 110 columns."""
    monkeypatch.setenv("COLUMNS", str(columns))
    orders = "bid: auction person; auction: person bid; person: auction bid"
    chosen = ps.sql(SITE.calm(2), plan=f"{orders} | early auction person | recompute person")
    say("A question", chosen.query.text.strip())
    say("Plans", costs_text(ps.sql(SITE.calm(2), plan=WRITTEN), chosen))
    say("The plan", f"plan    {render_plan(chosen.plan)}")
    for line in BatchTable(SITE).lines(batch(0, changes=(replace(OTHER, plan=f"{orders}; …"),))):
        tell(line)
    said = capsys.readouterr()
    assert f"chosen: {orders} | early" in " ".join(said.out.split())
    lines = [*said.out.splitlines(), *said.err.splitlines()]
    assert max(map(len, lines)) == min(columns, 100)


def test_the_page_beside_it_answers_and_goes(tmp_path: Path) -> None:
    """On a checkpoint that there is; of one that there is not it says so."""
    from urllib.error import URLError
    from urllib.request import urlopen

    query = ps.sql(Site(people=20, seconds=3).calm(2), engine="local")
    run = query.local(sink=ps.noop(), checkpoint=tmp_path / "c", available_now=True)
    with run:
        run.await_termination()
    with dashboard_of(str(tmp_path / "c"), opens=False) as address:
        assert urlopen(address).status == 200
    with pytest.raises(URLError):
        urlopen(address)
    with (
        pytest.raises(SetupError, match="the dashboard did not start"),
        dashboard_of(str(tmp_path / "none"), opens=False),
    ):
        pass
