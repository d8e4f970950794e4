"""The page of a run: its figures are the log's, it needs nothing else, and names stay text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.main import app
from penstock.engine.reports.parts import Change, FigureReport, InputReport, OperatorReport
from penstock.engine.reports.run_head import RunHead
from penstock.engine.reports.standing import Decided
from penstock.plan.explain.quantity import figure
from penstock.watch.charts.chart import Chart, Curve
from penstock.watch.log_reader import read_log
from penstock.watch.log_view import LogView
from penstock.watch.report.curves import drawn, top_of
from penstock.watch.report.markup import tag
from penstock.watch.report.run_page import run_page
from support.engines.reported import made
from support.watch.watched_runs import chained, run_of

HOSTILE = "</title><script>alert('x')</script>\" onload=\"x <img src=//evil.example/x> &amp;"


class Elements(HTMLParser):
    """The elements, attributes and texts of a document; tags must be closed in order."""

    VOID = ("meta",)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_it_says_which_plan_would_be_better_and_why_it_is_not_followed() -> None:
    stays = Change("stay", "8% less work: less than 1.1 times as good", "b: a; a: b")
    log = LogView("x", reports=(made(0, plan="(a b)"), made(1, plan="(a b)", changes=(stays,))))
    said = " ".join(Elements(run_page(log, 0.0)).texts)
    assert (
        "It is followed from batch 0 on; by batch 1 the best is b: a; a: b, not taken (8%" in said
    )


def hostile_log() -> LogView:
    """A log in which every text is hostile."""
    operator = OperatorReport(HOSTILE, 0, HOSTILE, "filter", 10, 5, predicted=0.1)
    report = made(
        0,
        read={HOSTILE: 1},
        late={HOSTILE: 0},
        span=1.0,
        cpu=0.5,
        plan=HOSTILE,
        inputs={HOSTILE: InputReport(10, rate=10.0, predicted_rate=1.0)},
        operators=(operator,),
        figures=(FigureReport(HOSTILE, 1.0, 0.5, HOSTILE, 3.0),),
    )
    change = Change("switch", HOSTILE, HOSTILE, 0.5, 0.25)
    head = RunHead(HOSTILE, HOSTILE, "noop", error=HOSTILE, ended_at=1.0)
    return LogView(f"/x/{HOSTILE}", False, head, (report,), (Decided(0, 1.0, change),))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(chained(), tmp_path_factory.mktemp("chain"))


def test_names_of_the_data_cannot_become_markup() -> None:
    found = Elements(run_page(hostile_log(), 2.0))
    ours = Elements(run_page(LogView("/x/y", reports=(made(0, span=1.0),)), 2.0))
    assert found.open == []
    assert not found.names & {"script", "img", "link", "iframe", "object", "a", "use", "image"}
    assert found.names - ours.names <= {"path", "rect", "g", "polyline", "circle", "pre", "h3"}
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "href"]
    assert any(HOSTILE in text for text in found.texts)


def test_it_needs_nothing_else(checkpoint: Path) -> None:
    page = run_page(read_log(str(checkpoint)), 2.0)
    found = Elements(page)
    assert found.open == []
    assert not found.names & {"script", "img", "link", "iframe", "object", "a"}
    assert not {name for name, _ in found.attributes} & {"src", "href", "srcset", "action"}
    assert not re.search(r"url\(|@import|https?://", page)
    assert "prefers-color-scheme: dark" in page


def test_the_page_has_the_figures_of_the_log(checkpoint: Path) -> None:
    log = read_log(str(checkpoint))
    page, last = run_page(log, 2.0), log.reports[-1]
    texts = Elements(page).texts
    assert f"{last.total_results:,}" in texts
    assert f"{sum(sum(each.read.values()) for each in log.reports):,}" in texts
    assert last.plan in texts
    switches = [d for d in log.decisions if d.change.kind == "switch"]
    assert switches
    for each in switches:
        assert any(text.startswith(each.change.reason) for text in texts)
    changed = sum(1 for a, b in zip(log.reports, log.reports[1:], strict=False) if a.plan != b.plan)
    # Each change of plans is marked in each of the six charts.
    assert changed
    assert page.count('class="mark"') == 6 * changed
    for alias, mine in last.inputs.items():
        both = f"{figure(mine.rate or 0)} | {figure(mine.predicted_rate or 0)}"
        assert f"{alias}: {both} tuples/s. {mine.tuples:,} tuples" in page


def test_a_curve_goes_through_its_values() -> None:
    values = (0.0, 5.0, None, 10.0, float("nan"), 2.5)
    chart = Chart("t", "T", (3, 4, 5, 6, 7, 8), (Curve("c", values),), (6,))
    found = drawn(chart)
    assert found is not None
    (line,) = re.findall(r'points="([^"]*)"', found)
    assert line == "62.0,176.0 160.0,94.0"
    # Values beside gaps are dots: 10 is the top of the axis.
    assert re.findall(r'cx="([^"]*)" cy="([^"]*)"', found) == [
        ("356.0", "12.0"),
        ("552.0", "135.0"),
    ]
    assert drawn(Chart("t", "T", (1,), (Curve("c", (None,)),))) is None
    assert drawn(Chart("t", "T", (), ())) is None


@pytest.mark.parametrize(("most", "top"), [(1.0, 1.0), (1.01, 2.0), (0.03, 0.05), (740.0, 1000.0)])
def test_axes_end_at_round_numbers(most: float, top: float) -> None:
    assert top_of(most) == pytest.approx(top)


def test_what_no_document_may_have_is_replaced() -> None:
    assert tag("b", "a\x00\x1b[31m\ud800z") == "<b>a\ufffd\ufffd[31m\ufffdz</b>"


def test_runs_without_a_batch_and_scripts_have_a_page() -> None:
    empty = run_page(LogView("/x/y"), 2.0)
    assert "There are no reports of batches" in empty
    script = LogView("/x/y", reports=(made(0, members={"p": made(0, plan="a: b"), "q": made(0)}),))
    texts = Elements(run_page(script, 2.0)).texts
    assert {"The query p", "The query q", "a: b"} <= set(texts)


def test_the_command_writes_the_page(checkpoint: Path, tmp_path: Path) -> None:
    words = ["report", str(checkpoint), "--output", str(tmp_path / "run.html")]
    done = CliRunner().invoke(app, words)
    assert done.stdout.startswith(f"{tmp_path}/run.html: 16 batches, ")
    assert (tmp_path / "run.html").read_text(encoding="utf-8").endswith("</html>\n")
    refused = CliRunner().invoke(app, [*words[:3], str(tmp_path / "none" / "run.html")])
    assert "cannot write" in str(refused.exception)
    assert CliRunner().invoke(app, words).exit_code == 0, "its own page is written over"
    (tmp_path / "mine.html").write_text("<html>mine</html>")
    refused = CliRunner().invoke(app, [*words[:-1], str(tmp_path / "mine.html")])
    assert "no page of a run" in str(refused.exception)
    assert (tmp_path / "mine.html").read_text() == "<html>mine</html>"
    nowhere = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert "is not a checkpoint" in str(nowhere.exception)
