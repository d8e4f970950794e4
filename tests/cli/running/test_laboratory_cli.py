"""`penstock run --engine local --eager`: any plan, and what it says on stderr."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from penstock.cli.main import app
from penstock.errors import PlanError

STREAM = """
CREATE STREAM {name} (k BIGINT, j BIGINT, t TIMESTAMP)
  WITH (format='synthetic', rate=100, rows=300, timestamp='t');"""
SCRIPT = (
    "".join(STREAM.format(name=name) for name in "ABC")
    + """
SELECT A.k, C.j FROM A [RANGE 1 SECOND], B [RANGE 1 SECOND], C [RANGE 1 SECOND]
WHERE A.k = B.k AND B.j = C.j"""
)
# Each tuple takes 5 ms at a join and 300 come in a second: more than one core has time for.
STATS = """
capacity = 1.0
[streams]
A = {rate = 100.0}
B = {rate = 100.0}
C = {rate = 100.0}
[joins]
"A.k = B.k" = {selectivity = 0.01}
"B.j = C.j" = {selectivity = 0.01}
[costs]
join = 0.005
"""

Invoked = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Invoked:
    (tmp_path / "query.cql").write_text(SCRIPT)
    (tmp_path / "stats.toml").write_text(STATS)

    def penstock(*arguments: str) -> Result:
        stats = str(tmp_path / "stats.toml")
        common = ("--engine", "local", "--sink", "noop", "--plan", "((A B) C)", "--stats", stats)
        return CliRunner().invoke(app, ["run", str(tmp_path / "query.cql"), *common, *arguments])

    return penstock


@pytest.mark.parametrize("mode", [("--eager",), ("--every", "1s")])
def test_a_tree_runs_and_what_was_shed_is_said(run: Invoked, mode: tuple[str, ...]) -> None:
    done = run(*mode, "--shed")
    assert done.exit_code == 0, done.output
    assert "(A B) " in done.stderr.splitlines()[-2]
    assert done.stderr.splitlines()[-1].startswith("shed: A ")


def test_a_simulated_clock_charges_inner_rows_too(run: Invoked) -> None:
    done = run("--eager", "--shed", "--cost", "inserts=0.001")
    assert done.exit_code == 0, done.output
    said = r"([\d,]+) tuples, ([\d,]+) inserts.*\nbusy ([\d.]+) s \(simulated\)"
    counts = re.search(said, done.stderr)
    assert counts is not None, done.stderr
    tuples, inserts, busy = (float(number.replace(",", "")) for number in counts.groups())
    assert inserts > tuples
    assert busy == pytest.approx(inserts / 1_000, abs=0.001)


def test_bucket_counts_are_obeyed_and_swept(run: Invoked) -> None:
    few = run("--eager", "--shed", *("--buckets", "A=2", "--buckets", "B=3", "--buckets", "C=4"))
    swept = run("--eager", "--shed", "--sweep", "buckets", "--buckets", "A=2", "--buckets", "B=3")
    assert (few.exit_code, swept.exit_code) == (0, 0), (few.output, swept.output)

    def count(done: Result, kind: str) -> int:
        found = re.search(rf"([\d,]+) {kind}", done.stderr)
        assert found is not None, done.stderr
        return int(found.group(1).replace(",", ""))

    assert count(few, "compares") > count(run("--eager", "--shed"), "compares")
    assert count(swept, "sweeps") > count(few, "sweeps")


def test_little_memory_is_obeyed_and_too_little_refused(tmp_path: Path) -> None:
    """Windows of 100 tuples with one key, two in B's: 8,000 bytes."""
    (tmp_path / "query.cql").write_text(SCRIPT)
    costs = "[costs]\ninsert = 1e-8\nprobe = 1e-8\ncompare = 6e-9\nhash = 3e-9\n"

    def penstock(memory: int) -> Result:
        (tmp_path / "stats.toml").write_text(
            f"memory = {memory}\n" + STATS.split("[costs]", maxsplit=1)[0] + costs
        )
        stats = ("--stats", str(tmp_path / "stats.toml"))
        common = ("--engine", "local", "--sink", "noop", "--eager")
        return CliRunner().invoke(app, ["run", str(tmp_path / "query.cql"), *common, *stats])

    enough, little, none = (penstock(memory) for memory in (1_000_000, 8_000, 7_999))
    assert (enough.exit_code, little.exit_code) == (0, 0), (enough.output, little.output)
    assert ", 0 probes" in little.stderr
    assert ", 0 probes" not in enough.stderr
    assert isinstance(none.exception, PlanError)
    assert "a memory of 7,999 bytes does not hold the windows, which take 8,000" in str(
        none.exception
    )


def test_a_filter_that_takes_time_is_charged(tmp_path: Path) -> None:
    """300 tuples of half a millisecond each, of which nobody waits for one."""
    (tmp_path / "one.cql").write_text(
        STREAM.format(name="A") + "SELECT A.k FROM A [ROWS 3] WHERE A.k >= 0"
    )
    (tmp_path / "one.toml").write_text("[filters]\n'A.k >= 0' = {cost = 0.0005}\n")
    stats = ("--stats", str(tmp_path / "one.toml"), "--cost", "known", "--cost", "inserts=0")
    common = ("--engine", "local", "--sink", "noop", "--eager", *stats)
    done = CliRunner().invoke(app, ["run", str(tmp_path / "one.cql"), *common])
    assert done.exit_code == 0, done.output
    assert "by themselves 0.150 s" in done.stderr


