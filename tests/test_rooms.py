"""The rooms of docs/architecture.md: imports go one way, and only some rooms know Spark or sqlglot.

Between rooms a table says what each may import. Inside a room its parts are in an order, and a
part imports from the parts before it only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import penstock

SOURCE = Path(penstock.__file__).parent
MOST_MODULES = 15

# Small modules that every room may import; they import each other in this order only.
COMMON = (
    "errors",
    "figure",
    "slips",
    "duration",
    "engines",
    "table",
    "arguments",
    "atomic",
    "light_start",
)

ALL = frozenset(
    [
        "query",
        "cql",
        "stats",
        "papers",
        "plan",
        "optimize",
        "kernels",
        "engine",
        "lab",
        "sampling",
        "calibration",
        "adapt",
        "bench",
        "experiments",
        "watch",
        "cli",
        "continuous_script",
        "api",
    ]
)
MAY_IMPORT = {
    "query": frozenset(),
    "cql": frozenset({"query"}),
    "stats": frozenset({"query", "cql"}),
    "papers": frozenset(),
    "plan": frozenset({"query"}),
    "optimize": frozenset({"query", "stats", "papers", "plan"}),
    "kernels": frozenset(),
    "engine": frozenset({"query", "plan", "kernels"}),
    "lab": frozenset({"query", "plan", "kernels", "engine"}),
    "sampling": frozenset({"query", "stats", "plan", "optimize", "engine"}),
    "calibration": frozenset({"query", "cql", "stats", "plan", "optimize", "engine", "lab"}),
    "adapt": frozenset(
        {"query", "cql", "stats", "plan", "optimize", "kernels", "engine", "sampling"}
    ),
    "continuous_script": frozenset({"query", "stats", "plan", "optimize", "engine", "adapt"}),
    "api": frozenset(
        {"query", "cql", "stats", "plan", "optimize", "engine", "adapt", "continuous_script"}
    ),
    "watch": frozenset(
        {"query", "cql", "stats", "plan", "optimize", "engine", "adapt", "continuous_script", "api"}
    ),
    "bench": ALL - {"cli", "experiments", "watch"},
    "experiments": ALL - {"cli", "watch"},
    "cli": ALL,
}

# The parts of a room from the bottom to the top. A part is a folder or a module; `*` stands for
# the modules of the room that are not named.
ORDER = {
    "penstock.query": (
        "families",
        "types",
        "secret",
        "source",
        "function",
        "expression",
        "joins",
        "*",
        "foreign",
        "made",
    ),
    "penstock.cql": (
        "reading",
        "refused",
        "expressions",
        "declare",
        "select",
        "goal",
        "formatting",
        "script_file",
        "asking",
        "script",
    ),
    "penstock.cql.select": ("*", "outer", "relations", "ranking", "view", "select"),
    "penstock.stats": ("*", "files"),
    "penstock.plan": ("*", "sharing", "text", "explain"),
    "penstock.plan.explain": ("*", "pictures"),
    "penstock.optimize": (
        "options",
        "algebra",
        "model",
        "curves",
        "filters",
        "shedding",
        "joins",
        "delay",
        "estimate",
        "views",
        "memory",
        "mesh",
        "goals",
        "propose",
        "weigh",
        "refine",
        "preferences",
        "refusals",
        "remarks",
        "settle",
        "planner",
        "sharing",
        "script_shedding",
        "script",
    ),
    "penstock.kernels": ("*", "aggregates", "foreign", "jsontext", "csvtext", "ranking"),
    "penstock.engine.state": ("store", "modules", "listing", "*", "upkeep", "checkpoint"),
    "penstock.engine.sources": ("*", "listing", "made", "kafka", "read_slice", "feed"),
    "penstock.engine": (
        "expressions",
        "rows",
        "places",
        "state",
        "wire",
        "sources",
        "sinks",
        "routes",
        "folding",
        "changes",
        "join",
        "outer",
        "views",
        "reports",
        "measures",
        "control",
        "results",
        "run",
        "script",
        "local",
        "spark",
    ),
    "penstock.engine.sinks": ("kafka", "*"),
    "penstock.engine.run": ("*", "changed", "preflight", "tables", "turn", "pipeline", "handle"),
    "penstock.engine.routes": ("*", "asking", "routing", "eddies"),
    "penstock.engine.spark": ("starting", "*", "connect"),
    "penstock.lab": (
        "kernels",
        "clock",
        "schedule",
        "layout",
        "charges",
        "shedding",
        "views",
        "mesh",
        "apparatus",
        "servers",
        "timing",
        "laboratory",
        "view_experiment",
        "experiment",
    ),
    "penstock.adapt": (
        "settings",
        "training",
        "shedding",
        "figures",
        "drift",
        "planning",
        "switching",
        "helpers",
        "knowledge",
        "predictions",
        "*",
        "script",
    ),
    "penstock.bench": (
        "*",
        "joins",
        "aggjoin",
        "early",
        "intervals",
        "mesh",
        "decisions",
        "drift",
        "goals",
        "shed",
        "sources",
        "nexmark",
        "shared",
        "scale",
        "limits",
    ),
    "penstock.bench.drift": ("streams", "cases", "run", "*"),
    "penstock.experiments": (
        "frame",
        "setting",
        "rate_based",
        "sliding_windows",
        "aggregation_join",
        "query_mesh",
        "multi_join",
        "beyond",
        "catalog",
        "drawing",
        "reports",
        "page",
        "results_folder",
    ),
    "penstock.watch": (
        "log_view",
        "verdict",
        "charts",
        "*",
        "planning",
        "report",
        "terminal",
        "views",
        "page",
        "server",
    ),
    "penstock.cli": (
        "show",
        "warm",
        "control",
        "bundle",
        "metrics",
        "lab",
        "scripts",
        "durations",
        "running",
        "demo",
        "profiling",
        "*",
    ),
}

# Where a library may be known, by the start of the module's name.
LIBRARIES = {
    "sqlglot": ("penstock.cql.",),
    "pyspark": ("penstock.engine.spark.", "penstock.bench.", "penstock.experiments."),
    "prometheus_client": ("penstock.cli.metrics.",),
    "matplotlib": ("penstock.experiments.drawing.",),
    "starlette": ("penstock.watch.server.",),
    "uvicorn": ("penstock.cli.control.dashboard",),
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


def part_of(name: str, room: str) -> str | None:
    """The part of a room that a module is in; None for the room's own `__init__`."""
    if not name.startswith(f"{room}."):
        return None
    part = name.removeprefix(f"{room}.").split(".")[0]
    if part == "__init__":
        return None
    return part if part in ORDER[room] else "*"


