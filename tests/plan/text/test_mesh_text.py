"""Meshes as text: what explain prints, `--plan` turns into the same mesh."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from penstock.cql import parse
from penstock.errors import PlanError
from penstock.plan.mesh import DriverMesh, Goes, MeshJoin, MeshRoute, Screen, Split
from penstock.plan.multiway import Probe
from penstock.plan.text.parse import forced_plan, is_flat, render_plan
from penstock.query import Condition, Query
from support.plans.meshes import random_mesh, timed
from support.plans.planning import query_of
from support.streams.cases import random_case, random_view

COLUMNS = {"A": "k x", "B": "k", "C": "k"}


def three(where: str = "") -> Query:
    return query_of(
        f"SELECT A.k AS k FROM A [NOW], B [NOW], C [NOW] WHERE A.k = B.k AND B.k = C.k{where}",
        COLUMNS,
    )


def printed(mesh: DriverMesh) -> DriverMesh:
    """The mesh with shares as they are printed; where all go, nothing is tested."""
    shares = tuple(float(f"{100 * share:.3g}") / 100 for share in mesh.shares)
    return replace(mesh, shares=shares, classifier=Goes(0) if len(shares) == 1 else mesh.classifier)


def filters(query: Query) -> tuple[set[Condition], set[Condition]]:
    """Those that come before the joins, and those that wait."""
    return set(query.filters), set(query.thetas)


@pytest.mark.parametrize("seed", range(200))
def test_any_mesh_is_read_as_it_is_printed(seed: int) -> None:
    rng = Random(f"mesh text {seed}")
    drawn = random_case(seed) if seed % 2 else random_view(seed)
    query = timed(drawn, rng).query
    plan = random_mesh(query, rng)
    window, ruster = rng.choice((None, 1, 1_000)), rng.choice((1, 100))
    early = query.aliases[: rng.choice((0, 1))] if query.view is not None else ()
    plan = replace(plan, window=window, ruster=ruster, early=early)
    found = forced_plan(plan.query, render_plan(plan))
    assert isinstance(found, MeshJoin)
    assert found.meshes == tuple(map(printed, plan.meshes))
    assert filters(found.query) == filters(plan.query)
    assert (found.window, found.ruster, found.early) == (window, ruster, early)
    assert render_plan(found) == render_plan(plan)


def test_a_mesh_as_users_write_it() -> None:
    query = three(" AND A.x > 1")
    text = (
        "mesh window=100 A: [A.x > 1] B C 60 % or B|C [A.x > 1] 40 % "
        "by if k <= -2.5 then 1 else if x <= 1000000000000000000 then 2 else 1; B: A C; C: A B"
    )
    plan = forced_plan(query, text)
    assert isinstance(plan, MeshJoin)
    screen = Screen((*query.filters, *query.thetas)[0])
    b, c = Probe("B", "sorted"), Probe("C", "sorted")
    routes = (MeshRoute(((screen,), (b,), (c,))), MeshRoute(((b, c), (screen,))))
    tree = Split("k", -2.5, frozenset(), Goes(0), Split("x", 1e18, frozenset(), Goes(1), Goes(0)))
    assert plan.mesh("A") == DriverMesh("A", tree, routes, (0.6, 0.4))
    assert (plan.window, plan.ruster) == (100, 1)
    # It comes after a probe in one of the routes: whoever else meets tuples of A checks it.
    assert (plan.query.filters, plan.query.thetas) == ((), (screen.condition,))
    assert forced_plan(query, render_plan(plan)) == plan
    assert not is_flat(query, text)


def test_what_is_left_out_is_as_usual() -> None:
    plan = forced_plan(three(" AND A.x > 1"), "MESH A: [A.x > 1] C B OR B [A.x > 1] C BY 2")
    assert isinstance(plan, MeshJoin)
    assert plan.mesh("A").shares == (0.5, 0.5)
    assert plan.mesh("A").classifier == Goes(1)
    assert plan.mesh("B").routes[0].operators == (Probe("A", "sorted"), Probe("C", "sorted"))


def test_names_and_texts_that_look_like_the_notation() -> None:
    query = parse("""
