"""The rooms of DESIGN §2: imports go one way, and only some rooms know Spark or sqlglot."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import penstock

SOURCE = Path(penstock.__file__).parent

ALL = frozenset(
    [
        "query",
        "sql",
        "stats",
        "cost",
        "plan",
        "optimize",
        "kernels",
        "engine",
        "monitor",
        "lab",
        "bench",
        "cli",
        "dashboard",
    ]
)
MAY_IMPORT = {
    "query": frozenset(),
    "sql": frozenset({"query"}),
    "stats": frozenset({"query", "sql"}),
    "cost": frozenset({"query", "stats"}),
    "plan": frozenset({"query"}),
    "optimize": frozenset({"query", "sql", "stats", "cost", "plan"}),
    "kernels": frozenset(),
    "engine": frozenset({"query", "plan", "kernels"}),
    "monitor": frozenset({"query", "sql", "stats", "plan", "optimize", "kernels", "engine"}),
    "lab": ALL,
    "bench": ALL,
    "cli": ALL,
    "dashboard": ALL,
}
# Where a library may be known, by the start of the module's name.
LIBRARIES = {
    "sqlglot": ("penstock.sql.",),
    "pyspark": ("penstock.engine.spark.", "penstock.bench.", "penstock.cli."),
}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts)


def imports(tree: ast.AST, module: str) -> Iterator[str]:
    """The full names of all that a module imports, also inside functions."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=origin, names=names, level=level):
                above = module.split(".")[:-level] if level else []
                base = ".".join([*above, *([origin] if origin else [])])
                yield from (f"{base}.{alias.name}" for alias in names)


def room_of(name: str) -> str | None:
    """The room of a module; None for the package itself and for what is not Penstock's."""
    first, _, rest = name.partition(".")
    head = rest.split(".")[0]
    return head if first == "penstock" and head in ALL else None


def faults(module: str, text: str) -> list[str]:
    """What a module imports and must not."""
    room = room_of(module)
    found = list(imports(ast.parse(text), module))
    back = [
        f"{module} imports {name}"
        for name in found
        if room and (other := room_of(name)) and other != room and other not in MAY_IMPORT[room]
    ]
    foreign = [
        f"{module} imports {name}"
        for name in found
        if not f"{module}.".startswith(LIBRARIES.get(name.split(".")[0], "penstock."))
    ]
    return back + foreign


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def test_no_module_imports_against_the_direction() -> None:
    paths = modules()
    assert len(paths) > 20
    found = [f for path in paths for f in faults(module_name(path), path.read_text("utf-8"))]
    assert found == []


def test_every_directory_is_a_room() -> None:
    rooms = {p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert rooms <= ALL


def test_errors_knows_nothing_of_penstock() -> None:
    tree = ast.parse((SOURCE / "errors.py").read_text("utf-8"))
    assert not [n for n in imports(tree, "penstock.errors") if n.startswith("penstock")]


def test_back_edges_are_seen_however_they_are_written() -> None:
    for line in (
        "import penstock.engine.java",
        "from penstock.engine import java",
        "from penstock import engine",
        "from ..engine import java",
        "def late():\n    from penstock.engine.java import find_java",
        "import pyspark.sql",
        "from sqlglot import exp",
    ):
        assert faults("penstock.plan.force", line), line


def test_what_the_table_allows_passes() -> None:
    assert faults("penstock.engine.join", "from penstock.query.keys import key_classes") == []
    assert faults("penstock.engine.java", "from penstock.errors import SetupError") == []
    assert faults("penstock.engine.spark.run", "import pyspark") == []
    assert faults("penstock.engine.java", "import pyspark") != []
    assert faults("penstock.sql.text", "import sqlglot") == []
    assert faults("penstock.plan.force", "from .keys import key_classes") == []
