"""The house of the tests: it mirrors the rooms, and what tests share is in `tests/support/`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from support.paths import ROOT, TESTS


def imported(path: Path) -> Iterator[str]:
    """The first parts of the names of what a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.split(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module)):
                yield from (part for part in module.split("."))


def test_no_test_imports_another_test_file() -> None:
    for path in TESTS.rglob("*.py"):
        assert not [name for name in imported(path) if name.startswith("test_")], path


def test_every_folder_of_tests_is_that_of_a_room() -> None:
    rooms = ROOT / "src" / "penstock"
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    for folder in folders:
        place = rooms / folder
        assert place.is_dir() or place.with_suffix(".py").exists(), folder


def test_every_file_of_tests_has_a_name_of_its_own() -> None:
    """Files of the same name in two folders would be one module."""
    names = [path.name for path in TESTS.rglob("*.py") if path.name != "__init__.py"]
    assert len(names) == len(set(names))
