"""`make test` and CI run all there is, and fail if any of it does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HALVES = [
    "-m pytest -q -n 2 --dist loadfile -m not spark",
    "-m pytest -q -n 2 --dist worksteal -m spark and not cluster",
]
CLUSTER = "-m pytest -q -m cluster tests/engine/spark"
KAFKA = "tests/support/kafka/real_broker.py --brokers 2 .venv/bin/python -m pytest -q -n 2"
TOOLS = [
    "bash",
    "cat",
    "cut",
    "dirname",
    "env",
    "grep",
    "make",
    "mktemp",
    "rm",
    "sh",
    "tail",
    "tee",
]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose environment is there, with an interpreter that only says what it is asked for.

    It fails at what the file `fails` names.
    """
    for name in ("Makefile", "pyproject.toml", ".ci"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    bin = tmp_path / ".venv" / "bin"
    bin.mkdir(parents=True)
    (tmp_path / "fails").write_text("")
    for name in ("python", "ruff", "mypy"):
        (bin / name).write_text(
            '#!/bin/sh\necho "$*" >> asked\n'
            '[ -s fails ] && case "$*" in *"$(cat fails)"*) exit 1;; esac\nexit 0\n'
        )
        (bin / name).chmod(0o755)
    (tmp_path / ".venv" / ".installed").touch()
    return tmp_path


def make_test(
    clone: Path, command: str, tools: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command, with no other tools than those in a folder if that is given."""
    env = None if tools is None else {**os.environ, "PATH": str(tools)}
    return subprocess.run(command.split(), cwd=clone, capture_output=True, text=True, env=env)


def tools_in(folder: Path, *more: str) -> Path:
    """A folder with a few tools, and some that do nothing."""
    folder.mkdir()
    for name in TOOLS:
        (folder / name).symlink_to(shutil.which(name) or name)
    for name in more:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("fails", "says"),
    [
        ("", None),
        ("not spark", "FAILED: those without Spark; see above"),
        ("-m spark", "FAILED: those on Spark; see above"),
        ("spark", "FAILED: those without Spark; those on Spark; see above"),
    ],
)
def test_both_halves_run_whichever_fails(fails: str, says: str | None, clone: Path) -> None:
    (clone / "fails").write_text(fails)
    done = make_test(clone, "make test")
    assert (clone / "asked").read_text().splitlines() == HALVES
    assert (done.returncode != 0) == bool(says)
    assert says is None or says in done.stderr


def test_ci_runs_the_tests_though_the_style_is_bad(clone: Path) -> None:
    (clone / "fails").write_text("check .")
    done = make_test(clone, ".ci/run", tools_in(clone / "tools"))
    assert done.returncode == 1
    assert (clone / "asked").read_text().splitlines()[-3:] == [*HALVES, CLUSTER]
    assert done.stdout.splitlines()[-1] == "failed: make lint"


def test_ci_says_last_which_tests_have_failed(clone: Path) -> None:
    python = clone / ".venv" / "bin" / "python"
    said = 'case "$*" in *"-m spark"*) echo "FAILED tests/test_it.py::test_it - it is so";; esac\n'
    python.write_text(python.read_text().replace("[ -s fails ]", f"{said}[ -s fails ]"))
    (clone / "fails").write_text("-m spark")
    done = make_test(clone, ".ci/run", tools_in(clone / "tools"))
    assert done.returncode == 1
    last = ["failed: make test", "FAILED tests/test_it.py::test_it - it is so"]
    assert done.stdout.splitlines()[-2:] == last


def test_ci_has_a_real_broker_of_kafka_where_there_is_maven(clone: Path) -> None:
    done = make_test(clone, ".ci/run", tools_in(clone / "tools", "mvn"))
    assert done.returncode == 0
    *before, last = (clone / "asked").read_text().splitlines()
    assert before[-3:] == [*HALVES, CLUSTER]
    assert last.startswith(KAFKA)
    assert "no Maven" not in done.stderr


def test_tests_say_in_a_line_that_there_is_no_maven(clone: Path) -> None:
    done = make_test(clone, "make test", tools_in(clone / "tools"))
    assert done.returncode == 0
    assert len([line for line in done.stderr.splitlines() if "no Maven" in line]) == 1


def test_every_test_with_golden_files_rewrites_them_when_asked() -> None:
    """`make golden` names all tests that know the variable by which it asks."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ngolden:")[1].split("\n\n")[0]
    asked = {word for word in recipe.split() if word.startswith("tests/")}
    asks = re.compile(r"PENSTOCK_GOLDEN\"|import as_reviewed")
    found = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    knows = {path.relative_to(ROOT).as_posix() for path in found if asks.search(path.read_text())}
    assert asked == knows