def backward(module: str, name: str) -> bool:
    """Whether an import goes from a part of a room to a part above it."""
    for room, order in ORDER.items():
        here, there = part_of(module, room), part_of(name, room)
        if here is None or there is None:
            continue
        if there not in order:  # what a room's own __init__ offers
            continue
        if here not in order or order.index(there) > order.index(here):
            return True
    return False


def common_fault(module: str, name: str) -> bool:
    """Whether one of the small modules that everybody imports would import something larger."""
    here, there = (each.split(".")[1] for each in (f"{module}.", f"{name}.."))
    if here not in COMMON or not name.startswith("penstock"):
        return False
    return there not in COMMON[: COMMON.index(here)]


def faults(module: str, text: str) -> list[str]:
    """What a module imports and must not."""
    room = room_of(module)
    found = list(imports(ast.parse(text), module))
    back = [
        f"{module} imports {name}"
        for name in found
        if room and (other := room_of(name)) and other != room and other not in MAY_IMPORT[room]
    ]
    inside = [
        f"{module} imports {name}"
        for name in found
        if backward(module, name) or common_fault(module, name)
    ]
    foreign = [
        f"{module} imports {name}"
        for name in found
        if not f"{module}.".startswith(LIBRARIES.get(name.split(".")[0], "penstock."))
    ]
    return back + inside + foreign


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def folders(parent: Path = SOURCE) -> list[Path]:
    """All folders with modules below one."""
    return sorted({path.parent for path in parent.rglob("*.py")} - {parent})


def test_no_module_imports_against_the_direction() -> None:
    paths = modules()
    assert len(paths) > 20
    found = [f for path in paths for f in faults(module_name(path), path.read_text("utf-8"))]
    assert found == []


