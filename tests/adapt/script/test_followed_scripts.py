"""Scripts whose streams are followed: each query switches plans by its own figures, and results
stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import penstock as ps
from penstock.adapt.resume import measured_members
from penstock.adapt.script.script_streams import ScriptStreams
from penstock.cli.show.decisions import decision_lines
from penstock.engine.control.order import Order
from penstock.engine.places.place import Place
from penstock.engine.state.store import Store
from penstock.errors import UsageError
from penstock.plan.sharing.offers import offers
from penstock.watch.log_view import log_view
from support.adapt.followed_scripts import FollowedScript, follow_script, plans_of_queries
from support.streams.drifting import Drifting, steady, step

RATES = Drifting(
    "abc",
    step(12, {"a": 600, "b": 6, "c": 600}, {"a": 600, "b": 600, "c": 6}),
    steady({"a": 400, "b": 400, "c": 400}),
    batches=20,
)
TURNED = replace(
    RATES, tuples=step(8, {"a": 600, "b": 6, "c": 600}, {"a": 6, "b": 600, "c": 600}), batches=16
)
BACK = replace(TURNED, tuples=step(8, {"a": 6, "b": 600, "c": 600}, {"a": 600, "b": 6, "c": 600}))
OVER_EACH_OTHER = """
INTO every;
CREATE STREAM pair AS SELECT a.k AS k, b.ts AS at FROM a [RANGE 2 SECONDS], b [RANGE 1 SECOND]
WHERE a.k = b.k;
SELECT p.k, COUNT(*) AS n FROM pair [RANGE 1 SECOND] AS p, c [RANGE 1 SECOND], a [RANGE 1 SECOND]
WHERE p.k = c.k AND c.k = a.k GROUP BY p.k EVERY 2 SECONDS INTO counted
"""
SHARED = """
INTO every;
SELECT a.j, c.ts AS tc FROM a [RANGE 3 SECONDS], b [RANGE 4 SECONDS], c [RANGE 4 SECONDS]
WHERE a.k = b.k AND b.k = c.k INTO others;
SELECT a.ts AS ta, b.ts AS tb FROM a [RANGE 4 SECONDS], b [RANGE 3 SECONDS] WHERE a.k = b.k
INTO pairs
"""


STATS = """
[streams.a]
rate = 10
[joins]
"a.k = b.k" = {selectivity = 0.0025}
"b.k = c.k" = {selectivity = 0.0025}
"""


def asked(
    folder: Path, more: str, streams: Drifting = RATES, **options: object
) -> ps.ContinuousScript:
    streams.write(folder)
    wanted = {"engine": "local", "kinds": ["multiway"], **options}
    return ps.script(streams.script(folder) + more, **wanted)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> FollowedScript:
    folder = tmp_path_factory.mktemp("followed")
    return follow_script(asked(folder / "data", OVER_EACH_OTHER), folder / "on")


def test_each_query_switches_by_its_own_figures(followed: FollowedScript, tmp_path: Path) -> None:
    assert followed.changes("counted", "switch")
    assert [batch for batch, _ in followed.changes("every", "switch") if batch >= 12]
    assert min(b for b, _ in followed.changes("every", "drift") if b >= 12) <= 14
    calm = follow_script(asked(tmp_path / "data", OVER_EACH_OTHER), tmp_path / "off", "off")
    assert followed.results == calm.results
    assert len({str(plans_of_queries(report)) for report in calm.reports}) == 1


def test_reports_of_queries_have_predictions_and_figures(followed: FollowedScript) -> None:
    last = followed.reports[-1].members["counted"]
    assert last.prediction is not None
    assert {figure.what for figure in last.figures} >= {"rate of p", "rate of c"}
    assert last.inputs["p"].predicted_rate


def test_a_shared_join_is_switched_to_plans_that_others_can_take_from(tmp_path: Path) -> None:
    stats = tmp_path / "stats.toml"
    stats.write_text(STATS, encoding="utf-8")
    script = asked(tmp_path / "data", SHARED, TURNED, stats=stats)
    run = follow_script(script, tmp_path / "on")
    (sharing,) = run.planned.sharing
    assert set(sharing.takers) >= {"every", "others"}
    assert run.changes(sharing.maker, "switch")
    supervisor = run.supervisor.members[sharing.maker]
    taken = {
        frozenset(theirs for _, theirs in each.takes.aliases)
        for each in run.planned.script.members
        if each.takes is not None
    }
    assert offers(supervisor.running, taken)
    apart = asked(tmp_path / "data", SHARED, TURNED, off=["sharing"])
    assert run.results == follow_script(apart, tmp_path / "off", "off").results


@pytest.mark.parametrize(("queries", "streams"), [(OVER_EACH_OTHER, RATES), (SHARED, BACK)])
def test_a_later_run_begins_with_what_was_measured(
    queries: str, streams: Drifting, tmp_path: Path
) -> None:
    stats = tmp_path / "stats.toml"
    stats.write_text(STATS, encoding="utf-8")
    script = asked(tmp_path / "data", queries, streams, stats=stats)
    run = follow_script(script, tmp_path / "on")
    finding = {each.name for each in run.planned.script.members if each.takes is None}
    assert set(measured_members(str(tmp_path / "on" / "checkpoint"))) == finding
    sinks = {each.name: ps.noop() for each in run.planned.script.shown}
    again = script.local(sink=sinks, checkpoint=tmp_path / "on" / "checkpoint", overwrite=True)
    again.stop()
    by_now = plans_of_queries(run.reports[-1])
    assert by_now != plans_of_queries(run.reports[0])
    members = again.batches.members  # type: ignore[attr-defined]
    assert {each.name: each.turns.text for each in members} == by_now


def test_orders_are_for_all_queries(followed: FollowedScript) -> None:
    streams = ScriptStreams(followed.supervisor.members)
    assert streams.obey(Order("replan", "advise")) == "replan is advise"
    assert {each.replanner.mode for each in streams.members.values()} == {"advise"}
    with pytest.raises(UsageError, match="nobody can shed"):
        streams.obey(Order("shed", "on"))


def test_whoever_watches_a_script_is_told_of_its_queries(followed: FollowedScript) -> None:
    (batch, change), *_ = followed.changes("every", "switch")
    lines = list(decision_lines(followed.reports[batch]))
    assert f"another plan: every: {change.plan}: {change.reason}" in lines
    log = log_view(Store(Place.of(followed.folder / "checkpoint")), followed.reports, now=0.0)
    told = [each.change for each in log.decisions if each.batch == batch]
    assert f"every: {change.plan}" in [each.plan for each in told if each.kind == "switch"]
