"""Training tuples: what they are taken from, how they are condensed, written and read back."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps
from penstock.cql import parse
from penstock.errors import StatsError
from penstock.plan.mesh_filters import with_waiting
from penstock.query import Query
from penstock.sampling.analyze import analyze
from penstock.sampling.condense import MOST_TUPLES, attributes_in, condense
from penstock.sampling.yields import windows_of
from penstock.stats.files.dump import dump
from penstock.stats.files.load import load, loads
from penstock.stats.files.save import save
from penstock.stats.guess import complete
from penstock.stats.statistics import Statistics
from penstock.stats.training import Training, operators_of


@cache
def a_chain() -> Query:
    """A join of three inputs beside a theta join."""
    return parse(
        "CREATE STREAM A (ts TIMESTAMP, k BIGINT) "
        "WITH (format='synthetic', rate=1, timestamp='ts');"
        "CREATE STREAM B (ts TIMESTAMP, k BIGINT, j BIGINT) "
        "WITH (format='synthetic', rate=1, timestamp='ts');"
        "CREATE TABLE C (j BIGINT) WITH (format='csv', path='c');"
        "CREATE STREAM D (ts TIMESTAMP, v BIGINT) "
        "WITH (format='synthetic', rate=1, timestamp='ts');"
        "SELECT A.k FROM A [NOW], B [RANGE 1 SECOND], C, D [RANGE 1 SECOND] "
        "WHERE A.k = B.k AND B.j = C.j AND A.k < D.v"
    )


def test_probes_yield_what_a_full_window_holds_of_a_key() -> None:
    rows = {
        "A": pa.table({"k": [1, 2]}),
        "B": pa.table({"k": [1, 1, 2, None], "j": [7, 8, 8, 8]}),
        "C": pa.table({"j": [7, 8, 8, 8]}),
        "D": pa.table({"v": [1, 2]}),
    }
    drawn = {"A": pa.table({"k": [1, 2, 3, None]}), "D": pa.table({"v": [5]})}
    windows = windows_of(a_chain(), rows, drawn, {"A": 2.0, "B": 8.0, "C": 4.0, "D": 6.0})
    assert windows.matches("A", "B", 4).tolist() == [4.0, 2.0, 0.0, 0.0]
    # Of B's two tuples with key 1 one finds one row of C, the other three.
    assert windows.matches("A", "C", 4).tolist() == [2.0, 3.0, 0.0, 0.0]
    assert windows.matches("A", "D", 4).tolist() == [6.0] * 4
    assert windows.matches("D", "C", 1).tolist() == [4.0]


def test_attributes_are_numbers_and_texts_of_few_values() -> None:
    rows = pa.table(
        {
            "flag": pa.array([True, False, None]),
            "day": pa.array([1, 2, 3], pa.date32()),
            "time": pa.array([1_000, 2_000, 3_000], pa.timestamp("us", "UTC")),
            "size": pa.array([1.5, float("nan"), 2.5]),
            "same": pa.array([1, 1, 1]),
            "name": pa.array(["a", "b", None], pa.large_string()),
        }
    )
    found = {name: column.to_pylist() for name, column in attributes_in(rows).items()}
    assert found == {
        "flag": [1.0, 0.0, None],
        "day": [1.0, 2.0, 3.0],
        "time": [1_000.0, 2_000.0, 3_000.0],
        "size": [1.5, None, 2.5],
        "name": ["a", "b", None],
    }
    names = pa.table({"name": pa.array([f"n{i}" for i in range(100)], pa.large_string())})
    assert attributes_in(names) == {}


def test_groups_are_alike_in_content_and_in_behaviour() -> None:
    rng = np.random.default_rng(3)
    sector, noise = rng.integers(0, 3, 1000), rng.random(1000)
    names = pa.array(np.array(["bank", "oil", "tech"])[sector], pa.large_string())
    passes = np.array([0.05, 0.9, 0.9])[sector] > rng.random(1000)
    matching = np.array([40.0, 40.0, 0.5])[sector]
    found = condense(
        {"sector": names, "noise": pa.array(noise)}, np.column_stack([passes, matching])
    )
    by_sector = {values[0]: (w, y) for values, w, y in zip(*_parts(found), strict=True)}
    assert len(found.weights) == len(by_sector) == 3
    assert sum(found.weights) == pytest.approx(1.0)
    assert by_sector["bank"][1] == pytest.approx((0.05, 40.0), abs=0.04)
    assert by_sector["oil"][1] == pytest.approx((0.9, 40.0), abs=0.04)
    assert by_sector["tech"][1] == pytest.approx((0.9, 0.5), abs=0.04)


def _parts(found: object) -> tuple[list[object], ...]:
    return tuple(list(getattr(found, name)) for name in ("values", "weights", "yields"))


def test_chance_makes_no_groups() -> None:
    rng = np.random.default_rng(4)
    columns = {name: pa.array(rng.random(1000)) for name in "xyz"}
    found = condense(columns, (rng.random((1000, 4)) < 0.5).astype(np.float64))
    assert found.weights == (1.0,)


def test_there_are_never_too_many_groups() -> None:
    x = np.random.default_rng(5).permutation(1000).astype(np.float64)
    found = condense({"x": pa.array(x), "y": pa.array(x % 7)}, np.column_stack([x, 999 - x]))
    assert 8 < len(found.weights) <= MOST_TUPLES
    assert len({values[0] for values in found.values}) == len(found.values)


def test_a_filter_that_all_pass_hides_nothing_of_the_others() -> None:
    kind = np.arange(1000) % 2
    yields = np.column_stack([np.ones(1000), kind, 1 - kind]).astype(np.float64)
    found = condense({"kind": pa.array(kind.astype(np.float64))}, yields)
    assert sorted(found.yields) == [(1.0, 0.0, 1.0), (1.0, 1.0, 0.0)]


def test_null_is_a_behaviour_too() -> None:
    x = pa.array([None if i % 2 else float(i) for i in range(400)])
    found = condense({"x": x}, np.array([[float(i % 2)] for i in range(400)]))
    assert sorted(zip((v[0] is None for v in found.values), found.yields, strict=True)) == [
        (False, (0.0,)),
        (True, (1.0,)),
    ]


def synthetic(name: str, values: str, seed: int, more: str = "") -> str:
    return (
        f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, x DOUBLE, c STRING) WITH ("
        "format = 'synthetic', timestamp = 'ts', rate = 100, "
        f"seed = {seed}, values = '{values}'{more});\n"
    )


@ps.function(cost="10 us")
def strict(text: str, x: float) -> bool:
    """Whether x is small; fails on large ones."""
    if x > 0.5:
        raise ValueError("too large")
    return x < 0.25


def sampled(select: str, *functions: ps.Function, more: str = "") -> Statistics:
    script = synthetic("A", "k: zipf(1.2, 50), x: uniform(0.0, 1.0), c: choice(''u'', ''v'')", 1)
    script += synthetic("B", "k: uniform(0, 50), c: constant(''w'')", 2, more)
    return analyze(parse(script + select, functions=functions), rows=4_000)


def test_analyze_trains_every_stream_whose_tuples_have_a_choice() -> None:
    known = sampled("SELECT A.x FROM A [RANGE 4 SECONDS], B [RANGE 10 SECONDS] "
                    "WHERE A.k = B.k AND A.x < 0.5")  # fmt: skip
    assert list(known.training) == ["A"]
    training = known.training["A"]
    assert training.operators == ("A.x < 0.5", "B")
    assert training.attributes == ("k", "x", "c")
    assert sum(training.weights) == pytest.approx(1.0, abs=1e-3)
    yields = np.average(training.yields, axis=0, weights=training.weights)
    # A thousand tuples of B are in its window, each matches one in fifty of A's.
    assert yields == pytest.approx([0.5, 20.0], rel=0.1)
    assert complete(known.query, known).training == known.training


@pytest.mark.parametrize(
    "select",
    [
        "SELECT A.x FROM A [RANGE 4 SECONDS], B [RANGE 10 SECONDS] WHERE A.k = B.k",
        "SELECT COUNT(*) AS n FROM A [ROWS 4], B [RANGE 1 SECOND] WHERE A.k = B.k AND A.x < 0.5",
    ],
)
def test_there_is_no_training_where_it_is_of_no_use(select: str) -> None:
    assert sampled(select).training == {}


def test_a_filter_that_waits_is_trained_as_one_that_does_not() -> None:
    """Operators and yields are the same, whichever filters stand late in the plan."""
    script = synthetic("A", "k: zipf(1.2, 50), x: uniform(0.0, 1.0), c: choice(''u'', ''v'')", 1)
    script += synthetic("B", "k: uniform(0, 50), x: uniform(0.0, 1.0)", 2)
    query = parse(
        script + "SELECT A.x FROM A [RANGE 4 SECONDS], B [RANGE 10 SECONDS] "
        "WHERE A.k = B.k AND A.c = 'u' AND A.x < 0.5 AND B.x < 0.2"
    )
    early = analyze(query, rows=4_000).training
    assert set(early) == {"A", "B"}
    for late in (query.filters[:1], query.filters[1:], query.filters):
        found = analyze(with_waiting(query, late), rows=4_000).training
        assert set(found) == {"A", "B"}
        for driver, training in found.items():
            names = operators_of(with_waiting(query, late), driver)
            assert training.operators == names
            assert {len(row) for row in training.yields} == {len(names)}
            assert mean_yields(training) == pytest.approx(mean_yields(early[driver]), rel=0.1)


def mean_yields(training: Training) -> dict[str, float]:
    """The mean yield of each operator."""
    means = np.average(training.yields, axis=0, weights=training.weights)
    return dict(zip(training.operators, means.tolist(), strict=True))


def test_a_function_that_fails_on_the_sample_is_a_reason() -> None:
    known = sampled(
        "SELECT A.x FROM A [RANGE 4 SECONDS], B [RANGE 10 SECONDS] "
        "WHERE A.k = B.k AND A.x < 0.5 AND strict(A.c, A.x)",
        strict,
    )
    assert known.training == {}
    assert list(known.untrained) == ["A"]
    assert "strict" in known.untrained["A"]


def test_a_sample_without_partners_is_a_reason() -> None:
    known = sampled(
        "SELECT A.x FROM A [RANGE 4 SECONDS], B [RANGE 10 SECONDS] "
        "WHERE A.k = B.k AND A.x < 0.5 AND B.k < -1"
    )
    assert list(known.training) == ["B"]
    assert known.untrained == {"A": "the sample has no tuple of B that passes its filters"}


def test_filters_that_together_let_nothing_through_are_trained() -> None:
    known = sampled("SELECT A.x FROM A [NOW] WHERE A.c = 'u' AND A.c = 'v'")
    assert known.untrained == {}
    training = known.training["A"]
    found = dict(zip((values[2] for values in training.values), training.yields, strict=True))
    assert found == {"u": (1.0, 0.0), "v": (0.0, 1.0)}


@cache
def asked() -> Query:
    """A query with all that a choice can be about."""
    return parse(
        "CREATE STREAM S (ts TIMESTAMP, day DATE, c STRING, x DOUBLE) "
        "WITH (format='synthetic', rate=1, timestamp='ts');"
        "CREATE TABLE T (c STRING) WITH (format='csv', path='t');"
        "SELECT S.x FROM S [NOW], T WHERE S.c = T.c AND S.x < 5 AND S.c <> 'it''s \"x\"'"
    )


TRAINING = Training(
    "S",
    ("day", "c", "x"),
    ((1.0, 'it\'s "x"', 1e300), (None, None, -0.1), (1_700_000_000_000_001.0, "", None)),
    (0.5, 0.25, 0.25),
    ("S.x < 5.0", "S.c <> 'it''s \"x\"'", "T"),
    ((1.0, 0.0, 12.5), (0.333333, 1.0, 0.0), (0.0, 1.0, 1e-7)),
)


def test_training_reads_back_as_it_was_written() -> None:
    known = Statistics(asked(), training={"S": TRAINING})
    assert loads(dump(known), asked()).training == {"S": TRAINING}


def test_what_analyze_writes_reads_back(tmp_path: Path) -> None:
    known = sampled("SELECT A.x FROM A [RANGE 4 SECONDS], B [RANGE 10 SECONDS] "
                    "WHERE A.k = B.k AND A.x < 0.5")  # fmt: skip
    assert loads(dump(known), known.query) == known


def test_training_lies_in_a_file_of_its_own(tmp_path: Path) -> None:
    known = Statistics(asked(), training={"S": TRAINING}, untrained={}, horizon=60.0)
    files = save(known, tmp_path / "s.toml")
    assert [file.name for file in files] == ["s.training.toml", "s.toml"]
    figures = files[1].read_text(encoding="utf-8")
    assert 'training = "s.training.toml"' in figures
    assert "weights" not in figures
    assert "horizon" not in files[0].read_text(encoding="utf-8")
    assert load(files[1], asked()) == known
    assert sorted(file.name for file in tmp_path.iterdir()) == ["s.toml", "s.training.toml"]


def test_training_is_found_beside_the_figures_wherever_they_are_moved(tmp_path: Path) -> None:
    known = Statistics(asked(), training={"S": TRAINING})
    save(known, tmp_path / "s.toml")
    moved = tmp_path / "there"
    moved.mkdir()
    for file in ("s.toml", "s.training.toml"):
        (tmp_path / file).rename(moved / file)
    assert load(moved / "s.toml", asked()) == known


def test_without_training_there_is_one_file(tmp_path: Path) -> None:
    assert save(Statistics(asked(), horizon=60.0), tmp_path / "s.toml") == (tmp_path / "s.toml",)
    assert [file.name for file in tmp_path.iterdir()] == ["s.toml"]


def test_a_training_file_that_is_gone_or_wrong_is_named(tmp_path: Path) -> None:
    path, apart = tmp_path / "s.toml", tmp_path / "s.training.toml"
    save(Statistics(asked(), training={"S": TRAINING}), path)
    good = apart.read_text(encoding="utf-8")

    def refusal() -> str:
        with pytest.raises(StatsError) as caught:
            load(path, asked())
        return str(caught.value)

    apart.write_text(good.replace("training.S", "training.R"), encoding="utf-8")
    assert refusal().startswith(f"{apart}: training.R is no stream of the query")
    apart.write_text(good + "[filters]\n", encoding="utf-8")
    assert refusal() == f"{apart}: filters is not known\nhint: there is only training"
    apart.write_text("[training", encoding="utf-8")
    assert refusal().startswith("this is not TOML")
    apart.unlink()
    assert refusal() == (
        f"cannot read {apart}: No such file or directory\n"
        f"hint: put it back, take `training` out of {path}, or let penstock analyze write both"
    )


def test_reasons_for_no_training_read_back() -> None:
    known = Statistics(asked(), untrained={"S": 'it "failed"'})
    assert loads(dump(known), asked()) == known
    assert refused("[untrained]\nT = 'it failed'") == (
        "s.toml: untrained.T is no stream of the query\nhint: there is only S"
    )
    assert refused("[untrained]\nS = 1").startswith("s.toml: untrained.S must be a text\n")


def refused(text: str) -> str:
    with pytest.raises(StatsError) as caught:
        loads(text, asked(), "s.toml")
    return str(caught.value)


@cache
def good() -> str:
    """The text of training that can be read."""
    return dump(Statistics(asked(), training={"S": TRAINING}))


AGAIN = "penstock analyze writes this part: let it sample the sources again"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "training.S",
            "training.R",
            "training.R is no stream of the query\nhint: there is only S",
        ),
        (
            "training.S",
            "training.T",
            "training.T is no stream of the query\nhint: there is only S",
        ),
        ('"day"', '"dey"', "training.S.attributes: S has no column dey\nhint: did you mean day?"),
        (
            "weights = [0.5, 0.25, 0.25]",
            "weights = [0.5, 0.25, 0.5]",
            f"training.S has weights that add up to 1.25, not to 1\nhint: {AGAIN}",
        ),
        (
            "weights = [0.5, 0.25, 0.25]",
            "weights = [0.5, 0.5]",
            f"training.S has 2 weights, but 3 rows of values\nhint: {AGAIN}",
        ),
        (
            "weights = [0.5, 0.25, 0.25]",
            "weights = [1.0, 0.5, -0.5]",
            f"training.S.weights[3] is -0.5, but must be above 0 and finite\nhint: {AGAIN}",
        ),
        (
            "[1.0, 0.0, 12.5]",
            "[1.0, 0.0]",
            f"training.S has 3 operators, but row 1 of yields has 2\nhint: {AGAIN}",
        ),
        (
            "[1.0, 0.0, 12.5]",
            "[1.0, 0.0, nan]",
            f"training.S.yields[1][3] is nan, but must be at least 0 and finite\nhint: {AGAIN}",
        ),
        ("weights = [0.5, 0.25, 0.25]\n", "", f"training.S.weights is missing\nhint: {AGAIN}"),
        (
            "weights = [0.5, 0.25, 0.25]",
            "weights = 1.0",
            f"training.S.weights must be an array\nhint: {AGAIN}",
        ),
        (
            "1e+300",
            "true",
            "training.S.values[1][3] is True, but must be a text or a number; nan is NULL\n"
            f"hint: {AGAIN}",
        ),
    ],
)
def test_training_that_cannot_be_is_refused(old: str, new: str, message: str) -> None:
    assert old in good()
    assert refused(good().replace(old, new)) == f"s.toml: {message}"


def test_a_function_that_fails_on_the_sample_leaves_its_figures_to_guesses() -> None:
    known = sampled(
        "SELECT A.x FROM A [RANGE 4 SECONDS], B [RANGE 10 SECONDS] "
        "WHERE A.k = B.k AND strict(A.c, A.x) AND A.x < 0.5",
        strict,
    )
    assert list(known.conditions) == ["A.x < 0.5"]
    (note,) = [note for note in known.notes if "fails on the sample" in note]
    assert note.startswith("strict(A.c, A.x) fails on the sample, so its figures are guessed: ")
    assert "strict" in known.untrained["A"]


def test_values_that_four_bytes_do_not_hold_are_told_apart() -> None:
    x = np.where(np.arange(1000) % 2 == 0, 1e39, 1.0)
    x[::100] = -1e300
    found = condense({"x": pa.array(x)}, np.column_stack([x > 1.0, x <= 1.0]).astype(np.float64))
    of = dict(zip(found.values, found.yields, strict=True))
    assert of[(1e39,)] == (1.0, 0.0)
    assert of[(1.0,)] == (0.0, 1.0)
