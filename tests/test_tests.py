"""The house of the tests: it mirrors the rooms, and what tests share is in `tests/support/`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from support.paths import ROOT, TESTS

ROOMS = ROOT / "src" / "penstock"
MOST_MODULES = 15

Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules(parent: Path) -> list[Path]:
    """All modules below a folder, without those that only say what their folder is."""
    return [path for path in sorted(parent.rglob("*.py")) if path.name != "__init__.py"]


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """The first parts of the names of what a file imports."""
    for node in ast.walk(parsed(path)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.split(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module)):
                yield from (part for part in module.split("."))


def test_no_test_imports_another_test_file() -> None:
    for path in modules(TESTS):
        assert not [name for name in imported(path) if name.startswith("test_")], path


def test_every_folder_of_tests_is_that_of_a_room() -> None:
    """But for those of the documentation's pages, of hostile input and of whatever may happen to a
    run, which are of all rooms."""
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    for folder in folders - {Path("pages"), Path("fuzz"), Path("simulation")}:
        place = ROOMS / folder
        assert place.is_dir() or place.with_suffix(".py").exists(), folder


def test_every_room_has_a_folder_of_tests() -> None:
    """Two modules may be tested from the room above."""
    sizes = Counter(path.parent.relative_to(ROOMS) for path in modules(ROOMS))
    rooms = [room for room, size in sizes.items() if size > 2]
    assert [room for room in rooms if not list((TESTS / room).glob("test_*.py"))] == []


def test_no_folder_of_tests_is_a_hall() -> None:
    sizes = Counter(path.parent for path in modules(TESTS))
    assert [folder for folder, size in sizes.items() if size > MOST_MODULES] == []


def test_every_file_of_tests_has_a_name_of_its_own() -> None:
    """Files of the same name in two folders would be one module."""
    names = [path.name for path in modules(TESTS)]
    assert len(names) == len(set(names))


def untyped(tree: ast.AST) -> Iterator[str]:
    """The functions of which an argument or the result has no type."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            given = node.args
            named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            bare = [a for a in named if a and a.annotation is None and a.arg not in ("self", "cls")]
            if bare or (node.returns is None and node.name != "__init__"):
                yield node.name


def test_every_function_of_tests_is_typed() -> None:
    bare = {(path.name, name) for path in modules(TESTS) for name in untyped(parsed(path))}
    # What a user has not annotated cannot be registered, which is tested.
    assert bare == {("test_registration.py", "untyped")}


def test_functions_without_types_are_seen() -> None:
    text = "def f(a: int, *b) -> None: ...\nclass C:\n  def g(self): ...\n  def h(self) -> int: ..."
    assert list(untyped(ast.parse(text))) == ["f", "g"]
