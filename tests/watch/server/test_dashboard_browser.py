"""The dashboard in a real browser: every view opens, text stays text, and news appear."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from penstock.engine.reports.report import Report
from penstock.plan.explain.quantity import bytes_text, count, figure, percent, rate, seconds
from penstock.watch.log_reader import read_log
from penstock.watch.log_view import LogView
from penstock.watch.report.run_tables import when
from penstock.watch.server.app import dashboard_app
from penstock.watch.verdict import busy_share
from penstock.watch.views import VIEWS
from support.waiting import wait_until
from support.watch.browser import BROWSER, Browser, browser
from support.watch.watched_runs import HOSTILE, chained, hostile, run_of

TOKEN = "let-me-in"
WRITTEN: dict[str, Callable[[Any], str]] = {
    "figure": figure,
    "rate": rate,
    "percent": percent,
    "seconds": seconds,
}
"""Forms in which the page and the command line write a figure in the same way."""
FIGURES = (
    *(None, 0, 0.5, 1, 12.345, 99.95, 99.96, 999.6, 1000, 1225, 1235, 12_345, 1_234_567),
    # Ties, and those that are rounded up into the next unit.
    *(1.125, 1.135, 0.0999, 0.09996, 119.96, 7199.9, 172_799.0, 9_999_600.0, 999_960_000.0),
    *(2.5, 4.5e7, 1e15, 1.5e18, 0.000123456, 0.00009999, 3e-7, 1.23456e-9, -0.2, -1234.5),
)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium")


@contextmanager
def served(checkpoint: Path) -> Iterator[str]:
    """The address of a dashboard for the length of a `with` block."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = dashboard_app([str(checkpoint)], TOKEN)
    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def shown(page: Browser, name: str) -> str:
    """The text of a view, once it is there."""
    page.value(f"document.querySelector('nav [data-view=\"{name}\"]').click()")
    wait_until(lambda: page.value("document.getElementById('view').dataset.view") == name)
    return str(page.value("document.getElementById('view').innerText"))


def tables(page: Browser) -> list[list[dict[str, str]]]:
    """The tables of the view, row by row, each cell by its heading."""
    found: list[list[dict[str, str]]] = page.value(
        """[...document.querySelectorAll('#view .wide table')].map((table) => {
          const names = [...table.querySelectorAll('th')].map((cell) => cell.textContent);
          return [...table.querySelectorAll('tbody tr')].map((row) => Object.fromEntries(
            [...row.cells].map((cell, place) => [names[place], cell.textContent])));
        })"""
    )
    return found


def tiles(page: Browser) -> dict[str, list[str]]:
    """The figures above the tables, each with what stands below it."""
    found: dict[str, list[str]] = page.value(
        """Object.fromEntries([...document.querySelectorAll('#view .tiles > div')].map((tile) =>
          [tile.querySelector('dt').textContent,
            [...tile.querySelectorAll('dd')].map((each) => each.textContent)]))"""
    )
    return found


class Shown:
    """Numbers as the page writes them; what it writes is looked at in another test."""

    def __init__(self, page: Browser):
        self._page = page

    def __call__(self, form: str, value: object) -> str:
        asked = f"import('/page/format.js').then((made) => made.{form}({json.dumps(value)}))"
        return str(self._page.value(asked))


def check_words(page: Browser) -> None:
    """A plan of the same work is not said to take `-0 %` more."""
    show = Shown(page)
    assert [show("moreWork", saves) for saves in (0.0, -0.0002, -0.2, None)] == [
        *("takes as much work", "takes as much work", "takes 20 % more work", "–")
    ]
    assert show("percent", -0.0) == "0 %"