CREATE STREAM one (ts TIMESTAMP, k BIGINT, t STRING) WITH (format='synthetic', rate=1,
  timestamp='ts', values='t: uniform(0, 5)');
CREATE STREAM two (ts TIMESTAMP, k BIGINT) WITH (format='synthetic', rate=1, timestamp='ts');
SELECT "or".k AS k FROM one [NOW] AS "or", two [NOW] AS "by"
WHERE "or".k = "by".k AND "or".t <> 'it''s ] | 5 %'
""")
    condition = query.filters[0]
    routes = (
        MeshRoute(((Screen(condition),), (Probe("by", "sorted"),))),
        MeshRoute(((Probe("by", "nested"), Screen(condition)),)),
    )
    tree = Split("t", None, frozenset({"it's", "then 'x'", ""}), Goes(1), Goes(0))
    first = DriverMesh("or", tree, routes, (0.25, 0.75))
    second = DriverMesh("by", Goes(0), (MeshRoute(((Probe("or", "sorted"),),)),), (1.0,))
    late = replace(query, filters=(), thetas=(condition,))
    plan = MeshJoin(late, (first, second))
    assert forced_plan(query, render_plan(plan)) == plan


WRONG = {
    "mesh A: B": ("a route of A leaves out C", "B", "a route holds every filter"),
    "mesh A: B C B": ("a route of A has B too many", "B C", "a route holds every filter"),
    "mesh A: A B C": ("a route of A has A too many", "A B", "a route holds every filter"),
    "mesh A: B C or C B": ("A has 2 routes and no classifier", "A", "say which tuples take which"),
    "mesh A: B C or C B by 3": ("there is no route 3", "3", "A has routes 1 to 2"),
    "mesh A: B C or C B by if y <= 1 then 1 else 2": ("A has no column y", "y", "it has"),
    "mesh A: B C or C B by if x < 1 then 1 else 2": ("a stray <", "<", "a mesh reads like"),
    "mesh A: B C or C B by if x <= 1 then 1": ("no `else`", "1", "a mesh reads like"),
    "mesh A: B C or C B by if x in 5 then 1 else 2": ("no list of texts", "5", "write `x in"),
    "mesh A: B C by": ("a number of a route belongs here", "y", "a mesh reads like"),
    "mesh A: B C; A: C B": ("A has two meshes", "A", "keep one of them"),
    "mesh A: B D": ("no input is called D", "D", "the query has A, B, C"),
    "mesh D: B C": ("no input is called D", "D", "the query has A, B, C"),
    "mesh A B C": ("no colon after A", "B", "a mesh reads like"),
    "mesh A: B C/fast": ("no method 'fast'", "fast", "methods are sorted, hash, nested"),
    "mesh A: [A.x > 9] B C": ("A has no filter A.x > 9", "[A.x > 9]", "there is none"),
    "mesh A: B C 5 or C B by 1": ("a share is in per cent", "or", "write it like"),
    "mesh size=5 A: B C": ("no setting size", "size", "there are window, ruster"),
    "mesh window=0 A: B C": ("0 is no number of tuples", "0", "it is a whole number"),
    "mesh A: B C | early A": ("the query aggregates nothing", "early", "name inputs of a view"),
    "mesh A: B| C|": ("an input or a filter belongs here", "|", "a mesh reads like"),
}


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_have_their_places(text: str) -> None:
    message, marked, hint = WRONG[text]
    with pytest.raises(PlanError) as raised:
        forced_plan(three(), text)
    error = raised.value
    assert error.message == message
    assert error.place is not None
    assert error.place.text[error.place.start :].startswith(marked)
    assert error.hint is not None
    assert error.hint.startswith(hint)


def test_a_stream_may_be_called_mesh() -> None:
    query = query_of(
        "SELECT mesh.k AS k FROM mesh [NOW], B [NOW] WHERE mesh.k = B.k", {"mesh": "k", "B": "k"}
    )
    assert render_plan(forced_plan(query, "mesh: B; B: mesh")) == "mesh: B; B: mesh"
    text = 'mesh "mesh": B; B: "mesh"'
    assert render_plan(forced_plan(query, text)) == text
