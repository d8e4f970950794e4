"""Plans that recompute a view, as explain shows them."""

from __future__ import annotations

import json

from penstock.optimize.options import PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.decision import Decision
from penstock.plan.explain.figures import figures_of
from penstock.plan.explain.json import as_json
from penstock.plan.explain.pictures.dot import as_dot
from penstock.plan.explain.pictures.graph import Edge, graph_of
from penstock.plan.explain.pictures.html import as_html
from penstock.plan.explain.pictures.mermaid import as_mermaid
from penstock.plan.explain.text import as_text
from penstock.plan.plan import recomputed_by
from penstock.plan.text.parse import render_plan
from penstock.plan.text.shape import kind_of
from support.plans.planning import query_of
from support.plans.recomputed import COLUMNS, chosen, known_of, view


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