def check_now(page: Browser, last: Report, log: LogView) -> None:
    show, figures = Shown(page), tiles(page)
    assert last.prediction is not None
    span = last.span or 0.0
    assert figures["busy, of 1"] == [show("percent", busy_share(log))]
    assert figures["lag"] == [show("seconds", (last.lag or 0) / 1e6)]
    assert figures["delay"][0] == show("seconds", last.delay)
    expected = show("rate", last.prediction.output_rate)
    assert figures["results"] == [
        show("rate", last.results / span),
        f"expected {expected}; {show('count', last.total_results)} in all",
    ]
    work = show("figure", last.prediction.utilization)
    assert figures["work"] == [f"{show('figure', last.cpu / span)} s/s", f"expected {work} s/s"]
    assert figures["batch"] == [show("count", last.batch), show("clock", last.at)]
    streams, sources = tables(page)
    assert [row["input"] for row in streams] == list(last.inputs)
    for row in streams:
        mine = last.inputs[row.pop("input")]
        assert row == {
            "rate": show("rate", mine.rate),
            "history": "",
            "expected": show("rate", mine.predicted_rate),
            "by the clock": show("rate", mine.arrival_rate),
            "tuples": show("count", mine.tuples),
            "kept": show("percent", mine.keep),
        }
    newest = max(time for time in last.newest.values() if time is not None)
    for row in sources:
        name = row.pop("source")
        assert row.pop("backlog", "0") == show("count", last.backlog.get(name, 0))
        assert row == {
            "rows": show("count", last.read[name]),
            "late": show("count", last.late.get(name, 0)),
            "lag": show("seconds", (newest - (last.newest[name] or 0)) / 1e6),
        }


def check_batches(page: Browser, log: LogView) -> None:
    show = Shown(page)
    (rows,) = tables(page)
    for row, report in zip(rows, log.reports[::-1][:20], strict=True):
        number = str(report.batch) if "another" in row["batch"] else show("count", report.batch)
        assert row.pop("batch").removesuffix(" (another plan)") == number
        assert row.pop("backlog", "0") == show("count", sum(report.backlog.values()))
        assert (row.pop("delay", "") or "–") == show("seconds", report.delay)
        assert row == {
            "at": show("clock", report.at),
            "took": show("seconds", report.seconds),
            "CPU": show("seconds", report.cpu),
            "busy": show("percent", report.busy),
            "read": show("count", sum(report.read.values())),
            "results": show("count", report.results),
            "state": show("count", report.state_tuples),
        }


def drawn_curves(page: Browser) -> dict[str, dict[str, list[float | None]]]:
    """What the charts of the view draw: by chart and curve, a value for each batch."""
    found: dict[str, dict[str, list[float | None]]] = page.value(
        """Object.fromEntries([...document.querySelectorAll('#view [data-chart]')].map((figure) =>
          [figure.dataset.chart, Object.fromEntries(figure.plot.series.map((series, place) =>
            [series.label, [...figure.plot.data[place]]]))]))"""
    )
    return found


def legend(page: Browser, chart: str) -> dict[str, str]:
    """The values beside the names of a chart's curves."""
    found: dict[str, str] = page.value(
        f"""Object.fromEntries([...document.querySelectorAll('[data-chart={chart}] .u-series')]
          .map((line) => [line.querySelector('.u-label').textContent,
            line.querySelector('.u-value').textContent]))"""
    )
    return found


def check_curves(page: Browser, log: LogView) -> None:
    """Every curve has the values of the log, batch by batch; also those that stand on others."""
    batches = [each.batch for each in log.reports]
    for view in ("now", "batches", "state", "shedding"):
        shown(page, view)
        curves = drawn_curves(page)
        assert curves, view
        assert all(each.pop("batch") == batches for each in curves.values())
        if view == "now":
            for alias in log.reports[-1].inputs:
                mine = [each.inputs[alias] for each in log.reports]
                assert curves["rates"].pop(alias) == [each.rate for each in mine]
                wanted = curves["rates"].pop(f"{alias}, expected")
                assert wanted == [each.predicted_rate for each in mine]
            assert curves.pop("rates") == {}
            found = curves.pop("results")
            for place, report in enumerate(log.reports):
                assert report.prediction is not None
                assert found["expected"][place] == report.prediction.output_rate
                # The first batch has no span: nothing was before it.
                out = report.results / report.span if report.span else None
                assert found["results/s"][place] == out
            assert list(curves.pop("busy").values()) == [[each.busy for each in log.reports]]
            lags = curves.pop("delay")["lag"]
            assert lags == [(each.lag or 0) / 1e6 for each in log.reports]
        if view == "batches":
            # Each phase stands on those that began before it: the topmost is all of the batch.
            names = dict.fromkeys(name for each in log.reports for name in each.phases)
            phases, below = curves.pop("phases"), [0.0] * len(batches)
            for name in names:
                if name != "wait":
                    spent = [each.phases.get(name, 0.0) for each in log.reports]
                    below = [low + part for low, part in zip(below, spent, strict=True)]
                    assert phases.pop(name) == pytest.approx(below)
            assert phases == {}
            waiting = [sum(each.backlog.values()) for each in log.reports]
            assert curves.pop("backlog") == {"backlog": waiting}
        if view == "state":
            held = curves.pop("state")["rows in the state"]
            assert held == [each.state_tuples for each in log.reports]
        if view == "shedding":
            for alias, kept in curves.pop("kept").items():
                assert kept == [each.inputs[alias].keep for each in log.reports]
            curves.pop("delay")
        assert curves == {}, view