def test_every_directory_is_a_room() -> None:
    rooms = {p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert rooms | {"api", "continuous_script"} == ALL
    faces = {"api", "continuous_script", "__init__"}
    assert {p.stem for p in SOURCE.glob("*.py")} == {*COMMON, *faces}


def test_every_part_of_a_room_has_its_place_in_the_order() -> None:
    for folder in folders():
        name = module_name(folder)
        inner = [p for p in folder.iterdir() if p.is_dir() and p.name != "__pycache__"]
        assert name in ORDER or not inner, f"{name} has folders and no order"
    for room, order in ORDER.items():
        folder = SOURCE.joinpath(*room.split(".")[1:])
        parts = {p.stem for p in folder.iterdir() if p.name not in ("__pycache__", "__init__.py")}
        assert set(order) - {"*"} <= parts, room
        left = parts - set(order)
        assert not left or "*" in order, f"{room} does not know where {left} stand"
        assert not [part for part in left if (folder / part).is_dir()], room


def test_no_folder_is_a_hall() -> None:
    for folder in folders():
        held = [p for p in folder.glob("*.py") if p.name != "__init__.py"]
        assert len(held) <= MOST_MODULES, f"{folder.name} holds {len(held)} modules"


def test_every_room_says_what_it_is() -> None:
    for folder in folders():
        text = (folder / "__init__.py").read_text("utf-8")
        assert ast.get_docstring(ast.parse(text)), folder


def test_back_edges_are_seen_however_they_are_written() -> None:
    for line in (
        "import penstock.engine.local",
        "from penstock.engine import local",
        "from penstock import engine",
        "from ...engine import local",
        "def late():\n    from penstock.engine.local import open_run",
        "import pyspark.sql",
        "from sqlglot import exp",
    ):
        assert faults("penstock.plan.text.parse", line), line


def test_back_edges_inside_a_room_are_seen() -> None:
    for module, line in (
        ("penstock.engine.state.store", "from penstock.engine.join.pack import pack"),
        ("penstock.engine.rows.layout", "from penstock.engine.run import pipeline"),
        ("penstock.engine.local", "import penstock.engine.spark.start"),
        ("penstock.optimize.model.load", "from penstock.optimize.planner import decide"),
        ("penstock.plan.tree", "from penstock.plan.text.parse import parse_plan"),
        ("penstock.plan.explain.rows", "from penstock.plan.explain.pictures import svg"),
        ("penstock.cql.reading.text", "from penstock.cql.script import parse"),
        ("penstock.sampling.analyze", "from penstock.calibration.fit import fit"),
        ("penstock.errors", "from penstock.figure import Figure"),
        ("penstock.figure", "from penstock.query import Query"),
    ):
        assert faults(module, line), (module, line)


def test_what_the_tables_allow_passes() -> None:
    for module, line in (
        ("penstock.engine.join.legs", "from penstock.query.keys import key_classes"),
        ("penstock.engine.join.legs", "from penstock.engine.rows.layout import Layout"),
        ("penstock.engine.spark.java", "from penstock.errors import SetupError"),
        ("penstock.engine.spark.start", "import pyspark"),
        ("penstock.cql.reading.text", "import sqlglot"),
        ("penstock.stats.guess", "from penstock.cql import parse"),
        ("penstock.plan.text.parse", "from .notation import words"),
        ("penstock.arguments", "from penstock.errors import UsageError"),
    ):
        assert faults(module, line) == [], (module, line)
    assert faults("penstock.engine.local", "import pyspark") != []


CHANGES = {
    "makedirs",
    "mkdir",
    "link",
    "symlink",
    "replace",
    "rename",
    "unlink",
    "rmdir",
    "truncate",
}


def test_the_engine_changes_local_files_through_one_door() -> None:
    """So that a simulated disk sees all of it; neither copies of what a store has nor what Spark's
    JVM logs are files that a query counts on."""
    engine = SOURCE / "engine"
    others = [
        path
        for path in engine.rglob("*.py")
        if path.name not in ("disk.py", "copies.py") and path.parent != engine / "spark"
    ]
    found = {
        f"{path.name}: os.{node.attr}"
        for path in others
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in CHANGES
        if isinstance(node.value, ast.Name) and node.value.id == "os"
    }
    assert found == set()
