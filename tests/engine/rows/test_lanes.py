"""Lanes: their names are those of columns in checkpoints, so that none may change."""

from __future__ import annotations

import pytest

from penstock.engine.rows.lanes import (
    COUNT,
    Lane,
    LaneKind,
    count_of,
    is_lane,
    known_of,
    lot_of,
    marks_of,
    sum_of,
    weight_of,
)
from penstock.engine.rows.sample_weights import quantities_of, results_quantities, sample_lanes
from penstock.engine.rows.value_lanes import lanes_of
from penstock.query import Column
from penstock.query.types import DataType
from penstock.query.view import Aggregate, AggregateFunction, View

# The names that checkpoints of 0.1 have.
NAMES = {
    COUNT: "=n",
    count_of("A"): "=n:A",
    known_of("x"): "=c:x",
    sum_of("x"): "=s:x",
    sum_of("x").error: "=e:x",
    Lane(LaneKind.MIN, "x"): "=min:x",
    Lane(LaneKind.MAX, "x"): "=max:x",
    Lane(LaneKind.TOTAL, "x"): "=t:x",
    Lane(LaneKind.SQUARES, "x"): "=q:x",
    Lane(LaneKind.NONFINITE, "x"): "=o:x",
    Lane(LaneKind.SET, "x"): "=d:x",
    Lane(LaneKind.REGISTERS, "x"): "=u:x",
    Lane(LaneKind.BUCKETS, "x"): "=p:x",
    weight_of("A"): "=w:A",
    lot_of("A"): "=h:A",
    marks_of("A"): "=b:A",
    COUNT.estimate: "=r:n",
    count_of("A").estimate: "=r:n:A",
    known_of("x").estimate: "=r:c:x",
    sum_of("x").estimate: "=r:s:x",
}


@pytest.mark.parametrize(("lane", "name"), NAMES.items(), ids=str)
def test_a_lane_has_its_name_and_is_read_from_it(lane: Lane, name: str) -> None:
    assert str(lane) == name
    assert Lane.parse(name) == lane
    assert is_lane(name)


def test_every_kind_has_a_name_above() -> None:
    assert {lane.kind for lane in NAMES} == set(LaneKind)


@pytest.mark.parametrize("argument", ["#a0", "a:b", "=n", "ü x", ":", "max"])
@pytest.mark.parametrize("kind", LaneKind)
def test_an_argument_may_be_any_text(kind: LaneKind, argument: str) -> None:
    lane = Lane(kind, argument)
    assert Lane.parse(str(lane)) == lane


@pytest.mark.parametrize("quantity", [COUNT, count_of("A"), known_of("x:y"), sum_of("x")], ids=str)
def test_an_estimate_knows_what_it_is_of(quantity: Lane) -> None:
    assert quantity.estimate.estimated == quantity


@pytest.mark.parametrize("name", ["", "n:A", "#ts", "A.x", ".g", "=", "=z:A", "=N:A"])
def test_other_columns_are_no_lanes(name: str) -> None:
    with pytest.raises(ValueError, match=r"no lane|not a valid LaneKind"):
        Lane.parse(name)


def test_only_sums_have_errors_and_only_estimates_are_of_others() -> None:
    with pytest.raises(AssertionError, match="only sums"):
        _ = COUNT.error
    with pytest.raises(AssertionError, match="only estimates"):
        _ = COUNT.estimated


def asking(*asked: tuple[AggregateFunction, str | None]) -> View:
    """A view with these functions of these arguments."""
    columns = [None if name is None else Column("", name, DataType.BIGINT) for _, name in asked]
    pairs = zip(asked, columns, strict=True)
    aggregates = (Aggregate(f"#{n}", of[0], c) for n, (of, c) in enumerate(pairs))
    return View((), tuple(aggregates), ())


@pytest.mark.parametrize(
    ("functions", "lanes", "quantities"),
    [
        (["count"], "=c:x", "=c:x"),
        (["sum"], "=c:x =s:x =e:x", "=s:x"),
        (["avg"], "=c:x =s:x =e:x", "=c:x =s:x"),
        (["min"], "=c:x =min:x", ""),
        (["max", "min", "sum"], "=c:x =s:x =e:x =min:x =max:x", "=s:x"),
    ],
)
def test_an_argument_has_the_lanes_that_its_aggregates_need(
    functions: list[AggregateFunction], lanes: str, quantities: str
) -> None:
    view = asking(*((function, "x") for function in functions), ("sum", "other"))
    assert " ".join(map(str, lanes_of(view, "x"))) == lanes
    assert " ".join(map(str, quantities_of(view, "x"))) == quantities


def test_a_view_has_the_quantities_of_all_its_arguments_each_once() -> None:
    view = asking(("count", None), ("avg", "x"), ("sum", "x"), ("min", "y"), ("count", "z"))
    assert view.arguments == ("x", "y", "z")
    assert list(map(str, results_quantities(view))) == ["=n", "=c:x", "=s:x", "=c:z"]
    lanes = sample_lanes("A", (count_of("A"), *quantities_of(view, "x")))
    assert list(map(str, lanes)) == ["=b:A", "=r:n:A", "=r:c:x", "=r:s:x"]