def test_costs_of_single_windows_are_charged(tmp_path: Path) -> None:
    """300 tuples of A are inserted at a millisecond, and each probes B for two."""
    (tmp_path / "two.cql").write_text(
        "".join(STREAM.format(name=name) for name in "AB")
        + "SELECT A.k FROM A [ROWS 3], B [ROWS 3] WHERE A.k = B.k"
    )
    (tmp_path / "two.toml").write_text(
        "streams.A.costs = {insert = 0.001}\nstreams.B.costs = {probe = 0.002}\n"
        "[costs]\ncompare = 0.0\n"
    )
    stats = ("--stats", str(tmp_path / "two.toml"), "--cost", "known")
    common = ("--engine", "local", "--sink", "noop", "--eager", "--plan", "(A B)", *stats)
    done = CliRunner().invoke(app, ["run", str(tmp_path / "two.cql"), *common])
    assert done.exit_code == 0, done.output
    assert "busy 0.900 s (simulated)" in done.stderr


@pytest.mark.parametrize("mode", [("--eager",), ("--every", "1s")])
def test_one_stream_alone_runs(mode: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "one.cql").write_text(
        STREAM.format(name="A") + "SELECT A.k FROM A [ROWS 3] WHERE A.k >= 0"
    )
    common = ("--engine", "local", "--sink", "noop")
    done = CliRunner().invoke(app, ["run", str(tmp_path / "one.cql"), *common, *mode])
    assert done.exit_code == 0, done.output
    assert "300 results" in done.stderr


def test_what_is_no_length_of_time_is_told_with_the_units(run: Invoked) -> None:
    done = run("--every", "1000")
    assert done.exit_code == 2
    assert "'1000' is not a length of time; the units are MICROSECONDS" in done.stderr


def test_explain_plans_for_joins_every_so_often_in_the_laboratory_only(tmp_path: Path) -> None:
    (tmp_path / "query.cql").write_text(SCRIPT)
    common = ["explain", str(tmp_path / "query.cql"), "--kinds", "multiway", "--every", "2s"]
    shown = CliRunner().invoke(app, [*common, "--engine", "laboratory"])
    assert shown.exit_code == 0, shown.output
    assert "joined every τ = 2 s" in " ".join(shown.stdout.split())
    refused = CliRunner().invoke(app, [*common, "--engine", "local"])
    assert refused.exit_code == 2
    assert "--engine laboratory" in refused.stderr


VIEW = """
SELECT A.k, COUNT(*) AS n, SUM(B.j) AS total FROM A [RANGE 1 SECOND], B [ROWS 50]
WHERE A.k = B.k GROUP BY A.k EVERY 500 MILLISECONDS"""


@pytest.mark.parametrize("plan", [(), ("--plan", "A: B; B: A | early A B")], ids=["any", "early"])
def test_a_view_is_told_as_in_batches(plan: tuple[str, ...], tmp_path: Path) -> None:
    script = tmp_path / "view.cql"
    script.write_text("".join(STREAM.format(name=name) for name in "AB") + VIEW)
    found = []
    for name, way in (("eager", ("--eager",)), ("batches", ("--available-now", "--drain"))):
        out = tmp_path / f"{name}.jsonl"
        kept = () if name == "eager" else ("--checkpoint", str(tmp_path / "ckpt"))
        common = ("run", str(script), "--engine", "local", "--sink", f"jsonl:{out}")
        done = CliRunner().invoke(app, [*common, *way, *plan, *kept])
        assert done.exit_code == 0, done.output
        if name == "eager":
            assert re.search(r"[\d,]+ of rows to fold into, [\d,]+ of groups", done.stderr)
        found.append(sorted(out.read_text().splitlines()))
    assert found[0] == found[1]
    assert len(found[0]) > 50


@pytest.mark.parametrize(
    "option",
    [
        ("--cost", "known"),
        ("--sweep", "windows"),
        ("--buckets", "A=2"),
        ("--expire", "5s"),
        ("--servers", "each"),
    ],
)
def test_options_of_the_laboratory_are_refused_without_it(
    run: Invoked, option: tuple[str, str]
) -> None:
    done = run(*option, "--available-now")
    assert done.exit_code == 2, done.output
    assert option[0] in done.stderr
    assert "--eager or --every" in re.sub(r"\W*\n\W*", " ", done.stderr)


def test_tuple_by_tuple_and_every_so_often_exclude_each_other(run: Invoked) -> None:
    done = run("--eager", "--every", "1s")
    assert done.exit_code == 2, done.output
    assert "leave out --every" in done.stderr


def test_busy_seconds_say_of_which_servers_they_are(run: Invoked) -> None:
    done = run("--eager", "--shed", "--servers", "each", "--cost", "inserts=0.001")
    assert done.exit_code == 0, done.output
    assert " s of all servers (simulated)" in done.stderr
    assert " of the busiest server\n" in done.stderr


def test_input_of_one_moment_has_no_utilization(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("k,t\n1,2024-01-01T00:00:00Z\n")
    source = f"(k BIGINT, t TIMESTAMP) WITH (format='csv', path='{path}', timestamp='t');\n"
    text = "".join(f"CREATE STREAM {name} {source}" for name in "AB")
    join = "SELECT A.k FROM A [RANGE 1 SECOND], B [RANGE 1 SECOND] WHERE A.k = B.k"
    (tmp_path / "one.cql").write_text(text + join)
    asked = ["--engine", "local", "--sink", "noop", "--eager", "--cost", "compares=1e-6"]
    done = CliRunner().invoke(app, ["run", str(tmp_path / "one.cql"), *asked])
    assert done.exit_code == 0, done.output
    assert "no utilization: all input has one time" in done.stderr
    assert "inf" not in done.stderr
