"""A plan that is pinned from outside: later runs follow it too, until somebody says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.engine.control.order import OrderKind, give
from penstock.engine.local import LocalRun
from penstock.engine.places.place import Place
from penstock.engine.reports.standing import standing_of
from penstock.engine.state.pin import read_pin, write_pin
from penstock.engine.state.store import Store
from penstock.plan.text.parse import render_plan
from support.engines.reported import answers_in, following, script, write_file
from support.waiting import wait_until

FOUND = "a: b; b: a"
"""What the planner makes of the query."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(Place.of(tmp_path / "checkpoint"))


def order(store: Store, kind: OrderKind, value: str) -> None:
    given = give(store, kind, value)
    wait_until(lambda: given.name in [answer.order for answer in answers_in(store.root.path)])


def opened(tmp_path: Path, store: Store, plan: str | None = None, **more: Any) -> LocalRun:
    query = ps.sql(script(tmp_path), engine="local", plan=plan)
    return query.local(sink="noop", checkpoint=store.root.path, available_now=True, **more)


def plan_of(run: LocalRun) -> str:
    """The plan that a run begins with, and ends without a batch."""
    with run:
        return render_plan(run.pipeline.plan)


@pytest.fixture
def pinned(tmp_path: Path, store: Store) -> Store:
    """A checkpoint whose run was given a plan, and has ended since."""
    with following(script(tmp_path), store.root.path):
        order(store, "pin", "(a b)")
        assert standing_of(store, 0.0).pinned == "(a b)"
    return store


def test_a_pin_outlives_its_run(tmp_path: Path, pinned: Store) -> None:
    for name in "ab":
        write_file(tmp_path, name, 4)
    with following(script(tmp_path), pinned.root.path) as run:
        report = run.reports[0]
        assert report.plan == "(a b)"
        assert [change.plan for change in report.changes] == ["(a b)"]
        assert "pinned before this run" in report.changes[0].reason
        # The streams are followed again as soon as somebody says so, and no run is pinned then.
        order(pinned, "replan", "on")
    assert read_pin(pinned) is None
    assert plan_of(opened(tmp_path, pinned)) == FOUND


@pytest.mark.parametrize("value", ["on", "advise", "off"])
def test_any_order_to_replan_ends_a_pin(tmp_path: Path, store: Store, value: str) -> None:
    with following(script(tmp_path), store.root.path):
        order(store, "pin", "(a b)")
        order(store, "replan", value)
    assert read_pin(store) is None
    assert plan_of(opened(tmp_path, store)) == FOUND


@pytest.mark.parametrize("more", [{"replan": "on"}, {"replan": "off"}, {"plan": FOUND}])
def test_a_run_that_says_how_it_plans_ends_a_pin(
    tmp_path: Path, pinned: Store, more: dict[str, Any]
) -> None:
    assert plan_of(opened(tmp_path, pinned)) == "(a b)"
    assert plan_of(opened(tmp_path, pinned, **more)) == FOUND
    assert read_pin(pinned) is None
    assert plan_of(opened(tmp_path, pinned)) == FOUND


def test_what_is_refused_is_not_pinned(tmp_path: Path, pinned: Store) -> None:
    for name in "ab":
        write_file(tmp_path, name, 4)
    with following(script(tmp_path), pinned.root.path):
        order(pinned, "pin", "(a c)")
    assert read_pin(pinned) == "(a b)"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"plan": 3}', '{"plan": "(a x)"}'])
def test_a_pin_that_cannot_be_followed_is_none(tmp_path: Path, pinned: Store, text: str) -> None:
    (tmp_path / "checkpoint" / "plans" / "pinned.json").write_text(text)
    assert plan_of(opened(tmp_path, pinned)) == FOUND


def test_a_pin_far_away(tmp_path: Path) -> None:
    store = Store(Place.of(f"mock://host/{tmp_path.name}/ck?x=y"))
    assert read_pin(store) is None
    write_pin(store, "(a b)")
    write_pin(store, "(b a)")
    assert read_pin(store) == "(b a)"
