"""The page in a real browser: Debian's chromium, without a window."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock.experiments.reports.report import run_experiment
from penstock.experiments.results_folder import ResultsFolder
from support.experiments.stubs import STUBS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
WIDTHS = (400, 1280)

# A window has a least width, a frame has not. What is found is told to the page around it.
MEASURE = """
<script>
addEventListener("load", () => {
  const light = text => {
    const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map(n => n / 255)
      .map(n => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const against = (one, other) => {
    const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const card = getComputedStyle(document.querySelector("article")).backgroundColor;
  const texts = [...document.querySelectorAll("figure svg text")];
  const words = [...document.querySelectorAll("h1, h2, h3, p, td, .verdict, small")];
  const boxes = [...document.querySelectorAll("figure svg")].map(s => s.getBoundingClientRect());
  parent.postMessage({
    width: innerWidth,
    content: document.documentElement.scrollWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    figures: boxes.length,
    smallest: Math.min(...boxes.flatMap(b => [b.width, b.height])),
    labels: texts.length,
    label_contrast: Math.min(...texts.map(t => against(getComputedStyle(t).fill, card))),
    text_contrast: Math.min(...words.map(w => against(getComputedStyle(w).color, card))),
    behind: light(getComputedStyle(document.body).backgroundColor),
  }, "*");
});
</script>
"""
AROUND = """<!DOCTYPE html><title></title><script>
const found = [];
addEventListener("message", m => { found.push(m.data); document.title = JSON.stringify(found); });
</script>
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every kind of chart, verdict and a crash, in frames that measure it."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("lab")
    results = ResultsFolder(folder, tuple(experiment.name for experiment in STUBS))
    for experiment in STUBS:
        results.save(run_experiment(experiment, "quick", lambda _done, _total: None))
    page = (folder / "index.html").read_text(encoding="utf-8")
    measured = page.replace("</body>", f"{MEASURE}</body>")
    (folder / "measured.html").write_text(measured, encoding="utf-8")
    frames = "".join(
        f'<iframe src="measured.html" width={width} height=900 style="border:0"></iframe>'
        for width in WIDTHS
    )
    (folder / "around.html").write_text(AROUND + frames, encoding="utf-8")
    return folder


def browse(folder: Path, scheme: str) -> tuple[dict[int, dict[str, Any]], str]:
    """What the frames found, by width, and what the browser said."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
        f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}",
        "--enable-logging=stderr",
        "--virtual-time-budget=10000",
        "--dump-dom",
        (folder / "around.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.S)
    assert title is not None, done.stdout[:500]
    return {found["width"]: found for found in json.loads(title[1])}, done.stderr


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_whole_and_legible(site: Path, scheme: str) -> None:
    found, said = browse(site, scheme)
    assert "CONSOLE" not in said
    assert set(found) == set(WIDTHS)
    for width, seen in found.items():
        assert seen["dark"] == (scheme == "dark")
        assert seen["content"] <= width
        assert seen["figures"] == 2
        assert seen["smallest"] >= 200
        assert seen["labels"] > 20
        assert seen["label_contrast"] >= 4.5
        assert seen["text_contrast"] >= 4.5
        assert (seen["behind"] < 0.1) == (scheme == "dark")


def test_the_page_needs_no_network(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    reached = re.findall(r'(?:src|href)="(?!#|data:)([^"]+)"', page)
    assert reached == []
    assert "@import" not in page
    assert "url(http" not in page
