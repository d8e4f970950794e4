"""Explain in its five formats, against golden files; PENSTOCK_GOLDEN=1 rewrites them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import reduce

import pytest

from penstock.errors import PlanError
from penstock.figure import Figure
from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.decision import Statistic
from penstock.plan.drops import NO_DROPS
from penstock.plan.explain import Format, explain
from penstock.plan.explain.figures import figures_of
from penstock.plan.explain.quantity import number, percent, seconds, statistic_text
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.physical import Physical
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.query import Query
from support import paths
from support.golden import as_reviewed
from support.plans.explained import DECISIONS, PICTURED, SOLVED, cheap, decided, shed_rows
from support.plans.plan_queries import (
    above,
    decision,
    equal,
    guessed,
    mixed,
    outputs,
    stream,
)

GOLDEN = paths.GOLDEN / "explain"
ENDINGS = {"text": "txt", "json": "json", "mermaid": "mmd", "dot": "dot", "html": "html"}

CASES = [
    *((name, "text") for name in DECISIONS),
    *((name, "json") for name in DECISIONS if name not in SOLVED),
    *((name, format) for name in PICTURED for format in ("mermaid", "dot", "html")),
]
EVERYTHING = pytest.mark.parametrize("name", DECISIONS)


@pytest.mark.parametrize(("name", "format"), CASES)
def test_explain_is_as_reviewed(name: str, format: str) -> None:
    said = explain(decided(name), format, alternatives=bool(decided(name).others))
    assert as_reviewed(GOLDEN / f"{name}.{ENDINGS[format]}", said)


def test_no_golden_file_is_left_over() -> None:
    known = {f"{name}.{ENDINGS[format]}" for name, format in CASES}
    scripts = ("script", "shared_script")
    known |= {f"{name}.{ending}" for name in scripts for ending in ENDINGS.values()}
    assert {path.name for path in GOLDEN.iterdir()} == known


@EVERYTHING
def test_the_plan_that_json_and_text_show_can_be_forced(name: str) -> None:
    made = decided(name)
    chosen = json.loads(explain(made, "json"))["chosen"]
    assert forced_plan(made.plan.query, chosen["plan"]) == replace(made.plan, drops=NO_DROPS)
    if isinstance(made.plan, MultiwayJoin):
        orders = {order.driver: list(order.targets) for order in made.plan.orders}
        alone = chosen.get("computed_anew")
        assert chosen["probe_orders"] == ({alone: orders[alone]} if alone else orders)


@EVERYTHING
def test_no_line_of_text_is_wider_than_a_page_but_for_plans(name: str) -> None:
    made = decided(name)
    plans = {render_plan(each.plan) for each in (made.chosen, *made.others)}
    lines = explain(made, alternatives=True).splitlines()
    wide = [line for line in lines if len(line) > 100]
    assert {line.removeprefix("plan").strip() for line in wide} <= plans


KEYS = [
    "version", "goal", "feasible", "chosen", "reason", "capacity", "shed", "forced",
    "rests_on_guesses", "inputs", "view", "outputs", "figures", "delay", "notes",
    "alternatives",
]  # fmt: skip
CHOSEN = [
    "kind", "shape", "plan", "probe_orders", "methods", "joins", "early_aggregation", "keep",
    "utilization", "needed", "output_rate", "full_rate", "state_tuples", "measure", "starting",
    "physical",
]  # fmt: skip
ALTERNATIVE = [
    "kind", "shape", "plan", "keep", "utilization", "needed", "output_rate", "full_rate",
    "state_tuples", "measure", "starting", "found_by",
]  # fmt: skip


OF_VIEWS = frozenset({"aggregation_sets", "computed_anew", "changes_rate", "early_aggregation"})


def names_beside(plan: Plan) -> frozenset[str]:
    """The names that JSON has for plans of some kinds alone."""
    view = frozenset[str]() if plan.query.view is None else OF_VIEWS
    match plan:
        case MeshJoin():
            return view | {"mesh", "mesh_search"}
        case Eddy():
            return view | {"batch"}
    return view


@EVERYTHING
def test_json_has_the_same_names_for_every_decision(name: str) -> None:
    made = decided(name)
    said = json.loads(explain(made, "json", alternatives=True))
    assert list(said) == KEYS
    chosen = list(said["chosen"])
    assert [key for key in chosen if key in CHOSEN] == CHOSEN
    assert set(chosen) == names_beside(made.plan).union(CHOSEN)
    assert len(said["alternatives"]) == len(made.others)
    more = (OF_VIEWS if made.plan.query.view else frozenset[str]()) - {"aggregation_sets"}
    for other in said["alternatives"]:
        assert [key for key in other if key in ALTERNATIVE] == ALTERNATIVE
        assert set(other) == more.union(ALTERNATIVE)
    assert json.loads(explain(made, "json"))["alternatives"] == []


def test_json_has_what_the_contract_promises() -> None:
    said = json.loads(explain(decided("left_deep"), "json", alternatives=True))
    assert (said["version"], said["goal"], said["feasible"]) == (1, "steady", True)
    chosen = said["chosen"]
    assert (chosen["kind"], chosen["shape"]) == ("tree", "((B C) A)")
    assert chosen["keep"] == {"A": 1.0, "B": 1.0, "C": 1.0}
    assert (chosen["utilization"], chosen["output_rate"], chosen["state_tuples"]) == (0.14, 1e3, 50)
    inner, last = chosen["joins"]
    assert inner == {
        "shape": "(B C)", "key": "B.b = C.b", "method": "sorted", "product": False,
        "output_rate": 180.0, "state_tuples": 20.0,
    }  # fmt: skip
    assert (last["key"], last["output_rate"], last["state_tuples"]) == ("B.a = A.a", 1000.0, 0.0)
    multiway, tree = said["alternatives"]
    assert (multiway["kind"], multiway["shape"]) == ("multiway", "(A B C)")
    assert (tree["kind"], tree["shape"], tree["utilization"]) == ("tree", "((A B) C)", 0.25)


def test_without_shedding_nothing_is_left_out() -> None:
    said = json.loads(explain(decided("infeasible"), "json"))
    assert (said["feasible"], said["shed"]) == (False, False)
    assert said["chosen"]["needed"] == said["chosen"]["utilization"] == 1.8
    assert set(said["chosen"]["keep"].values()) == {1.0}


def test_json_tells_what_shedding_leaves() -> None:
    said = json.loads(explain(shed_rows(), "json"))
    assert (said["feasible"], said["shed"]) == (False, True)
    assert said["chosen"]["needed"] == 1.8
    assert said["chosen"]["output_rate"] == pytest.approx(838.38, abs=0.01)
    assert said["chosen"]["full_rate"] == 1000.0
    assert said["chosen"]["keep"]["C"] == pytest.approx(0.19192, abs=1e-5)


def test_json_numbers_are_short_and_finite() -> None:
    made = decided("left_deep")
    endless = replace(made.chosen.estimate, state=float("inf"), utilization=1 / 3)
    said = explain(replace(made, chosen=replace(made.chosen, estimate=endless)), "json")
    assert json.loads(said)["chosen"]["state_tuples"] is None
    assert '"utilization": 0.333333333333,' in said


def test_where_rates_come_from_is_told() -> None:
    inputs = json.loads(explain(decided("mixed"), "json"))["inputs"]
    assert [item["rate_origin"] for item in inputs] == [
        "declared", "guessed", "declared", "declared"
    ]  # fmt: skip
    text = explain(decided("mixed"))
    assert re.search(r"B  PARTITION .* in +~2.41/s .* state +~1,000", text)
    assert re.search(r"A  ROWS 100 .* in +0.5/s .* state +100", text)


def test_what_follows_from_given_figures_is_not_marked_as_a_guess() -> None:
    assert "~" not in explain(decided("left_deep"))
    guess = Statistic("cost of join", Figure(5e-4, "guessed"), "s")
    used = (*(s for s in decided("left_deep").statistics if s.what != guess.what), guess)
    said = explain(replace(decided("left_deep"), statistics=used, rests_on_guesses=True))
    head = said.splitlines()[0]
    assert "out 1,000/s   util ~0.14 of 1   state 50 tuples" in head


def test_a_figure_with_its_error_or_rule() -> None:
    cost = Figure(5e-8, "guessed", rule="50 ns")
    used = (
        Statistic("rate of A", Figure(12.0, "sampled", error=0.3), "tuples/s"),
        Statistic("A.x > 5", Figure(0.1, "guessed", rule="range 1/3"), "passes"),
        Statistic("cost of A.x > 5", cost, "s", is_minor=True),
    )
    said = explain(replace(decided("left_deep"), statistics=used))
    assert re.search(r"^  rate of A  12 tuples/s  sampled  ± 0.3$", said, re.M)
    assert re.search(r"^  A.x > 5    10 % pass    guessed  range 1/3$", said, re.M)
    assert "cost of A.x > 5" not in said


def test_many_equal_figures_are_one_line() -> None:
    one = Figure(1.0, "declared")
    used = tuple(Statistic(f"rate of S{i}", one, "tuples/s") for i in range(9))
    said = explain(replace(decided("left_deep"), statistics=used))
    assert "rate of S0 and 8 more  1 tuples/s  declared" in said
    assert "S1" not in said


def test_a_theta_predicate_is_checked_as_soon_as_its_inputs_are_bound() -> None:
    (theta, _verify) = figures_of(decided("mixed")).checks
    assert theta.predicate == "A.a < D.a"
    assert dict(theta.places) == {"A": "D", "B": "D", "C": "D", "D": "A"}


def test_a_forced_order_moves_the_check() -> None:
    made = decision(guessed(mixed()), "B: D A C; A: D B A C")
    (theta, _verify) = figures_of(made).checks
    assert dict(theta.places)["B"] == "A"
    assert dict(theta.places)["A"] == "A"


@pytest.mark.parametrize(
    ("plan", "theta", "verify"),
    [
        ("((A B) (C D))", "((A B) (C D))", "(A B)"),
        ("((A D) (B C))", "(A D)", "((A D) (B C))"),
        ("(((A D) B) C)", "(A D)", "((A D) B)"),
    ],
)
def test_a_tree_checks_a_predicate_at_the_lowest_join_that_can(
    plan: str, theta: str, verify: str
) -> None:
    checks = figures_of(decision(guessed(mixed()), plan)).checks
    assert [check.where for check in checks] == [f"at {theta}", f"at {verify}"]


def test_joins_say_how_they_are_done() -> None:
    shown = {join.shape: join.phrase for join in figures_of(decided("bushy")).joins}
    assert shown == {
        "(A B)": "by A.a = B.a",
        "(C D)": "as a product",
        "((A B) (C D))": "by nested loops",
    }
    methods = {join.shape: join.phrase for join in figures_of(decided("tree_methods")).joins}
    assert methods == {
        "(A B)": "by hash on A.a = B.a",
        "((A B) C)": "by nested loops on B.b = C.b",
    }


def test_a_join_on_two_classes_names_both() -> None:
    (_, last) = figures_of(decision(cheap(), "((A C) B)")).joins
    assert last.phrase == "by A.a = B.a AND C.b = B.b"


def test_filters_are_in_the_order_in_which_they_are_evaluated() -> None:
    inputs = (stream("A"), stream("B"))
    query = Query(inputs, outputs(*inputs), filters=(above("A.b", 5), above("A.a", 1)))
    assert "filter  A.b > 5, then A.a > 1\n" in explain(decision(guessed(query)))


def test_a_shed_stream_has_a_smaller_window_unless_it_counts_rows() -> None:
    by_time = figures_of(decided("shed")).input("C")
    assert by_time.keep < 0.5
    assert by_time.state == pytest.approx(20 * by_time.keep)
    by_rows = figures_of(shed_rows()).input("C")
    assert by_rows.keep < 0.5
    assert by_rows.state == 10


def test_over_rows_windows_shed_results_are_said_to_be_no_subset() -> None:
    remark = "no subset of the exact"
    assert remark in explain(decided("shed_multiway"))
    assert remark not in explain(decided("shed"))
    assert remark not in explain(decided("left_deep"))


def test_what_does_not_fit_even_when_shed_says_so() -> None:
    made = decided("shed")
    worse = replace(made.chosen.estimate, utilization=1.2)
    said = explain(replace(made, chosen=replace(made.chosen, estimate=worse)))
    assert "even so it needs 1.2" in " ".join(said.split())


def test_a_goal_that_is_never_met_says_so() -> None:
    made = decided("first")
    never = replace(made.chosen.estimate, measure=None)
    said = explain(replace(made, chosen=replace(made.chosen, estimate=never)))
    assert "goal    first:1000 never\n" in said


def test_physical_choices_are_told() -> None:
    settled = Physical({"A": 16, "B": 2048}, 0.25, 3.0)
    said = explain(replace(decided("left_deep"), physical=settled))
    assert (
        "tuning  buckets A 16, B 2,048; windows cleaned every 0.25 s; batches of 3 s or longer\n"
    ) in said
    assert "tuning" not in explain(decided("left_deep"))
    never = explain(replace(decided("left_deep"), physical=Physical({}, 0.0, None)))
    assert "tuning  no batch is long enough: the work leaves no time to start one\n" in never


def test_windows_that_move_in_steps_are_shown_at_their_fullest() -> None:
    made = decision(guessed(mixed()))
    assert {alias: figures_of(made).input(alias).state for alias in "CD"} == {"C": 70, "D": 60}
    assert "C, D: state when the window is fullest" in explain(made)


def test_text_lines_up() -> None:
    lines = explain(decided("auction")).splitlines()
    first, second, third = (line for line in lines if line.startswith(("├─", "└─")))
    assert first.index(" in ") == second.index(" in ")
    assert first.index(" state ") == third.index(" rows ")


@pytest.mark.parametrize("is_tree", [False, True])
def test_long_texts_wrap(is_tree: bool) -> None:
    names = [f"stream_{i:02}" for i in range(8)]
    inputs = tuple(stream(name) for name in names)
    equalities = tuple(equal((names[0], "a"), (name, "a")) for name in names[1:])
    plan = reduce(lambda tree, name: f"({tree} {name})", names) if is_tree else None
    made = decision(guessed(Query(inputs, outputs(*inputs), equalities)), plan)
    said = explain(made)
    assert f"\nplan    {render_plan(made.plan)}\n" in said
    assert max(len(line) for line in said.splitlines() if not line.startswith("plan")) <= 100
    assert "stream_07_a" in said


def test_alternatives_are_ranked_with_the_chosen_one_marked() -> None:
    said = explain(decided("left_deep"), alternatives=True)
    ranked = said[said.index("alternatives") :].splitlines()[2:]
    assert [line.split()[:2] for line in ranked] == [
        ["*1", "tree"], ["2", "multiway"], ["3", "tree"]
    ]  # fmt: skip
    assert "alternatives" not in explain(decided("left_deep"))


def test_a_forced_plan_has_no_rank() -> None:
    said = explain(decided("forced"), alternatives=True)
    ranked = said[said.index("alternatives") :].splitlines()[2:]
    assert [line.split()[0] for line in ranked] == ["*–", "1"]


def test_asked_for_alternatives_that_there_are_not_explain_says_so() -> None:
    assert "no alternatives" in explain(decided("star3"), alternatives=True)
    assert "no alternatives" not in explain(decided("star3"))


@pytest.mark.parametrize("format", [*Format])
def test_one_stream_alone_can_be_explained(format: str) -> None:
    query = Query((stream("A"),), outputs(stream("A")))
    assert "A" in explain(decide(guessed(query)), format)


@pytest.mark.parametrize("format", [*Format])
def test_what_the_planner_decides_can_be_explained(format: str) -> None:
    made = decide(cheap(), PlanOptions(alternatives=True))
    said = explain(made, format, alternatives=True)
    assert "B.b = C.b" in said
    if format in ("text", "json", "html"):
        assert all(render_plan(other.plan) in said for other in made.others)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(PlanError, match="no format 'png'"):
        explain(decided("star3"), "png")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "?"), (0.0, "0"), (12.0, "12"), (0.14159, "0.142"), (1234.5, "1,234"),
        (2_097_152, "2,097,152"), (2.1614e9, "2.16G"), (4e7, "40M"), (1e18, "1e+18"),
        (float("inf"), "∞"),
    ],
)  # fmt: skip
def test_numbers_are_short(value: float | None, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0 s"), (0.0005, "0.5 ms"), (5e-8, "50 ns"), (0.25, "0.25 s"), (7200, "2 h")],
)
def test_times_have_the_unit_that_suits_them(value: float, shown: str) -> None:
    assert seconds(value) == shown
    assert statistic_text(Statistic("cost of join", Figure(value, "declared"), "s")) == shown


def test_fractions_are_percentages() -> None:
    assert [percent(x) for x in (1.0, 0.5, 0.01234)] == ["100 %", "50 %", "1.23 %"]
