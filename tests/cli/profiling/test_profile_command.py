"""`penstock profile`: real runs on both engines, and what it says when something is missing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from penstock.cli.main import app
from penstock.cli.profiling import sampler, usage
from penstock.errors import PenstockError, SetupError
from support.waiting import PATIENCE

SCRIPT = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT) WITH (format = 'synthetic', timestamp = 'ts', rate = 500,
  duration = '6 seconds', max_time = '2 seconds', seed = 1, values = 'k: uniform(0, 50)');
CREATE STREAM b (ts TIMESTAMP, k BIGINT) WITH (format = 'synthetic', timestamp = 'ts', rate = 500,
  duration = '6 seconds', max_time = '2 seconds', seed = 2, values = 'k: uniform(0, 50)');
SELECT a.k FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.k = b.k;
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "query.cql"
    path.write_text(SCRIPT)
    return path


def profile(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["profile", *map(str, arguments)])


def assert_whole(made: dict[str, Any], engine: str) -> None:
    """Its parts add up, as far as py-spy may look into processes here."""
    assert (made["engine"], made["batches"], made["tuples"]) == (engine, 3, 6000)
    wall, cpu = made["wall"], made["cpu"]
    assert sum(each["seconds"] for each in wall["phases"]) >= 0.95 * wall["seconds"]
    assert wall["accounted"] >= 0.95
    assert sum(each["seconds"] for each in cpu["kinds"]) == pytest.approx(cpu["seconds"])
    named = {each["name"] for each in wall["phases"]}
    assert {"Python, planning", "pack", "round 0", "commit", "ending"} <= named
    kinds = {each["kind"] for each in cpu["kinds"]}
    assert ("Python start and imports" in kinds) == (not made["notes"])


def test_a_run_in_one_process_is_accounted_for(script: Path, tmp_path: Path) -> None:
    flame = tmp_path / "flame.svg"
    done = profile(script, "--engine", "local", "--format", "json", "--output", flame)
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert_whole(made, "local")
    assert made["cpu"]["kinds"][0]["jvm"] == 0.0
    assert flame.read_text("utf-8").startswith("<svg")


@pytest.mark.spark
@pytest.mark.slow
def test_a_run_on_spark_is_accounted_for(script: Path) -> None:
    done = profile(script, "--format", "json", "--", "--master", "local[2]", "--partitions", 2)
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert_whole(made, "spark")
    assert {"starting Spark", "spark"} <= {each["name"] for each in made["wall"]["phases"]}
    jvm = {each["kind"]: each["jvm"] for each in made["cpu"]["kinds"]}
    assert jvm["Spark's scheduling"] > 0.0


def test_options_after_dashes_are_those_of_the_run(script: Path, tmp_path: Path) -> None:
    results, state = tmp_path / "results.jsonl", tmp_path / "state"
    options = ["--sink", f"jsonl:{results}", "--drain", "--available-now", f"--checkpoint={state}"]
    done = profile(script, "--engine", "local", "--", *options)
    assert done.exit_code == 0, done.output
    assert results.read_text("utf-8").count("\n") > 0
    assert (state / "reports" / "run.json").exists()
    assert "adds up to" in done.stdout
    assert "batch 0" not in done.stdout


def test_ctrl_c_ends_the_run_and_shows_what_there_was(script: Path) -> None:
    program = "from penstock.cli.main import main; main()"
    asked = ["profile", str(script), "--engine", "local", "--", "--trigger", "1s"]
    command = [sys.executable, "-c", program, *asked]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        told = next((line for line in process.stderr if line.startswith("batch 0")), None)
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate(timeout=PATIENCE)
    assert told is not None
    assert process.returncode == 0
    assert "adds up to" in shown
    assert "--trigger 1s" in shown


def test_without_py_spy_the_other_tables_are_shown(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    done = profile(script, "--engine", "local")
    assert done.exit_code == 0, done.output
    assert "Python, not sampled" in done.stdout
    assert "wall seconds by phase" in done.stdout
    assert "py-spy is missing" in done.stdout
    assert "python -m pip install 'penstock[profile]'" in done.stdout


def test_a_py_spy_that_may_not_trace_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = tmp_path / "py-spy"
    refused.write_text(
        f"#!{sys.executable}\nimport sys\nsys.exit('Permission Denied: no ptrace')\n"
    )
    refused.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda *_, **__: str(refused))
    found = sampler.find_sampler()
    assert found.path is None
    assert found.note is not None
    assert "SYS_PTRACE" in found.note
    assert "Permission Denied: no ptrace" in found.note


def test_without_psutil_it_is_said_how_to_install_it(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(usage, "import_module", missing)
    done = profile(script, "--engine", "local")
    assert isinstance(done.exception, SetupError)
    assert "penstock[profile]" in str(done.exception)


def test_a_file_that_is_not_there_is_an_error() -> None:
    done = profile("nowhere.cql", "--engine", "local")
    assert isinstance(done.exception, PenstockError)
    assert "cannot read nowhere.cql" in str(done.exception)


def test_a_run_that_fails_has_no_profile(tmp_path: Path) -> None:
    path = tmp_path / "bad.cql"
    path.write_text("SELEC nothing")
    done = profile(path, "--engine", "local")
    assert isinstance(done.exception, PenstockError)
    assert "the run failed" in str(done.exception)
    assert "a statement cannot begin with 'SELEC'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--", "--engine", "local"], "give it before --"),
        (["--", "--every=5s"], "the laboratory runs in no batches"),
        (["--output", "flame.png"], "its name ends with .svg or .json"),
        (["--seconds", "10"], "goes with benchmarks alone"),
    ],
)
def test_what_cannot_be_profiled_is_refused(arguments: list[str], said: str, script: Path) -> None:
    done = profile(script, *arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
