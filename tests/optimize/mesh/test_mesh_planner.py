"""The planner and query meshes: when one is chosen, what it should cost, how it is shown."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.api import temporary_checkpoint
from penstock.cql import parse
from penstock.cql.goal import parse_goal
from penstock.errors import PlanError
from penstock.figure import Figure
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.optimize.settle import mesh_notes
from penstock.plan.decision import Decision
from penstock.plan.explain import explain
from penstock.plan.mesh import Eddy, Goes, MeshJoin, Screen, Split
from penstock.plan.mesh_search import MeshSearch, Plateau, Rounds, Start, StopRule, Strategy, Work
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.text.parse import render_plan
from penstock.query import Query
from penstock.sampling.analyze import analyze
from penstock.stats.costs import Costs
from penstock.stats.files.dump import dump
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import GivenCondition, Statistics, StreamFigures
from penstock.stats.training import Training
from support.paths import ROOT
from support.plans.planning import query_of

EXAMPLE = ROOT / "examples" / "stocks" / "stocks.py"
UNIT = Costs("declared", probe=1e-6)
SLOW = ("S.a > 1", "S.b > 1")
MESH = frozenset({"mesh"})


@cache
def one() -> Query:
    """A query of two filters."""
    return query_of("SELECT S.a FROM S [NOW] WHERE S.a > 1 AND S.b > 1", {"S": "a b c"})


@cache
def three() -> Query:
    """A query of three streams and a filter."""
    return query_of(
        "SELECT S.a FROM N [RANGE 10 SECONDS], R [RANGE 10 SECONDS], S [NOW] "
        "WHERE S.a = N.a AND S.b = R.b AND S.c > 1",
        {"N": "a", "R": "b", "S": "a b c d"},
    )


def known_of(
    query: Query,
    costs: dict[str, float],
    training: dict[str, Training],
    passing: float = 0.5,
    rate: float = 1000.0,
) -> Known:
    """A query whose filters take so many seconds, with the given training tuples."""
    sure = {text: GivenCondition(declared(passing), declared(s)) for text, s in costs.items()}
    streams = {item.alias: StreamFigures(declared(rate)) for item in query.streams}
    given = Statistics(query, streams, conditions=sure, costs=UNIT, training=training)
    return complete(query, given)


def declared(value: float) -> Figure:
    return Figure(value, "declared")


def classes(operators: tuple[str, ...], *yields: tuple[float, ...]) -> Training:
    """Tuples of S whose column c tells which of the given yields they have."""
    parts = tuple(1 / len(yields) for _ in yields)
    values = tuple((float(number),) for number in range(len(yields)))
    return Training("S", ("c",), values, parts, operators, yields)


def opposite() -> Known:
    """Two filters of 100 µs; half of the tuples fail at one, half at the other."""
    training = classes(SLOW, (0.0, 1.0), (1.0, 0.0))
    return known_of(one(), dict.fromkeys(SLOW, 1e-4), {"S": training})


def meshed(decision: Decision) -> MeshJoin:
    assert isinstance(decision.plan, MeshJoin)
    return decision.plan


def test_tuples_that_fail_at_different_filters_take_different_routes() -> None:
    decision = decide(opposite())
    (mesh,) = meshed(decision).meshes
    orders = [[str(o.condition) for o in r.operators if isinstance(o, Screen)] for r in mesh.routes]
    assert sorted(orders) == [["S.a > 1", "S.b > 1"], ["S.b > 1", "S.a > 1"]]
    assert isinstance(mesh.classifier, Split)
    assert mesh.classifier.attribute == "c"
    assert mesh.shares == (0.5, 0.5)


def test_a_mesh_costs_the_single_plan_less_its_gain() -> None:
    decision = decide(opposite(), PlanOptions(alternatives=True))
    (single,) = [a for a in decision.others if isinstance(a.plan, MultiwayJoin)]
    # Half of the tuples stop at the first filter: 100 µs and half of 100 µs, 1,000 times a second.
    assert single.estimate.needed == pytest.approx(0.15, rel=1e-4)
    prospect = meshed(decision).meshes[0].prospect
    assert prospect is not None
    assert prospect.single == pytest.approx(1.5e-4, rel=0.01)
    assert prospect.mesh == pytest.approx(1.0e-4, rel=0.01)
    spared = decision.chosen.estimate.needed - single.estimate.needed
    assert spared == pytest.approx(-1000 * (prospect.single - prospect.mesh), rel=0.02)
    assert decision.chosen.estimate.output_rate == single.estimate.output_rate


@pytest.mark.parametrize(
    "options",
    [
        PlanOptions(off=frozenset({"mesh"})),
        PlanOptions(kinds=frozenset({"tree", "multiway"})),
    ],
)
def test_a_mesh_can_be_left_out(options: PlanOptions) -> None:
    decision = decide(opposite(), replace(options, alternatives=True))
    assert isinstance(decision.plan, MultiwayJoin)
    assert not any(isinstance(a.plan, MeshJoin) for a in decision.others)


@pytest.mark.parametrize("goal", ["first:1000", "by:5s"])
def test_a_mesh_has_results_sooner(goal: str) -> None:
    """Too little time for all tuples: with 100 instead of 150 µs each, half as many more come
    through in a time."""
    known = replace(opposite(), capacity=declared(0.05))
    decision = decide(known, PlanOptions(goal=parse_goal(goal), alternatives=True))
    meshed(decision)
    (single,) = [a for a in decision.others if isinstance(a.plan, MultiwayJoin)]
    mine, its = decision.chosen.estimate.measure, single.estimate.measure
    assert mine is not None
    assert its is not None
    ratio = its / mine if goal.startswith("first") else mine / its
    assert ratio == pytest.approx(1.5, rel=0.02)


def counted(select: str) -> Known:
    """A query over ROWS windows whose tuples fail at one filter or the other."""
    text = f"SELECT {select} FROM S [ROWS 5], N [ROWS 5] WHERE S.a = N.a AND S.a > 1 AND S.b > 1"
    operators = (*SLOW, "N")
    training = classes(operators, (0.0, 1.0, 1.0), (1.0, 0.0, 1.0))
    return known_of(
        query_of(text, {"S": "a b c", "N": "a"}), dict.fromkeys(SLOW, 1e-4), {"S": training}
    )


def test_rows_windows_may_have_a_mesh() -> None:
    plan = meshed(decide(counted("S.a AS a")))
    assert len(plan.mesh("S").routes) == 2


def test_a_mesh_may_aggregate_early() -> None:
    """Tuples fail at one filter or the other, and few cells are left of many."""
    text = (
        "SELECT N.a, COUNT(*) AS n FROM S [RANGE 100 SECONDS], N [RANGE 100 SECONDS] "
        "WHERE S.a = N.a AND S.a > 1 AND S.b > 1 GROUP BY N.a EVERY 10 SECONDS"
    )
    query = query_of(text, {"S": "a b c", "N": "a"})
    training = classes((*SLOW, "N"), (0.0, 1.0, 1e4), (1.0, 0.0, 1e4))
    streams = {a: StreamFigures(declared(1000.0), None, {"a": declared(10.0)}) for a in "SN"}
    costs = {text: GivenCondition(declared(0.5), declared(1e-4)) for text in SLOW}
    given = Statistics(query, streams, conditions=costs, costs=UNIT, training={"S": training})
    known = complete(query, given)
    off = frozenset({"recompute", "late-filters"})
    decision = decide(known, PlanOptions(alternatives=True, off=off))
    plan = meshed(decision)
    assert plan.early == ("S", "N")
    assert len(plan.mesh("S").routes) == 2
    singles = [a for a in decision.others if a.plan.early == plan.early]
    least = min(a.estimate.needed for a in singles if isinstance(a.plan, MultiwayJoin))
    # 50 µs of 150 are spared for each of 1,000 tuples a second.
    assert least - decision.chosen.estimate.needed == pytest.approx(0.05, rel=0.1)
    forced = decide(known, PlanOptions(plan=render_plan(plan), off=off))
    assert forced.chosen.estimate.needed == pytest.approx(decision.chosen.estimate.needed)


def test_views_over_rows_windows_have_no_mesh() -> None:
    known = counted("COUNT(*) AS n")
    assert isinstance(decide(known).plan, MultiwayJoin)
    with pytest.raises(PlanError, match="no plan is left") as caught:
        decide(known, PlanOptions(kinds=MESH))
    assert caught.value.hint is not None
    assert "ROWS" in caught.value.hint


def test_tuples_that_are_alike_take_one_route_and_explain_says_why() -> None:
    training = classes(SLOW, (0.5, 0.5), (0.5, 0.5))
    known = known_of(one(), dict.fromkeys(SLOW, 1e-4), {"S": training})
    assert isinstance(decide(known).plan, MultiwayJoin)
    assert "one route for S: " in explain(decide(known))
    (mesh,) = meshed(decide(known, PlanOptions(kinds=MESH))).meshes
    assert len(mesh.routes) == 1
    assert mesh.classifier == Goes(0)


@pytest.mark.parametrize("kinds", [MESH, PlanOptions().kinds])
def test_training_of_another_query_is_not_used(kinds: frozenset[str]) -> None:
    training = classes(("S.a > 2", "S.b > 1"), (0.0, 1.0), (1.0, 0.0))
    known = known_of(one(), dict.fromkeys(SLOW, 1e-4), {"S": training})
    text = explain(decide(known, PlanOptions(kinds=kinds)))
    assert "one route for S: its training is of another query" in text


def test_without_training_a_mesh_has_one_route_if_it_is_all_that_is_wanted() -> None:
    known = known_of(three(), {"S.c > 1": 1e-7}, {})
    assert not any(isinstance(a.plan, MeshJoin) for a in decide(known).others)
    decision = decide(known, PlanOptions(kinds=MESH))
    assert [len(mesh.routes) for mesh in meshed(decision).meshes] == [1, 1, 1]
    assert "one route for N, R, S: it has no training" in explain(decision)
    single = decide(known, PlanOptions(kinds=frozenset({"multiway"})))
    assert decision.chosen.estimate.needed == pytest.approx(single.chosen.estimate.needed)
    assert decision.chosen.estimate.state == pytest.approx(single.chosen.estimate.state)


def test_explain_says_why_training_failed() -> None:
    known = known_of(one(), dict.fromkeys(SLOW, 1e-4), {})
    decision = decide(replace(known, untrained={"S": "the sample is empty"}))
    assert isinstance(decision.plan, MultiwayJoin)
    assert "one route for S: the sample is empty" in explain(decision)


def test_few_tuples_are_not_worth_a_second_route() -> None:
    few = replace(opposite(), rates={"S": declared(0.1)})
    assert isinstance(decide(opposite()).plan, MeshJoin)
    assert isinstance(decide(few).plan, MultiwayJoin)
    assert "one route for S: so few tuples come" in " ".join(explain(decide(few)).split())


def test_why_there_is_one_route_is_said_once() -> None:
    others = decide(replace(opposite(), rates={"S": declared(0.1)})).others
    (mesh,) = [each for each in others if isinstance(each.plan, MeshJoin)]
    (note,) = mesh_notes([mesh, *others])
    assert note.startswith("one route for S: so few tuples come")


def three_ways() -> Known:
    """A class for each operator that comes first: the filter, N, and R leave next to nothing."""
    training = classes(("S.c > 1", "N", "R"), (0.01, 5.0, 5.0), (1.0, 0.01, 5.0), (1.0, 5.0, 0.01))
    return known_of(three(), {"S.c > 1": 5e-6}, {"S": training})


def test_a_filter_that_comes_after_a_probe_waits() -> None:
    plan = meshed(decide(three_ways()))
    assert [str(c) for c in plan.query.thetas] == ["S.c > 1"]
    assert plan.query.filters == ()
    firsts = {str(route.operators[0]) for route in plan.mesh("S").routes}
    assert len(firsts) == 3
    for route in plan.mesh("S").routes:
        assert {type(o).__name__ for o in route.operators} == {"Probe", "Screen"}
    assert decide(three_ways()).chosen.estimate.needed < plan_needed(three_ways())


def plan_needed(known: Known) -> float:
    options = PlanOptions(kinds=frozenset({"multiway"}))
    return decide(known, options).chosen.estimate.needed


def test_filters_that_come_first_everywhere_stay_filters() -> None:
    plan = meshed(decide(opposite()))
    assert plan.query.thetas == ()
    assert [str(c) for c in plan.query.filters] == list(SLOW)


def test_a_mesh_sheds() -> None:
    known = replace(opposite(), capacity=declared(0.05))
    decision = decide(known, PlanOptions(sheds=True))
    (kept,) = dict(meshed(decision).drops.kept).values()
    assert kept == pytest.approx(0.5, rel=0.05)
    assert decision.chosen.estimate.utilization == pytest.approx(0.05, rel=1e-3)


def test_text_shows_the_tree_and_the_routes() -> None:
    lines = explain(decide(opposite())).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("mesh"))
    assert lines[0].startswith("MeshJoin of one input")
    assert "2 routes" in lines[1]
    assert lines[start : start + 6] == [
        "mesh    S: 2 routes, 33.2 % less work than one (0.15 ms → 0.1 ms a tuple)",
        "  c ≤ 0.5",
        "  ├─ yes: route 1",
        "  └─ no: route 2",
        "  route 1  50 %  0.1 ms  [S.a > 1] → [S.b > 1]",
        "  route 2  50 %  0.1 ms  [S.b > 1] → [S.a > 1]",
    ]


def as_json(decision: Decision) -> dict[str, Any]:
    chosen: dict[str, Any] = json.loads(explain(decision, "json"))["chosen"]
    return chosen


def test_json_has_the_mesh() -> None:
    chosen = as_json(decide(opposite()))
    assert chosen["kind"] == "mesh"
    assert chosen["probe_orders"] == {"S": []}
    mesh = chosen["mesh"]["S"]
    assert mesh["classifier"] == {
        "attribute": "c",
        "limit": 0.5,
        "passed": {"route": 0},
        "failed": {"route": 1},
    }
    assert [route["order"] for route in mesh["routes"]] == [
        ["S.a > 1", "S.b > 1"],
        ["S.b > 1", "S.a > 1"],
    ]
    assert [route["share"] for route in mesh["routes"]] == [0.5, 0.5]
    assert [route["cost"] for route in mesh["routes"]] == pytest.approx([1e-4, 1e-4], rel=0.01)
    assert mesh["gain"] == pytest.approx(1 / 3, rel=0.01)
    assert mesh["reason"] is None


def test_json_has_the_orders_of_the_main_routes() -> None:
    chosen = as_json(decide(three_ways()))
    assert set(chosen["probe_orders"]) == {"N", "R", "S"}
    assert set(chosen["probe_orders"]["S"]) == {"N", "R"}
    assert chosen["mesh"]["N"]["reason"] == "it has no training"
    assert len(chosen["mesh"]["S"]["routes"]) == 3


@pytest.mark.parametrize("format", ["mermaid", "dot", "html"])
def test_pictures_show_every_route(format: str) -> None:
    text = explain(decide(three_ways()), format, alternatives=True)
    for name in ("route 1", "route 2", "route 3"):
        assert name in text
    assert "S.c" in text


def test_a_text_attribute_is_shown_by_its_values() -> None:
    known = opposite()
    training = replace(known.training["S"], values=(("bio",), ("tech",)))
    text = explain(decide(replace(known, training={"S": training})))
    assert "  c in (bio)\n" in text or "  c in (tech)\n" in text


@pytest.mark.parametrize(("text", "batch"), [("eddy", 1), ("eddy:100", 100), (" EDDY : 7 ", 7)])
def test_an_eddy_can_be_forced(text: str, batch: int) -> None:
    decision = decide(opposite(), PlanOptions(plan=text))
    assert decision.plan == Eddy(decision.plan.query, batch)
    chosen = as_json(decision)
    assert chosen["kind"] == "eddy"
    assert chosen["batch"] == batch
    assert chosen["plan"] == ("eddy" if batch == 1 else f"eddy:{batch}")
    for format in ("text", "mermaid", "dot", "html"):
        assert "eddy" in explain(decision, format)
    joined = explain(decide(three_ways(), PlanOptions(plan=text)))
    assert "an eddy finds its orders as it runs" in joined


@pytest.mark.parametrize("batch", ["0", "-1", "x", "", "1.5"])
def test_an_eddy_has_a_batch_of_tuples(batch: str) -> None:
    with pytest.raises(PlanError, match="an eddy's batch is a number of tuples") as caught:
        decide(opposite(), PlanOptions(plan=f"eddy:{batch}"))
    assert caught.value.hint == "write eddy:100 for one decision for a hundred tuples"


def test_a_mesh_is_forced_by_the_text_that_explain_prints() -> None:
    found = decide(opposite())
    forced = decide(opposite(), PlanOptions(plan=str(as_json(found)["plan"])))
    assert forced.is_forced
    assert forced.plan == found.plan
    assert meshed(forced).mesh("S").prospect == meshed(found).mesh("S").prospect
    assert forced.chosen.estimate.needed == pytest.approx(found.chosen.estimate.needed)


@pytest.mark.parametrize("search", ["opt", "ii", "sa"])
@pytest.mark.parametrize("start", ["route", "content", "random", "one", "each"])
def test_the_search_can_be_chosen(search: Strategy, start: Start) -> None:
    wanted = MeshSearch(search, start, Plateau(), window=500, ruster=20)
    found = decide(opposite(), PlanOptions(mesh=wanted))
    plan = meshed(found)
    assert plan.meshes == meshed(decide(opposite())).meshes
    assert (plan.search, plan.window, plan.ruster) == (wanted, 500, 20)
    told = explain(found)
    assert f"searched for with search={search}, start={start}, stop=plateau" in told
    assert "500 tuples of a stream are classified together; fewer than 20 go with" in told
    assert as_json(found)["mesh_search"] == {
        "search": search, "start": start, "stop": "plateau", "window": 500, "ruster": 20
    }  # fmt: skip


def test_more_work_finds_no_dearer_mesh() -> None:
    """Whatever the rule, the same input gives the same mesh."""
    rules: list[StopRule | None] = [
        Work(1),
        Work(40),
        Work(400),
        Rounds(1),
        Rounds(20),
        Plateau(),
        None,
    ]
    found = {}
    for rule in rules:
        plans = [
            meshed(decide(three_ways(), PlanOptions(mesh=MeshSearch(stop=rule)))) for _ in "ab"
        ]
        assert plans[0] == plans[1]
        prospect = plans[0].mesh("S").prospect
        assert prospect is not None
        found[rule] = prospect.mesh
    assert found[Work(400)] <= found[Work(40)]
    assert found[Rounds(20)] <= found[Rounds(1)]


def test_the_laboratory_plans_a_mesh() -> None:
    decision = decide(three_ways(), PlanOptions(engine="laboratory"))
    methods = {
        o.method
        for route in meshed(decision).mesh("S").routes
        for o in route.operators
        if not isinstance(o, Screen)
    }
    assert methods <= {"hash", "nested"}


def test_the_example_runs_by_a_mesh_and_gives_the_same_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = runpy.run_path(str(EXAMPLE))
    example["make_data"](Path("data/stocks"), 3_000)
    functions = [example["matches"], example["contains"]]
    text = EXAMPLE.with_suffix(".cql").read_text()
    Path("stocks.toml").write_text(dump(analyze(parse(text, functions=functions))))
    results = {}
    for kind in ("mesh", "multiway"):
        query = ps.sql(text, stats="stocks.toml", functions=functions, kinds=[kind], engine="local")
        with temporary_checkpoint() as checkpoint:
            run = query.local(sink=ps.jsonl(f"{kind}.jsonl"), checkpoint=checkpoint)
            run.available_now()
        results[kind] = sorted(Path(f"{kind}.jsonl").read_text().splitlines())
        if kind == "mesh":
            assert len(meshed(query.decision).mesh("S").routes) > 1
    assert results["mesh"] == results["multiway"]
    assert len(results["mesh"]) > 100


def test_a_forced_mesh_may_be_worse_than_one_route() -> None:
    """Tuples that fail at one filter meet the other first."""
    text = "mesh S: [S.a > 1] [S.b > 1] or [S.b > 1] [S.a > 1] by if c <= 0.5 then 2 else 1"
    forced = decide(opposite(), PlanOptions(plan=text))
    assert "33.4 % more work than one (0.15 ms → 0.2 ms a tuple)" in explain(forced)
    assert forced.chosen.estimate.needed == pytest.approx(0.2, rel=0.01)