def check_cursor(page: Browser, log: LogView) -> None:
    """Names stand beside the values at the cursor, and beside the last ones where it is away."""
    show, last = Shown(page), log.reports[-1]

    def told(report: Report) -> dict[str, str]:
        spent = {name: took for name, took in report.phases.items() if name != "wait"}
        return {
            "batch": f"{report.batch}, {show('clock', report.at)}",
            **{name: show("seconds", took) for name, took in spent.items()},
        }

    shown(page, "batches")
    wait_until(lambda: told(last).items() <= legend(page, "phases").items())
    third = log.reports[3]
    x, y = page.value(
        f"""(() => {{
          const {{ plot }} = document.querySelector('[data-chart=phases]');
          const box = plot.over.getBoundingClientRect();
          return [box.left + plot.valToPos({third.batch}, 'x'), box.top + box.height / 2];
        }})()"""
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    wait_until(lambda: told(third).items() <= legend(page, "phases").items())
    # The other charts of the view tell of the same batch.
    waiting = show("count", sum(third.backlog.values()))
    wait_until(lambda: legend(page, "backlog").get("backlog") == waiting)
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    wait_until(lambda: told(last).items() <= legend(page, "phases").items())


def check_shedding(page: Browser, last: Report) -> None:
    show = Shown(page)
    assert last.prediction is not None
    expected = show("rate", last.prediction.output_rate)
    assert tiles(page)["results"] == [
        show("rate", last.results / (last.span or 0.0)),
        f"expected {expected}",
    ]
    (rows,) = tables(page)
    assert [row["input"] for row in rows] == list(last.inputs)
    for row in rows:
        alias = row.pop("input")
        mine = last.inputs[alias]
        assert row == {
            "kept": show("percent", mine.keep),
            "history": "",
            "tuples": show("count", mine.tuples),
            "shed": show("count", mine.shed),
            "shed in all": show("count", last.total_shed.get(alias, 0)),
        }


def test_numbers_on_the_page_are_those_of_the_log(tmp_path: Path) -> None:
    checkpoint = run_of(chained(), tmp_path)
    log = read_log(str(checkpoint))
    last = log.reports[-1]
    with served(checkpoint) as address, browser(tmp_path / "profile") as page:
        page.open(f"{address}?token={TOKEN}")
        wait_until(lambda: page.value("document.querySelectorAll('nav button').length") > 0)
        shown(page, "now")
        check_now(page, last, log)
        check_words(page)
        shown(page, "batches")
        check_batches(page, log)
        check_curves(page, log)
        check_cursor(page, log)
        shown(page, "shedding")
        check_shedding(page, last)

        # A node shows what it takes, and where it stands in the query.
        shown(page, "plan")
        page.value("document.querySelectorAll('.node.probe')[0].dispatchEvent(new Event('click'))")
        probe = page.value("document.getElementById('node').dataset.node")
        assert page.value("document.querySelectorAll('#node mark').length") == 2
        assert "probe" in str(page.value("document.querySelector('#node table').innerText"))
        # It stays chosen when another batch comes.
        page.value("location.hash = 'now'")
        shown(page, "plan")
        assert page.value("document.getElementById('node').dataset.node") == probe

        shown(page, "state")
        page.value("document.querySelector('[data-ask=hot-keys]').click()")
        wait_until(lambda: page.value("document.querySelectorAll('#hot tbody tr').length") > 0)
        assert page.said == []


def test_numbers_are_written_for_people(tmp_path: Path) -> None:
    checkpoint = run_of(chained(batches=2), tmp_path)
    with served(checkpoint) as address, browser(tmp_path / "profile") as page:
        page.open(f"{address}?token={TOKEN}")
        wait_until(lambda: page.value("document.querySelectorAll('nav button').length") > 0)
        show = Shown(page)
        for form, written in WRITTEN.items():
            assert {each: show(form, each) for each in FIGURES} == {
                each: written(each) for each in FIGURES
            }
        known = [each for each in FIGURES if each is not None]
        assert [show("bytes", each) for each in known] == [bytes_text(each) for each in known]
        assert [show("count", each) for each in (None, 0, 1_234_567)] == [
            count(each) for each in (None, 0, 1_234_567)
        ]
        assert show("clock", 1.7e9 + 0.9) == when(1.7e9 + 0.9) == "2023-11-14 22:13:20"

        # On a phone nothing is wider than the screen; text can be read, light and dark.
        papers = set()
        for scheme in ("light", "dark"):
            page.look(390, scheme)
            for name in VIEWS:
                shown(page, name)
                wait_until(lambda: page.value(UNFIT) == [])
                wide = page.value("document.documentElement.scrollWidth")
                assert wide <= 390, f"{name} is {wide} wide"
                assert page.value(BROKEN_WORDS) == [], name
            ink, paper = (
                page.value(f"getComputedStyle(document.body).{name}")
                for name in ("color", "backgroundColor")
            )
            assert contrast(ink, paper) >= 4.5
            papers.add(paper)
        assert len(papers) == 2


UNFIT = """
[...document.querySelectorAll("[data-chart]")].filter((figure) =>
  figure.plot.width !== figure.querySelector(".plot").clientWidth).map((each) => each.dataset.chart)
"""
"""Charts that are not as wide as the room that they have."""

BROKEN_WORDS = """
[...document.querySelectorAll("td")].filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
  return /^(\\S{1,16}|[\\d-]{10} [\\d:]{8})$/.test(cell.textContent) && lines.size > 1;
}).map((cell) => cell.textContent)
"""
"""Short words and times in tables that stand on several lines."""


def contrast(one: str, other: str) -> float:
    """How well two colours are told apart: from 1 to 21, as guidelines for the web reckon it."""
    high, low = sorted((_light(one), _light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _light(colour: str) -> float:
    parts = [int(each) / 255 for each in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_page_in_a_browser(tmp_path: Path) -> None:
    checkpoint = hostile(tmp_path)
    with served(checkpoint) as address, browser(tmp_path / "profile") as page:
        page.open(f"{address}?token={TOKEN}")
        wait_until(lambda: page.value("document.querySelectorAll('nav button').length") > 0)
        page.look(390, "light")
        texts = {}
        for name in VIEWS:
            texts[name] = shown(page, name)
            assert page.value("document.documentElement.scrollWidth") <= 390, name
        assert HOSTILE in texts["results"]
        assert "<img src=x onerror=alert(1)>" in texts["now"]
        assert page.value("document.querySelectorAll('img, main script').length") == 0
        assert page.value("document.querySelectorAll('[role=alert]').length") == 0

        # Another plan, as a run would write it into its log, is on the page without a reload.
        shown(page, "plan")
        (segment,) = (checkpoint / "reports").glob("*.jsonl")
        lines = [json.loads(line) for line in segment.read_text().splitlines()]
        last = [line for line in lines if line["kind"] == "batch"][-1]
        news = {**last, "batch": last["batch"] + 1, "plan": "a plan of its own"}
        page.value("window.isSame = true")
        with segment.open("a") as file:
            file.write(json.dumps(news) + "\n")
        wait_until(
            lambda: "a plan of its own" in page.value("document.getElementById('view').innerText")
        )
        assert page.value("window.isSame")
        assert page.value("document.title") == "Penstock"
        assert page.said == []
        assert page.asked
        assert [each for each in page.asked if not each.startswith(address)] == []
