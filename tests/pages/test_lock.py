"""The lock file pins what is asked for, by hash, and the licences of all of it are told."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent.parent
LOCK = (ROOT / "requirements.lock").read_text()
PINS = dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^ ]+)", LOCK, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FOR_USERS = {k: v for k, v in PROJECT["optional-dependencies"].items() if k not in ("dev", "docs")}


@pytest.mark.parametrize(
    "wanted",
    [
        *PROJECT["dependencies"],
        *(each for name, extra in FOR_USERS.items() if name != "java" for each in extra),
    ],
)
def test_what_is_asked_for_is_pinned_as_asked(wanted: str) -> None:
    requirement = Requirement(wanted)
    pinned = PINS.get(canonicalize_name(requirement.name))
    assert pinned is not None, "run `make lock`"
    assert requirement.specifier.contains(pinned), "run `make lock`"


def test_every_pin_has_hashes_and_nothing_else_is_said() -> None:
    entries = re.split(r"^(?=[A-Za-z0-9_.-]+==)", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) == len(PINS)
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
    assert not re.search(r"^--|http|@ ", LOCK, re.MULTILINE)


def test_licences_are_told_of_all() -> None:
    page = (ROOT / "docs" / "security.md").read_text()
    table = page.partition("| licence | packages |")[2]
    told = re.findall(r"^\| [^|]+ \| ([^|]+) \|$", table, re.MULTILINE)
    assert sorted(name for names in told for name in names.split(", ")) == sorted(PINS)


def test_the_library_of_the_page_comes_with_its_licence() -> None:
    vendor = ROOT / "src" / "penstock" / "watch" / "page" / "vendor"
    (version,) = re.findall(r"uPlot \(v([\d.]+)\)", (vendor / "uPlot.iife.min.js").read_text())
    assert f"uPlot {version}" in (ROOT / "docs" / "security.md").read_text()
    assert (vendor / "LICENSE").read_text().startswith("The MIT License")
    assert (vendor / "LICENSE").relative_to(ROOT).as_posix() in PROJECT["license-files"]
