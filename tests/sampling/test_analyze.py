"""`penstock analyze`: samples against known truth, and the command as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock.cql import parse
from penstock.errors import SourceError
from penstock.figure import Figure
from penstock.optimize.model.distinct import occupied
from penstock.optimize.model.folding import with_early
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.statistics_used import statistics_used
from penstock.query import Query
from penstock.query.keys import key_classes
from penstock.sampling.analyze import analyze
from penstock.sampling.estimate import estimate_distinct, estimate_fraction, estimate_rate
from penstock.stats.files.dump import dump
from penstock.stats.files.load import loads
from penstock.stats.guess import complete
from penstock.stats.statistics import Statistics, group_text


def made(name: str, rate: float, values: str, seed: int, more: str = "") -> str:
    """A synthetic stream with Poisson arrivals."""
    return (
        f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, m BIGINT, x DOUBLE) WITH ("
        f"format = 'synthetic', timestamp = 'ts', rate = {rate}, arrivals = 'poisson', "
        f"seed = {seed}, values = '{values}'{more});\n"
    )


def joins(statistics: Statistics) -> dict[str, Figure]:
    """The selectivities of joins by their text."""
    classes = key_classes(statistics.query)
    return {group_text(classes, group): f for group, f in statistics.groups.items()}


def near(figure: Figure | None, truth: float) -> bool:
    """Whether the truth is within four standard errors."""
    assert figure is not None
    assert figure.error is not None
    return abs(figure.value - truth) <= 4 * figure.error


def agreement(*exponents: float, n: int) -> float:
    """How often keys with these Zipf exponents over n values agree."""
    shares = [np.arange(1, n + 1) ** -s for s in exponents]
    return float(np.prod([p / p.sum() for p in shares], axis=0).sum())


@pytest.mark.parametrize("seed", range(6))
def test_samples_tell_the_truth_within_their_errors(seed: int) -> None:
    script = (
        made("A", 2000, "k: zipf(0.8, 300), x: uniform(0.0, 10.0), m: uniform(0, 50)", seed)
        + made("B", 150, "k: zipf(0.3, 300), x: uniform(0.0, 10.0), m: uniform(0, 50)", seed)
        + made("C", 30, "k: uniform(0, 300), x: uniform(0.0, 10.0), m: uniform(0, 50)", seed)
        + "SELECT * FROM A [RANGE 1 SECOND], B [ROWS 10], C [NOW] "
        "WHERE A.k = B.k AND B.k = C.k AND A.x < 2 AND A.x < B.x AND A.m >= 10 AND A.m < 30"
    )
    known = analyze(parse(script), rows=8_000, seconds=60)
    for alias, rate in {"A": 2000, "B": 150, "C": 30}.items():
        assert near(known.streams[alias].rate, rate)
        assert near(known.streams[alias].distinct["k"], 300)
    found = joins(known)
    assert near(found["A.k = B.k"], agreement(0.8, 0.3, n=300))
    assert near(found["A.k = C.k"], 1 / 300)
    assert near(found["B.k = C.k"], 1 / 300)
    assert near(found["A.k = B.k = C.k"], agreement(0.8, 0.3, 0, n=300))
    conditions = known.conditions
    assert near(conditions["A.x < 2.0"].selectivity, 0.2)
    assert near(conditions["A.m >= 10"].selectivity, 0.8)
    assert near(conditions["A.m < 30"].selectivity, 0.5)
    assert near(conditions["A.x < B.x"].selectivity, 0.9)
    assert all(each.cost is not None and each.cost.value > 0 for each in conditions.values())


def test_errors_are_not_larger_than_needed() -> None:
    script = made("A", 1000, "k: uniform(0, 100)", 1) + made("B", 1000, "k: uniform(0, 100)", 2)
    query = parse(script + "SELECT * FROM A [NOW], B [NOW] WHERE A.k = B.k")
    figure = joins(analyze(query, rows=20_000))["A.k = B.k"]
    assert figure.error is not None
    assert figure.error < 0.02 * figure.value


@pytest.mark.parametrize("values", ["uniform(0, 50)", "sequence()"])
def test_a_tuple_is_not_compared_with_itself(values: str) -> None:
    script = made("A", 1000, f"k: {values}", 3)
    query = parse(script + "SELECT * FROM A AS X [NOW], A AS Y [NOW] WHERE X.k = Y.k")
    known = analyze(query, rows=10_000)
    assert near(joins(known)["X.k = Y.k"], 1 / 50 if "uniform" in values else 0)
    assert known.streams["X"].rate == known.streams["Y"].rate


def test_keys_that_drift_are_compared_at_the_same_time() -> None:
    fast = made("A", 1000, "k: sequence()", 1).replace("poisson", "constant")
    slow = made("B", 100, "k: sequence()", 2).replace("poisson", "constant")
    query = parse(fast + slow + "SELECT * FROM A [NOW], B [NOW] WHERE A.k = B.k * 10")
    found = joins(analyze(query, rows=20_000))
    assert found["A.k = B.k * 10"].value == pytest.approx(1 / 20_000, rel=0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two small streams with NULL keys, and a table."""
    (tmp_path / "a.csv").write_text("ts,k,x\n1,1,1\n2,1,9\n3,2,1\n4,,1\n5,1,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("ts,k\n1,1\n2,2\n3,2\n5,3\n", encoding="utf-8")
    (tmp_path / "t.csv").write_text("id,name\n1,one\n2,two\n3,three\n", encoding="utf-8")
    (tmp_path / "empty.csv").write_text("ts,k\n", encoding="utf-8")
    return tmp_path


def script(folder: Path, select: str) -> str:
    return f"""\
CREATE STREAM A (ts BIGINT, k BIGINT, x INT)
  WITH (format = 'csv', path = '{folder}/a.csv', timestamp = 'ts', unit = 's');
CREATE STREAM B (ts BIGINT, k BIGINT)
  WITH (format = 'csv', path = '{folder}/b.csv', timestamp = 'ts', unit = 's');
CREATE STREAM E (ts BIGINT, k BIGINT)
  WITH (format = 'csv', path = '{folder}/empty.csv', timestamp = 'ts', unit = 's');
CREATE STREAM N (ts BIGINT, k BIGINT)
  WITH (format = 'csv', path = '{folder}/missing.csv', timestamp = 'ts', unit = 's');
CREATE STREAM R WITH (format = 'rate', rate = 7);
CREATE TABLE T (id BIGINT, name STRING) WITH (format = 'csv', path = '{folder}/t.csv');
{select}
"""


def test_null_keys_join_nothing_and_filters_come_first(folder: Path) -> None:
    select = "SELECT * FROM A [NOW], B [NOW], T WHERE A.k = B.k AND B.k = T.id AND A.x < 5"
    known = analyze(parse(script(folder, select)))
    assert known.conditions["A.x < 5"].selectivity is not None
    assert known.conditions["A.x < 5"].selectivity.value == 0.8
    # Of A are left 1, 2, NULL, 1; of B there are 1, 2, 2, 3.
    found = joins(known)
    assert found["A.k = B.k"].value == 2 / 4 * 1 / 4 + 1 / 4 * 2 / 4
    assert found["A.k = T.id"].value == 0.25
    assert found["B.k = T.id"].value == 0.333333
    assert known.streams["A"].rate is not None
    assert known.streams["A"].rate.value == 1.0
    assert known.streams["A"].cardinality is None
    assert known.streams["T"].cardinality == Figure(3.0, "sampled", 0.0)
    assert known.streams["T"].distinct == {"id": Figure(3.0, "sampled", 0.0)}
    assert "A: the input ended after 5 tuples." in known.notes


def test_what_decides_about_aggregation_sets_is_sampled() -> None:
    text = made("A", 2000, "k: uniform(0, 30), m: uniform(0, 20), x: uniform(0.0, 1.0)", 1)
    text += made("B", 2000, "k: uniform(0, 30), m: uniform(0, 900), x: uniform(0.0, 1.0)", 2)
    query = parse(
        text + "SELECT A.m, B.m % 5 AS r, COUNT(*) AS n FROM A [RANGE 1 SECOND], "
        "B [RANGE 1 SECOND] WHERE A.k = B.k AND B.m < 100 GROUP BY A.m, B.m % 5 EVERY 1 SECOND"
    )
    sampled = analyze(query, rows=30_000)
    first, second = sampled.streams["A"], sampled.streams["B"]
    assert near(first.distinct["m"], 20)
    assert near(second.distinct["m"], 900)
    assert near(first.cells, 30 * 20)
    # Only what passes its filter is aggregated, by what its group is computed to.
    assert near(second.cells, 30 * 5)
    assert loads(dump(sampled), query) == sampled
    known = complete(query, sampled)
    early = ("A", "B")
    folded = with_early(Problem(query, known), early)
    assert folded.inputs[0].window == pytest.approx(occupied(600, 2000), rel=0.05)
    whats = [each for each in statistics_used(known) if each.what.startswith("different")]
    assert {each.figure.origin for each in whats if not each.is_minor} == {"sampled"}
    assert "different A.k, A.m" in [each.what for each in whats]


def test_columns_that_depend_on_each_other_are_counted_together(folder: Path) -> None:
    rows = "".join(f"{i},{i % 40},{i % 40 // 8}\n" for i in range(4_000))
    (folder / "a.csv").write_text(f"ts,k,x\n{rows}", encoding="utf-8")
    select = "SELECT x, COUNT(*) AS n FROM A [NOW], B [NOW] WHERE A.k = B.k GROUP BY x"
    figures = analyze(parse(script(folder, select))).streams["A"]
    assert figures.distinct["x"].value == 5
    assert figures.cells == Figure(40.0, "sampled", 0.0)


def test_a_table_is_counted_beyond_its_sample(folder: Path) -> None:
    names = "".join(f"{i},n\n" for i in range(300))
    (folder / "t.csv").write_text(f"id,name\n{names}", encoding="utf-8")
    query = parse(script(folder, "SELECT * FROM A [NOW], T WHERE A.k = T.id"))
    table = analyze(query, rows=100).streams["T"]
    assert table.cardinality == Figure(300.0, "sampled", 0.0)
    assert table.distinct["id"].value > 100


def test_empty_and_foreign_sources_are_noted(folder: Path) -> None:
    select = "SELECT * FROM A [NOW], E [NOW], R [NOW] WHERE A.k = E.k AND A.k = R.value AND x > 99"
    known = analyze(parse(script(folder, select)))
    assert known.groups == {}
    assert known.streams["R"].rate == Figure(7.0, "declared")
    assert known.streams["E"].rate is None
    assert known.notes[-3:] == (
        "E: empty, nothing is known of it.",
        "R: Spark's rate source is not sampled; its rate is the declared one.",
        "A: no tuple of the sample passes its filters, so none was joined.",
    )
    assert known.untrained == {
        "A": "the sample has no tuple of E, R that passes its filters",
        "E": "the sample is empty",
        "R": "the sample is empty",
    }
    assert loads(dump(known), known.query) == known
    assert complete(known.query, known).rates["E"].origin == "guessed"


def test_a_column_of_nulls_joins_nothing(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "b.csv").write_text("ts,k\n1,\n2,\n", encoding="utf-8")
    (tmp_path / "a.csv").write_text("ts,k,x\n1,,1\n2,,2\n", encoding="utf-8")
    select = "SELECT * FROM A [NOW], B [NOW] WHERE A.k = B.k"
    known = analyze(parse(script(folder, select)))
    assert joins(known)["A.k = B.k"] == Figure(0.125, "sampled", 0.25)
    assert known.streams["A"].distinct == {}


def test_a_source_that_cannot_be_read_is_an_error(folder: Path) -> None:
    query = parse(script(folder, "SELECT * FROM A [NOW], N [NOW] WHERE A.k = N.k"))
    with pytest.raises(SourceError, match=r"cannot read .*missing\.csv"):
        analyze(query)


def slow_query(rows: int) -> Query:
    """A filter that takes a millisecond a tuple."""

    @penstock.function(cost="1 ms")
    def slow(value: int) -> bool:
        import time

        time.sleep(0.001)  # the cost that is to be measured
        return value % 2 == 0

    text = made("A", 1000, "k: uniform(0, 50)", 1, f", rows = {rows}")
    select = "SELECT * FROM A AS X [NOW], A AS Y [NOW] WHERE X.k = Y.k AND slow(X.k)"
    return parse(text + select, functions=[slow])


def test_a_slow_filter_is_tried_on_as_many_as_time_allows() -> None:
    known = analyze(slow_query(100_000), rows=100_000, seconds=1)
    figures = known.conditions["slow(X.k)"]
    assert near(figures.selectivity, 0.5)
    assert figures.cost is not None
    assert figures.cost.value > 0.001
    assert near(joins(known)["X.k = Y.k"], 1 / 50)


def test_progress_is_reported_up_to_the_rows_asked_for() -> None:
    text = made("A", 1000, "k: uniform(0, 50)", 1) + made("B", 10, "k: uniform(0, 50)", 1)
    query = parse(text + "SELECT * FROM A [NOW], B [NOW] WHERE A.k = B.k")
    seen: list[tuple[str, int]] = []
    analyze(query, rows=2_500, progress=lambda name, count: seen.append((name, count)))
    assert {name for name, _ in seen} == {"A", "B"}
    assert seen[-1] == ("B", 2_500)
    assert all(a[1] <= b[1] for a, b in pairwise(seen) if a[0] == b[0])


def test_a_rate_needs_time() -> None:
    assert estimate_rate([np.array([5, 5, 5])]) is None
    assert estimate_rate([np.arange(0, 1_000_001, 1_000)]) == Figure(1000.0, "sampled", 1.4)
    # The hour between two strips says nothing.
    apart = [np.arange(0, 500_001, 1_000) + 3_600_000_000 * strip for strip in range(2)]
    found = estimate_rate(apart)
    assert found is not None
    assert found.value == 1000.0


def test_distinct_counts_include_what_was_not_seen() -> None:
    codes = np.random.default_rng(1).integers(0, 10_000, 8_000)
    figure = estimate_distinct(codes, is_whole=False)
    seen = estimate_distinct(codes, is_whole=True)
    assert near(figure, 10_000)
    assert seen == Figure(float(len(np.unique(codes))), "sampled", 0.0)
    assert estimate_distinct(codes[:0], is_whole=False) is None


def test_of_values_that_are_all_different_there_are_no_more_than_can_be() -> None:
    """Without a value that came twice Chao's estimate is half the square of those seen."""
    codes = np.arange(5_000)
    for alive, value in ((12_000.0, 12_000.0), (100.0, 5_000.0)):
        assert estimate_distinct(codes, is_whole=False, alive=alive) == Figure(
            value, "sampled", value
        )
    table = estimate_distinct(codes, is_whole=False, rows=7_000.0)
    assert table == Figure(7_000.0, "sampled", 7_000.0)
    # Where some came twice it is known how many there are, whatever a window holds.
    drawn = np.random.default_rng(1).integers(0, 10_000, 8_000)
    assert near(estimate_distinct(drawn, is_whole=False, alive=10.0), 10_000)


def test_a_key_that_is_unique_has_as_many_values_as_its_window_holds() -> None:
    text = made("A", 1000, "k: sequence()", 1) + made("B", 1000, "k: uniform(0, 50)", 1)
    query = parse(text + "SELECT * FROM A [RANGE 20 SECONDS], B [NOW] WHERE A.k = B.k")
    distinct = analyze(query, rows=4_000).streams["A"].distinct["k"].value
    assert abs(distinct / 20_000 - 1) < 0.1


def test_no_hit_is_half_a_hit() -> None:
    assert estimate_fraction(0, 100).value == 0.005
    assert estimate_fraction(100, 100).value == 1.0


def command(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", "from penstock.cli.main import main; main()", "analyze"]
    return subprocess.run(
        [*line, *arguments], capture_output=True, text=True, input=stdin, encoding="utf-8"
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a command says, but for its progress, which a slow machine shows."""
    lines = done.stderr.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("sampling "))


def test_the_command_writes_a_stats_file(folder: Path) -> None:
    text = script(folder, "SELECT * FROM A [NOW], B [NOW] WHERE A.k = B.k")
    done = command("-", "--rows", "1000", "--seconds", "5", stdin=text)
    assert (done.returncode, said(done)) == (0, "")
    assert done.stdout.startswith("# Sampled by penstock analyze, up to 1,000 tuples")
    assert "A.k = B.k" in joins(loads(done.stdout, parse(text)))


def test_the_command_writes_all_or_nothing(folder: Path) -> None:
    output = folder / "s.toml"
    output.write_text("before", encoding="utf-8")
    broken = script(folder, "SELECT * FROM A [NOW], N [NOW] WHERE A.k = N.k")
    done = command("-", "--output", str(output), stdin=broken)
    assert done.returncode == 1
    assert said(done).startswith("error: cannot read")
    assert output.read_text(encoding="utf-8") == "before"
    sound = script(folder, "SELECT * FROM A [NOW], B [NOW] WHERE A.k = B.k")
    done = command("-", "--output", str(output), stdin=sound)
    assert (done.stdout, said(done), done.returncode) == ("", f"wrote {output}\n", 0)
    assert loads(output.read_text(encoding="utf-8"), parse(sound)).streams["A"].rate is not None
    done = command("-", "--output", str(folder), stdin=sound)
    assert (done.returncode, said(done)[:19]) == (1, "error: cannot write")
    assert not list(folder.parent.glob(f".{folder.name}.*"))
