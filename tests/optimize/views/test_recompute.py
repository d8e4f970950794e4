"""Recomputed views: how many segments meet, when that pays, how it is written and explained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import ceil
from typing import Any

import numpy as np
import pytest

from penstock.errors import PlanError
from penstock.optimize.estimate import estimate, needed_by
from penstock.optimize.model.distinct import is_folding_guessed, occupied
from penstock.optimize.model.folding import with_early, with_sample_weights
from penstock.optimize.model.load import load_of
from penstock.optimize.model.posynomial import value
from penstock.optimize.model.problem import Problem
from penstock.optimize.model.recompute import meetings, recompute_load
from penstock.optimize.model.rounds import rounds_of
from penstock.optimize.model.statistics_used import guesses
from penstock.optimize.options import KINDS, SWITCHES, PlanOptions, checked
from penstock.optimize.planner import decide
from penstock.optimize.views.early import early_sets
from penstock.optimize.views.recompute import RECOMPUTED, recompute_plan, recompute_plans
from penstock.plan.decision import Decision
from penstock.plan.default_plan import default_plan
from penstock.plan.explain.figures import figures_of
from penstock.plan.explain.json import as_json
from penstock.plan.explain.pictures.dot import as_dot
from penstock.plan.explain.pictures.graph import Edge, graph_of
from penstock.plan.explain.pictures.html import as_html
from penstock.plan.explain.pictures.mermaid import as_mermaid
from penstock.plan.explain.text import as_text
from penstock.plan.multiway import MultiwayJoin, Probe, ProbeOrder
from penstock.plan.plan import recomputed_by
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.plan.text.shape import kind_of
from penstock.query import Query
from penstock.query.goal import STEADY
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from penstock.stats.known import Known
from support.plans.planning import query_of

COLUMNS = "k l g v"


def view(window: str = "RANGE 10 SECONDS", every: str = "EVERY 1 SECOND", m: int = 3) -> Query:
    """COUNT and SUM over streams A, B, … joined on k, by groups of A."""
    names = "ABCDEF"[:m]
    inputs = ", ".join(f"{name} [{window}]" for name in names)
    where = " AND ".join(f"A.k = {name}.k" for name in names[1:]) or "A.k > 0"
    select = f"SELECT A.g, COUNT(*) AS n, SUM({names[-1]}.v) AS s FROM {inputs}"
    return query_of(f"{select} WHERE {where} GROUP BY A.g {every}", dict.fromkeys(names, COLUMNS))


def known_of(
    query: Query, keys: float, groups: float = 100, rate: float = 2000, **more: Any
) -> Known:
    """All that decides about segments is declared."""
    distinct = {"k": keys, "l": keys, "g": groups}
    streams = {alias: {"rate": rate, "distinct": distinct} for alias in query.aliases}
    return complete(query, from_data({"streams": streams, **more}, query))


def problem_of(query: Query, keys: float, **more: Any) -> Problem:
    return Problem(query, known_of(query, keys, **more))


def with_table(query: Query) -> Query:
    """The query with its last input as a table."""
    *inputs, last = query.inputs
    return replace(query, inputs=(*inputs, replace(last, window=None)))


# ---- how many segments meet


@dataclass(frozen=True)
class Setting:
    """Streams with so many keys, A with so many groups; seconds of windows and between ticks."""

    m: int
    early: str
    rate: int
    keys: int
    groups: int
    extent: float
    every: float

    @property
    def query(self) -> Query:
        window = f"RANGE {round(self.extent * 1e6)} MICROSECONDS"
        return view(window, f"EVERY {round(self.every * 1e6)} MICROSECONDS", self.m)

    @property
    def problem(self) -> Problem:
        problem = problem_of(self.query, self.keys, groups=self.groups, rate=self.rate)
        return with_early(problem, tuple(self.early))


SETTINGS = [
    Setting(2, "AB", rate=400, keys=20, groups=5, extent=5.0, every=1.0),
    Setting(2, "AB", rate=400, keys=200, groups=5, extent=1.0, every=0.1),
    Setting(2, "AB", rate=400, keys=20, groups=5, extent=1.0, every=0.05),
    Setting(2, "B", rate=300, keys=60, groups=5, extent=2.0, every=0.1),
    Setting(3, "ABC", rate=200, keys=50, groups=3, extent=3.0, every=0.2),
    Setting(3, "BC", rate=200, keys=100, groups=3, extent=4.0, every=0.5),
    Setting(3, "A", rate=100, keys=100, groups=3, extent=4.0, every=0.25),
    Setting(3, "ABC", rate=200, keys=50, groups=3, extent=4.0, every=2.0),
]
SECONDS = 40


@dataclass(frozen=True)
class Seen:
    """By tick and key: the segments of a stream that are seen, and those that did not change."""

    seen: np.ndarray
    same: np.ndarray


def simulated(setting: Setting, alias: str, rng: np.random.Generator) -> Seen:
    count, every = setting.rate * SECONDS, setting.every
    times = rng.uniform(0, SECONDS, count)
    keys = rng.integers(0, setting.keys, count)
    groups = rng.integers(0, setting.groups, count) if alias == "A" else np.zeros(count, np.int64)
    if alias in setting.early:
        cells, key_of = keys * setting.groups + groups, np.arange(setting.keys * setting.groups)
        key_of //= setting.groups
    else:
        cells, key_of = np.arange(count), keys
    ticks = ceil((SECONDS + setting.extent) / every) + 3
    came, left = np.zeros((2, ticks, len(key_of)), np.int32)
    np.add.at(came, (np.ceil(times / every).astype(int), cells), 1)
    np.add.at(left, (np.floor((times + setting.extent) / every).astype(int) + 1, cells), 1)
    alive = np.cumsum(came - left, axis=0) > 0
    same = alive & (came == 0) & (left == 0)
    return Seen(by_key(alive, key_of, setting.keys), by_key(same, key_of, setting.keys))


def by_key(present: np.ndarray, key_of: np.ndarray, keys: int) -> np.ndarray:
    """By tick: how many of what is present have each key."""
    return np.array([np.bincount(key_of[tick], minlength=keys) for tick in present])


def counted(setting: Setting, aliases: str) -> float:
    """Combinations/s of segments with equal keys, in batches of a second, once windows are full."""
    rng = np.random.default_rng([len(aliases), setting.rate])
    streams = [simulated(setting, alias, rng) for alias in aliases]
    seen, same = (
        np.prod([getattr(stream, part) for stream in streams], axis=0).sum(axis=1)
        for part in ("seen", "same")
    )
    ticks = np.arange(ceil(setting.extent / setting.every), int((SECONDS - 1) / setting.every))
    batches = np.ceil(ticks * setting.every - 1e-9)
    is_first = np.diff(batches, prepend=-1) > 0
    met = np.where(is_first, seen[ticks], seen[ticks] - same[ticks])
    return float(met.sum() / (len(ticks) * setting.every))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_segments_meet_as_often_as_they_do_in_random_streams(setting: Setting) -> None:
    problem = setting.problem
    for size in range(1, setting.m + 1):
        aliases = "ABC"[:size]
        mask = problem.mask(aliases)
        foreseen = meetings(problem, mask) * problem.fraction(mask)
        assert counted(setting, aliases) == pytest.approx(foreseen, rel=0.1), aliases


def test_all_work_by_hand() -> None:
    """Tuples are folded, and what is left once more; all that is in the windows is merged; segments
    of B visit, and each combination is added to its group."""
    problem = problem_of(view(m=2), 10, costs={"join": 1e-6})
    a, b = occupied(1000, 2000), occupied(10, 2000)
    plan = replace(default_plan(problem.query), early=("A", "B"), recompute="B")
    merged, visits, results = 10 * (a + b), 10, occupied(1000, 20_000)
    work = 2 * 2000 + a + b + merged + visits + results
    assert needed_by(problem, plan) == pytest.approx(1e-6 * work)


def test_batches_without_an_evaluation_do_nothing() -> None:
    """Of long ticks the work is done once: here a tenth of it in a second."""
    problem = problem_of(view("TUMBLE 10 SECONDS", every="", m=2), 10, costs={"join": 1e-6})
    plan = replace(default_plan(problem.query), early=("A", "B"), recompute="B")
    folding = 2 * 2000 + occupied(1000, 2000) + occupied(10, 2000)
    once = (1000 + 10) + 10 + 1000
    assert needed_by(problem, plan) == pytest.approx(1e-6 * (folding + once / 10), rel=1e-3)


def test_tuples_of_a_moment_are_seen_once() -> None:
    """Tuples of NOW windows are alive at one tick of an eager view: each visits once."""
    problem = with_early(problem_of(view("NOW", every="", m=2), 10), ("A",))
    assert meetings(problem, problem.mask("A")) == pytest.approx(2000, rel=1e-3)


def test_groups_cost_their_delivery_whatever_the_plan() -> None:
    problem = problem_of(view(m=2), 10, costs={"result": 1e-3, "fold": 0.0, "tally": 0.0})
    for early in early_sets(problem)[1:]:
        assert needed_by(problem, recompute_plan(problem, early)) == pytest.approx(100 * 1e-3)


def test_tables_never_change() -> None:
    query = with_table(view(m=2))
    streams = {"A": {"rate": 2000}, "B": {"cardinality": 5000, "distinct": {"k": 10}}}
    problem = Problem(query, complete(query, from_data({"streams": streams}, query)))
    folded = with_early(problem, ("B",))
    assert meetings(folded, problem.mask("B")) == pytest.approx(10)
    assert recompute_plan(problem, ("B",)).recompute == "A"


def test_shed_inputs_have_more_than_their_part_of_the_segments() -> None:
    """What is kept is enough to keep up, though fewer tuples share their segments with others."""
    problem = problem_of(view(m=2), 100, rate=5000, capacity=0.006)
    found = estimate(problem, recompute_plan(problem, ("A", "B")), STEADY)
    assert found.needed > 0.006
    assert 0.003 < found.utilization <= 0.006 * (1 + 1e-6)
    assert 0 < found.output_rate < found.full_rate
    kept = with_early(problem, ("A",), {"A": 0.5}).inputs[0]
    assert kept.occupied == pytest.approx(2 * occupied(10_000, 25_000))


@pytest.mark.parametrize("query", [view(m=2), view(), view("TUMBLE 5 SECONDS")])
@pytest.mark.parametrize("share", [0.03, 0.3, 0.9])
def test_what_is_shed_leaves_no_capacity_unused(query: Query, share: float) -> None:
    """Fewer tuples fold less, and that is reckoned with to the end."""
    full = known_of(query, 200)
    for plan in (default_plan(query), recompute_plan(Problem(query, full), ("A", "B"))):
        early = replace(plan, early=("A", "B"))
        capacity = share * needed_by(Problem(query, full), early)
        problem = problem_of(query, 200, capacity=capacity)
        for tolerance in (1e-4, 1e-6):
            found = estimate(problem, early, STEADY, tolerance=tolerance)
            assert min(found.keep.values()) < 1.0
            assert 0.95 * capacity <= found.utilization <= capacity * (1 + 1e-6)


@pytest.mark.parametrize("recompute", [None, "B"])
def test_nothing_else_that_is_kept_gives_more(recompute: str | None) -> None:
    """No fractions on a grid do better with the same capacity."""
    query = view(m=2)
    plan = replace(default_plan(query), early=("A", "B"), recompute=recompute)
    capacity = 0.2 * needed_by(problem_of(query, 100), plan)
    problem = problem_of(query, 100, capacity=capacity)
    found = estimate(problem, plan, STEADY)
    shed = with_sample_weights(problem)

    def fits(x: tuple[float, float]) -> bool:
        folded = with_early(shed, plan.early, dict(zip("AB", x, strict=True)))
        return value(load_of(folded, plan), x) <= capacity

    grid = np.geomspace(1e-3, 1.0, 60).tolist()
    best = max(a * b for a, b in product(grid, grid) if fits((a, b)))
    assert found.output_rate / found.full_rate >= best * 0.999


# ---- which plans there are, and when one is chosen


def chosen(query: Query, keys: float, rate: float, **options: Any) -> Decision:
    return decide(known_of(query, keys, rate=rate), PlanOptions(**options))


@pytest.mark.parametrize("seed", range(6))
def test_driver_and_order_are_the_best(seed: int) -> None:
    rng = np.random.default_rng(seed)
    query = query_of(
        "SELECT COUNT(*) AS n FROM A [RANGE 5 SECONDS], B [RANGE 9 SECONDS], C [RANGE 2 SECONDS], "
        "D [RANGE 4 SECONDS] WHERE A.k = B.k AND B.l = C.l AND C.k = D.k EVERY 1 SECOND",
        dict.fromkeys("ABCD", COLUMNS),
    )
    streams = {
        alias: {
            "rate": float(rng.integers(10, 500)),
            "distinct": {"k": float(rng.integers(5, 90)), "l": float(rng.integers(5, 90))},
        }
        for alias in "ABCD"
    }
    problem = Problem(query, complete(query, from_data({"streams": streams}, query)))
    early = ("A", "C")
    folded = with_early(problem, early)

    def work(driver: str, *targets: str) -> float:
        bound, probes = {driver}, []
        for target in targets:
            is_linked = problem.linked(problem.mask(bound), problem.mask([target]))
            probes.append(Probe(target, "sorted" if is_linked else "nested"))
            bound.add(target)
        # Orders that nobody goes through count by the keys of their visits only.
        others = tuple(order for order in found.orders if order.driver != driver)
        plan = MultiwayJoin(query, (*others, ProbeOrder(driver, tuple(probes))), early=early)
        return value(recompute_load(folded, plan, driver), [1.0] * 4)

    found = recompute_plan(problem, early)
    assert found.recompute is not None
    least = min(work(*names) for names in permutations("ABCD"))
    assert work(found.recompute, *found.order(found.recompute).targets) == pytest.approx(
        least, rel=0.02
    )


def test_every_set_may_be_recomputed() -> None:
    problem = problem_of(view(m=4), 100)
    found = [plan for plan, _ in recompute_plans(problem, frozenset())]
    assert [plan.early for plan in found] == list(early_sets(problem)[1:])
    assert all(recomputed_by(plan) in tuple("ABCD") for plan in found)


@pytest.mark.parametrize("query", [view("ROWS 50"), view(m=1), view(m=6)])
def test_what_is_never_recomputed(query: Query) -> None:
    assert list(recompute_plans(problem_of(query, 100), frozenset())) == []


def test_many_matches_and_few_ticks_a_window() -> None:
    """Three streams of 20,000 tuples/s with a thousand matches each: kept rows meet 300 times."""
    decision = chosen(view(), 3651, 20_000)
    assert recomputed_by(decision.plan) is not None
    assert {"B", "C"} <= set(decision.plan.early)
    kept = chosen(view(), 3651, 20_000, off=frozenset({"recompute"}))
    assert decision.chosen.estimate.needed < 0.2 * kept.chosen.estimate.needed
    assert RECOMPUTED in decision.chosen.found_by


@pytest.mark.parametrize(
    ("query", "keys", "rate"),
    [
        # Hardly a partner for anyone.
        (view(), 1e7, 20_000),
        (view(m=2), 1e6, 20_000),
        # A window of 3,600 ticks, all of which would be read in each batch.
        (view("RANGE 1 HOUR"), 72_000, 20),
        # What never leaves is summed up already.
        (view("UNBOUNDED"), 3651, 2000),
    ],
)
def test_few_matches_and_long_windows_are_kept(query: Query, keys: float, rate: float) -> None:
    assert recomputed_by(chosen(query, keys, rate).plan) is None


def test_a_little_less_work_is_not_enough() -> None:
    """How much less it is depends on how long batches are, which nobody knows yet."""
    costs = {"insert": 2e-7, "probe": 3e-7, "compare": 1e-8, "fold": 1.4e-7}
    decision = decide(known_of(view(m=2), 1000, costs=costs))
    assert recomputed_by(decision.plan) is None
    best = decision.others[0]
    assert recomputed_by(best.plan) == "B"
    ratio = best.estimate.utilization / decision.chosen.estimate.utilization
    assert 0.9 < ratio < 1.0
    assert decision.reason.startswith("the view is kept, as recomputing it is not clearly")


def guessed(window: str, **more: Any) -> Decision:
    """Nobody has said how many keys and groups there are."""
    query = view(window, m=2)
    streams = {alias: {"rate": 5000, **more} for alias in query.aliases}
    return decide(complete(query, from_data({"streams": streams}, query)))


def test_long_windows_are_not_read_again_for_a_guess() -> None:
    """Windows of 10 seconds cost little even if nothing folds; those of 5 minutes cost too much."""
    assert recomputed_by(guessed("RANGE 10 SECONDS").plan) is not None
    decision = guessed("RANGE 5 MINUTES")
    assert recomputed_by(decision.plan) is None
    assert recomputed_by(decision.others[0].plan) is not None
    assert decision.reason.startswith("the view is kept, as only a guess says that recomputing it")
    few = guessed("RANGE 5 MINUTES", distinct={"k": 100, "g": 100})
    assert recomputed_by(few.plan) is not None


def test_what_is_known_of_folding() -> None:
    query = view(m=2)

    def known(data: Mapping[str, Any]) -> Known:
        return complete(query, from_data(data, query))

    nothing = known({})
    assert is_folding_guessed(nothing, "A")
    assert is_folding_guessed(nothing, "B")
    keys = known({"streams": {"A": {"distinct": {"k": 50}}, "B": {"distinct": {"k": 40}}}})
    assert is_folding_guessed(keys, "A")
    assert not is_folding_guessed(keys, "B")
    assert not is_folding_guessed(known({"joins": {"A.k = B.k": {"selectivity": 0.1}}}), "B")
    assert not is_folding_guessed(known({"streams": {"A": {"cells": 7}}}), "A")
    assert not is_folding_guessed(known_of(query, 100), "A")


def test_the_best_plan_that_is_kept_is_told() -> None:
    decision = chosen(view(), 3651, 20_000)
    best = next(a for a in decision.others if recomputed_by(a.plan) is None)
    assert decision.others[0] is not best
    assert decision.reason.startswith("least work of ")
    assert decision.reason.endswith(f"; the best that is kept {best.estimate.utilization:.3g}")


def test_of_nearly_nothing_the_most_is_kept() -> None:
    """All plans lose more than 99.99 %; still the one that keeps the most is chosen."""
    costs = {"insert": 2e-7, "probe": 3e-7, "compare": 1e-8, "fold": 1e-7, "tally": 5e-8}
    joins = {text: {"selectivity": 1 / 300} for text in ("A.k = B.k", "A.k = C.k", "B.k = C.k")}
    joins["A.k = B.k = C.k"] = {"selectivity": 1 / 300**2}
    known = known_of(view(), 300, capacity=2e-5, costs=costs, joins=joins)
    assert not guesses(known)
    decision = decide(known, PlanOptions(sheds=True))
    found = decision.chosen.estimate
    assert 0 < found.output_rate < 1e-4 * found.full_rate
    most = max(other.estimate.output_rate for other in decision.others)
    assert found.output_rate >= most * (1 - 1e-3)


def test_switched_off() -> None:
    for options in (
        {"off": frozenset({"recompute"})},
        {"off": frozenset({"early-aggregation"})},
        {"kinds": frozenset({"tree"})},
    ):
        decision = chosen(view(), 30, 2000, **options)
        assert all(recomputed_by(a.plan) is None for a in (decision.chosen, *decision.others))


def test_in_the_order_of_from() -> None:
    decision = chosen(view(), 30, 2000, off=frozenset({"probe-order"}))
    assert isinstance(decision.plan, MultiwayJoin)
    assert decision.plan.orders == default_plan(decision.plan.query).orders


def test_rounds_are_those_of_the_order_that_is_gone_through() -> None:
    query = query_of(
        "SELECT COUNT(*) AS n FROM A [NOW], B [NOW], C [NOW], D [NOW] "
        "WHERE A.k = B.k AND A.k = C.k AND C.l = D.l",
        dict.fromkeys("ABCD", COLUMNS),
    )
    problem = problem_of(query, 100)
    text = "A: B D C; D: C A B | early A"
    assert rounds_of(problem, forced_plan(query, text)) == 3
    assert rounds_of(problem, forced_plan(query, f"{text} | recompute D")) == 2


# ---- as text


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("A: B C; B: A C; C: B A | early A B C | recompute C", None),
        (
            "A: B C; B: A C; C: B A|early B,A|recompute B",
            "A: B C; B: A C; C: B A | early A B | recompute B",
        ),
        ("(A B C) | early A | recompute C", "A: B C; B: A C; C: A B | early A | recompute C"),
        ("| early B | recompute A", "A: B C; B: A C; C: A B | early B | recompute A"),
    ],
)
def test_text(text: str, rendered: str | None) -> None:
    plan = forced_plan(view(), text)
    assert render_plan(plan) == (rendered or text)
    assert forced_plan(view(), render_plan(plan)) == plan
    assert recomputed_by(plan) == text[-1]


def test_names_that_are_words_of_the_notation() -> None:
    query = query_of(
        "SELECT COUNT(*) AS n FROM early [NOW], recompute [NOW] WHERE early.k = recompute.k",
        {"early": "k", "recompute": "k"},
    )
    text = "early: recompute; recompute: early | early early recompute | recompute recompute"
    plan = forced_plan(query, text)
    assert (plan.early, recomputed_by(plan)) == (("early", "recompute"), "recompute")
    assert render_plan(plan) == text
    assert (
        recomputed_by(forced_plan(query, "early: recompute; recompute: early | early recompute"))
        is None
    )


@pytest.mark.parametrize(
    "text",
    [
        "A: B C; B: A C; C: B A | early A B C | anew C",
        "A: B C; B: A C; C: B A|early B,A|anew B",
        "(A B C) | early A | anew C",
    ],
)
def test_plans_written_with_0_1_are_read(text: str) -> None:
    today = text.replace("anew", "recompute")
    plan = forced_plan(view(), text)
    assert plan == forced_plan(view(), today)
    assert recomputed_by(plan) == text[-1]
    assert "anew" not in render_plan(plan)
    for wrong, (message, _, _) in WRONG.items():
        with pytest.raises(PlanError) as raised:
            forced_plan(view(), wrong.replace("recompute", "anew"))
        assert raised.value.message in (message, message.replace("recompute", "anew"))


def test_switches_of_0_1_are_read() -> None:
    assert checked(["anew", "mesh"], SWITCHES, "optimisation") == {"recompute", "mesh"}
    with pytest.raises(PlanError, match="no kind of plans 'anew'"):
        checked(["anew"], KINDS, "kind of plans")


WRONG = {
    "| early A | recompute": (
        "recompute names no stream",
        "recompute",
        "name the stream that drives",
    ),
    "| early A | recompute A B": ("only one name belongs after recompute", "B", "name the stream"),
    "| early A | recompute A; B: A": (
        "only one name belongs after recompute",
        ";",
        "name the stream",
    ),
    "| early A | recompute ; A": ("only a name belongs after recompute", ";", "name the stream"),
    "| early A | recompute A | early B": (
        "only one name belongs after recompute",
        "|",
        "name the stream",
    ),
    "| early A | recompute X": ("no input is called X", "X", "the query has A, B, C"),
    "| early A | recompute A/hash": ("a driver has no method", "A/hash", "methods belong"),
    "| recompute A": ("recompute stands after early", "recompute", "first name the inputs"),
    "A: B C | recompute A | early A": (
        "recompute stands after early",
        "recompute",
        "first name the inputs",
    ),
    "((A B) C) | early A | recompute A": ("a tree is not recomputed", "A", "only a multi-way join"),
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_text(text: str) -> None:
    message, marked, hint = WRONG[text]
    check_refused(view(), text, message, marked, hint)


def check_refused(query: Query, text: str, message: str, marked: str, hint: str) -> None:
    with pytest.raises(PlanError) as raised:
        forced_plan(query, text)
    place = raised.value.place
    assert raised.value.message == message
    assert hint in (raised.value.hint or "")
    assert place is not None
    assert text[place.start : place.end] == marked


NOTHING_KEPT = "of one stream nothing is kept to recompute a view from"


def test_queries_that_are_not_recomputed() -> None:
    joined = "SELECT A.g FROM A [NOW], B [NOW] WHERE A.k = B.k"
    plain = query_of(joined, dict.fromkeys("AB", COLUMNS))
    for query, text, message, marked, hint in (
        (plain, "| early A | recompute A", "the query aggregates nothing", "early", "GROUP BY"),
        (
            with_table(view(m=2)),
            "| early A | recompute B",
            "B is a table and drives nothing",
            "B",
            "the streams are A",
        ),
        (
            view("ROWS 50"),
            "| early A | recompute A",
            "a view over ROWS windows is recomputed in any case",
            "recompute",
            "leave out `| recompute A`",
        ),
        *(
            (one, "| early A | recompute A", NOTHING_KEPT, "recompute", "two streams")
            for one in (view(m=1), with_table(view(m=2)))
        ),
    ):
        check_refused(query, text, message, marked, hint)


def test_a_forced_shape_takes_the_best_order() -> None:
    query = query_of(
        "SELECT COUNT(*) AS n FROM A [RANGE 5 SECONDS], B [RANGE 5 SECONDS], C [RANGE 5 SECONDS] "
        "WHERE A.k = B.k AND A.l = C.l EVERY 1 SECOND",
        dict.fromkeys("ABC", COLUMNS),
    )
    streams: Mapping[str, Any] = {
        "A": {"rate": 100, "distinct": {"k": 10, "l": 1000}},
        "B": {"rate": 100, "distinct": {"k": 10}},
        "C": {"rate": 100, "distinct": {"l": 1000}},
    }
    known = complete(query, from_data({"streams": streams}, query))
    plan = decide(known, PlanOptions(plan="(A B C) | early B | recompute A")).plan
    assert isinstance(plan, MultiwayJoin)
    assert (plan.early, plan.recompute) == (("B",), "A")
    assert plan.order("A").targets == ("C", "B")


# ---- explained


def explained() -> Decision:
    return chosen(view(), 30, 2000, plan="A: B C; B: A C; C: B A | early A C | recompute C")


def test_explain_as_text() -> None:
    lines = as_text(figures_of(explained())).splitlines()
    assert [line.split("   ")[1] for line in lines[1:4]] == ["probed only"] * 2 + ["probe B, A"]
    assert lines[6] == (
        "batch   each recomputes the view from all that is in the windows; C drives"
    )
    assert "plan    A: B C; B: A C; C: B A | early A C | recompute C" in lines


def test_predicates_are_decided_where_the_driver_goes() -> None:
    query = query_of(
        "SELECT COUNT(*) AS n FROM A [NOW], B [NOW] WHERE A.k = B.k AND A.v < B.v",
        dict.fromkeys("AB", COLUMNS),
    )
    decision = decide(known_of(query, 30), PlanOptions(plan="| early A | recompute B"))
    assert [check.where for check in figures_of(decision).checks] == ["at A from B"]


def test_explain_as_json() -> None:
    found = json.loads(as_json(figures_of(explained(), alternatives=True)))
    assert found["chosen"]["computed_anew"] == "C"
    assert found["chosen"]["probe_orders"] == {"C": ["B", "A"]}
    assert found["chosen"]["methods"] == {"C": {"B": "sorted", "A": "sorted"}}
    others = found["alternatives"]
    assert {other["computed_anew"] for other in others} > {None}
    for other in others:
        ending = f" | recompute {other['computed_anew']}"
        assert other["plan"].endswith(ending) == (other["computed_anew"] is not None)
    kept = chosen(view(), 30, 2000, off=frozenset({"recompute"}))
    assert json.loads(as_json(figures_of(kept)))["chosen"]["computed_anew"] is None


def test_explain_as_pictures() -> None:
    figures = figures_of(explained())
    graph = graph_of(figures)
    assert [node.id for node in graph.nodes if node.kind == "probe"] == ["p2_1", "p2_2"]
    assert set(graph.edges) == {
        Edge("in2", "p2_1"),
        Edge("p2_1", "p2_2"),
        Edge("p2_2", "view"),
        Edge("view", "out"),
        Edge("in1", "p2_1", is_dotted=True),
        Edge("in0", "p2_2", is_dotted=True),
    }
    assert "recomputed" in graph.nodes[-2].lines
    assert "<br/>recomputed" in as_mermaid(figures)
    assert r"\nrecomputed" in as_dot(figures)
    page = as_html(figures)
    assert "In each batch all of the window at the top visits the other windows" in page
    assert "<b>batch</b> each recomputes the view" in page
    assert page.count('class="box visit"') == 2 * 2, "on wide pages and on narrow ones"


def test_every_way_to_recompute_is_printed_whole() -> None:
    decision = chosen(view(m=5), 1000, 2000, alternatives=True)
    lines = as_text(figures_of(decision, alternatives=True)).splitlines()
    shown = {line.strip() for line in lines}
    computed = [a.plan for a in (decision.chosen, *decision.others) if recomputed_by(a.plan)]
    assert len(computed) == 31
    assert all(kind_of(plan) == "multiway" for plan in computed)
    assert {render_plan(plan) for plan in computed} <= shown
