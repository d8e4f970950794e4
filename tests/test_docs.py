"""The pages of the repository: what they name is there, and they name nothing outside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from os.path import normpath
from pathlib import Path

import pytest

from support.paths import ROOT

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
)
HOME = "docs/README.md"
EVERY_PAGE = pytest.mark.parametrize("page", PAGES)
SOURCE = ROOT / "src" / "penstock"

# Folders that runs make, and those of the user's that examples name.
MADE = ("out/", "data/", "CHECKPOINT/", "SINK/", "_penstock/", ".venv/")
# What is named by its ending but is a user's file in an example.
OF_USERS = re.compile(r"^[\w.-]+\.(csv|cql|toml|jsonl|json|parquet|html|txt)$")
PLACEHOLDERS = ("FILE", "PATH", "DIR", "NAME")
ENDINGS = (".py", ".md", ".toml", ".yaml", ".cql", ".txt", ".json", ".html", ".csv")


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)


def words(page: str) -> Iterator[str]:
    """What stands in backticks, word by word, and in the commands of fenced blocks."""
    text = text_of(page)
    for span in re.findall(r"`([^`\n]+)`", without_blocks(text)):
        yield from re.split(r"[\s,;:()]+", span)


def parts_of(page: str) -> set[str]:
    """The folders of the package that a page may name without what is above them."""
    return {p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"}


def paths_in(page: str) -> Iterator[str]:
    """The words that look like a file or folder of the repository."""
    rooms = parts_of(page)
    for word in words(page):
        first, slash, _ = word.partition("/")
        is_room = bool(slash) and (first in rooms or first in ("src", "tests", "docs", "examples"))
        is_file = word.endswith(ENDINGS) and re.fullmatch(r"[\w./-]+", word) is not None
        if word.startswith(MADE) or not (is_room or is_file):
            continue
        if not re.fullmatch(r"[\w./-]+", word) or word.startswith(PLACEHOLDERS):
            continue
        if not slash and OF_USERS.match(word):
            continue
        yield word


def is_there(page: str, word: str) -> bool:
    """Whether a word is a file or folder: of the repository, the page's folder or the package."""
    above = (ROOT, (ROOT / page).parent, SOURCE)
    if any((folder / word).exists() for folder in above):
        return True
    # A list of files in one folder may name the folder once.
    return ("/" not in word and any(SOURCE.rglob(word))) or any(ROOT.glob(f"tests/**/{word}"))


def modules_in(page: str) -> Iterator[str]:
    """`penstock.x.y`, wherever it stands."""
    yield from re.findall(r"\bpenstock(?:\.[a-z_]+)+\b", text_of(page))


@EVERY_PAGE
def test_every_path_that_a_page_names_is_there(page: str) -> None:
    missing = sorted({word for word in paths_in(page) if not is_there(page, word)})
    assert missing == []


@EVERY_PAGE
def test_every_module_that_a_page_names_is_there(page: str) -> None:
    for name in modules_in(page):
        place = SOURCE.joinpath(*name.split(".")[1:])
        folder = place.parent
        is_module = place.with_suffix(".py").exists() or (place / "__init__.py").exists()
        is_inside = folder.with_suffix(".py").exists() or (folder / "__init__.py").exists()
        assert is_module or (is_inside and is_offered(folder, place.name)), name


def is_offered(module: Path, name: str) -> bool:
    """Whether a module has a name at its top level, or a package offers it."""
    path = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    return re.search(rf"\b{name}\b", path.read_text(encoding="utf-8")) is not None


def links(page: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", without_blocks(text_of(page)))


@EVERY_PAGE
def test_every_link_resolves_inside_the_repository(page: str) -> None:
    for link in links(page):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert target.is_relative_to(ROOT.resolve()), link
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """The headings of a page as links write them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@EVERY_PAGE
def test_no_page_names_a_file_outside_the_repository(page: str) -> None:
    said = text_of(page)
    assert not re.findall(
        r"(?:^|[\s(`'\"])(?:/(?:home|work|root|tmp|Users)/|~/(?!\.config/penstock/))\S*", said
    )
    up = [span for span in re.findall(r"`([^`\n]+)`", without_blocks(said)) if "../" in span]
    assert up == []


def test_the_readme_links_to_the_first_page_which_links_to_every_other() -> None:
    linked = {linked_to(page, link) for page in ("README.md", HOME) for link in links(page)}
    assert {*PAGES, "CHANGELOG.md", "LICENSE"} - {"README.md"} <= linked
    assert {HOME, "LICENSE"} <= {linked_to("README.md", link) for link in links("README.md")}


def linked_to(page: str, link: str) -> str:
    """The file of the repository that a link of a page is to."""
    path = normpath((ROOT / page).parent / link.partition("#")[0])
    found = Path(path) / "README.md" if Path(path).is_dir() else Path(path)
    return found.relative_to(ROOT).as_posix() if found.is_relative_to(ROOT) else link


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md", "examples/data/README.md"])
def test_lines_of_prose_are_short(page: str) -> None:
    """Tables and blocks may be wider."""
    lines = without_blocks(text_of(page)).splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


def test_lines_of_the_architecture_page_are_short() -> None:
    lines = text_of("docs/architecture.md").splitlines()
    assert [line for line in lines if len(line) > 120] == []


def test_the_glossary_is_in_order_with_a_line_and_a_link_for_each_word() -> None:
    rows = re.findall(
        r"^\| (.+?) \| (.+) \| \[(.+)\]\((.+)\) \|$", text_of("docs/glossary.md"), re.M
    )
    named = [row[0] for row in rows]
    assert len(named) > 80
    assert named == sorted(named)
    assert len(set(named)) == len(named)
    for _, _, shown, link in rows:
        assert link.removeprefix("../src/penstock/").rstrip("/") == shown


def test_the_words_of_the_glossary_stand_in_the_files_that_they_link_to() -> None:
    rows = re.findall(r"^\| (.+?) \| .* \| \[.+\]\((.+)\) \|$", text_of("docs/glossary.md"), re.M)
    for word, link in rows:
        place = ROOT / "docs" / link
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        said = " ".join(re.sub(r"[\s_-]+", " ", path.read_text("utf-8")) for path in files)
        spelled = re.escape(word.replace("`", "").lower()).replace(r"\ ", " ?")
        assert re.search(spelled, said.lower()), (word, link)


def test_contributing_names_the_places_that_take_apart_all_kinds_of_plans() -> None:
    steps = text_of("CONTRIBUTING.md").partition("### A kind of plan")[2].partition("\n### ")[0]
    places = [p for p in SOURCE.rglob("*.py") if "assert_never(plan)" in p.read_text("utf-8")]
    assert len(places) > 12
    for place in places:
        path = place.relative_to(SOURCE)
        named = (str(path), path.name, f"{path.parent.name}/")
        assert any(f"`{name}`" in steps for name in named), path


WORDS = """
space home leg ruster tick lane segment frontier module packet fact tag mesh route keep fold
recompute chunk manifest ledger place mark slice
"""


@pytest.mark.parametrize("word", [*WORDS.split(), "drop box"])
def test_the_glossary_has_the_words_of_the_engine(word: str) -> None:
    assert f"\n| {word} | " in text_of("docs/glossary.md")
