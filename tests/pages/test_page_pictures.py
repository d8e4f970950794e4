"""The pictures of the pages: files that stand alone, small, light and dark, and true."""

from __future__ import annotations

import re
import shlex
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.main import app
from support.paths import ROOT

PICTURES = sorted((ROOT / "docs" / "pictures").iterdir())
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
SVG = "{http://www.w3.org/2000/svg}"
EVERY_PICTURE = pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)


@EVERY_PICTURE
def test_a_picture_stands_alone(picture: Path) -> None:
    said = picture.read_text("utf-8")
    drawn = Xml.fromstring(said)
    assert drawn.tag == f"{SVG}svg"
    assert not {each.tag for each in drawn.iter()} & {f"{SVG}script", f"{SVG}image", f"{SVG}use"}
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)|url\((?!#)|@import", said)
    assert picture.stat().st_size < 100_000


@EVERY_PICTURE
def test_a_picture_is_light_or_dark_as_its_reader_likes(picture: Path) -> None:
    said = picture.read_text("utf-8")
    assert "prefers-color-scheme: dark" in said or picture.stem == "icon"
    if "prefers-color-scheme: dark" in said:
        light, dark = said.split("prefers-color-scheme: dark", 1)
        assert set(re.findall(r"--[\w-]+(?=:)", light)) == set(
            re.findall(r"--[\w-]+(?=:)", dark.split("}\n}")[0])
        )


@EVERY_PICTURE
def test_every_picture_is_shown_by_a_page(picture: Path) -> None:
    shown = (ROOT / "mkdocs.yml").read_text("utf-8") + "".join(p.read_text("utf-8") for p in PAGES)
    assert f"pictures/{picture.name})" in shown or picture.stem == "icon"


def test_the_plan_of_the_readme_is_the_one_that_explain_draws() -> None:
    """To draw it again: the command in the README with `--format svg --output …/plan.svg`."""
    readme = (ROOT / "README.md").read_text("utf-8")
    (command,) = re.findall(r"^\$ penstock (explain .*)$", readme, re.M)
    words = [str(ROOT / each) if "/" in each else each for each in shlex.split(command)]
    done = CliRunner().invoke(app, [*words, "--format", "svg"])
    assert done.stdout == (ROOT / "docs" / "pictures" / "plan.svg").read_text("utf-8")


def test_the_work_that_is_drawn_is_that_of_the_page() -> None:
    drawn = Xml.fromstring((ROOT / "docs" / "pictures" / "utilisation.svg").read_text("utf-8"))
    page = (ROOT / "docs" / "concepts.md").read_text("utf-8")
    texts = [each.text or "" for each in drawn.iter(f"{SVG}text")]
    plans = [text for text in texts if text.startswith(("((", "bid:"))]
    assert len(plans) == 4
    for plan, work in zip(plans, texts[texts.index(plans[0]) + 1 :: 2], strict=False):
        figure = re.split(r"[:\s]|,\s", work)[0]
        found = re.search(rf"all .*\n +{re.escape(plan.removesuffix('…'))}", page)
        assert found is not None, plan
        line = page[: found.start()].rsplit("\n", 1)[1]
        assert figure in line.split(), (plan, work)
