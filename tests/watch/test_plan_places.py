"""Where nodes of a plan stand in the text: as its parser found it, not where a name comes first."""

from __future__ import annotations

from pathlib import Path

from penstock.cql import parse
from penstock.watch.log_reader import read_log
from penstock.watch.plan_graph import PlanNode
from penstock.watch.plan_live import plan_view
from penstock.watch.plan_places import spans_of, with_places
from support.watch.watched_runs import chained, hostile, run_of, scripted

SCRIPT = """-- a and b, a.x > 1
CREATE STREAM bid (ts TIMESTAMP, a BIGINT, x DOUBLE)
  WITH (format='csv', path='/b', timestamp='ts');
CREATE STREAM ask (ts TIMESTAMP, a BIGINT, x DOUBLE)
  WITH (format='csv', path='/a', timestamp='ts');
SELECT a.a, b.x AS "🙂 a.a = b.a" -- 🙂
FROM bid [RANGE 5 SECONDS] AS b
  JOIN ask AS a [RANGE 1 MINUTE] ON a.a   = b.a AND a.x < b.x
WHERE (b.x > 1) AND a.x BETWEEN 2 AND 3
"""


def marked(node: PlanNode, text: str = SCRIPT) -> list[str]:
    return [text[start:end] for start, end in spans_of(node, parse(text))]


def test_inputs_and_conditions_are_found_where_they_are_asked_for() -> None:
    assert marked(PlanNode("", "input", "a")) == ["ask AS a [RANGE 1 MINUTE]"]
    assert marked(PlanNode("", "input", "b")) == ["bid [RANGE 5 SECONDS] AS b"]
    assert marked(PlanNode("", "filter", "b.x > 1.0")) == ["b.x > 1"]
    assert marked(PlanNode("", "filter", "a.x <= 3.0")) == ["a.x BETWEEN 2 AND 3"]
    probe = PlanNode("", "probe", "a", driver="b", members=("b", "a"))
    assert marked(probe) == ["ask AS a [RANGE 1 MINUTE]", "a.a   = b.a", "a.x < b.x"]
    join = PlanNode("", "join", "(b a)", members=("b", "a"))
    assert len(marked(join)) == 4
    assert marked(PlanNode("", "results", "results", members=("b", "a"))) == []


def test_every_node_of_a_run_has_its_place(tmp_path: Path) -> None:
    log = read_log(str(run_of(chained(batches=4), tmp_path, plan="((b c) a)")))
    assert log.head is not None
    graph = with_places(plan_view(log, log.head.query), None)
    texts = {
        (node.driver, node.name): [log.head.query[slice(*span)] for span in node.spans]
        for node in graph.nodes
    }
    assert texts["", "b"] == ["b [RANGE 4 SECONDS]"]
    assert texts["b", "c"] == ["c [RANGE 4 SECONDS]", "b.j = c.k"]
    assert texts["a", "(b c)"] == ["b [RANGE 4 SECONDS]", "c [RANGE 4 SECONDS]", "a.j = b.k"]
    assert texts["", "(b c)"] == ["b [RANGE 4 SECONDS]", "c [RANGE 4 SECONDS]", "b.j = c.k"]


def test_a_query_of_a_script_is_found_in_its_own_select(tmp_path: Path) -> None:
    log = read_log(str(scripted(tmp_path))).of_query("counts")
    assert log.head is not None
    text = log.head.query
    graph = with_places(plan_view(log, text), "counts")
    spans = [span for node in graph.nodes for span in node.spans]
    assert spans
    assert min(start for start, _ in spans) > text.index("GROUP BY") - 120
    assert min(start for start, _ in spans) > text.index("INTO pairs")


def test_strange_names_have_places_and_other_texts_have_none(tmp_path: Path) -> None:
    log = read_log(str(hostile(tmp_path)))
    assert log.head is not None
    graph = with_places(plan_view(log, log.head.query), None)
    assert all(node.spans for node in graph.nodes if node.kind in ("input", "probe"))
    for text in ("", "no query", log.head.query.replace("SELECT", "SELECT unknown(1), ")):
        graph = with_places(plan_view(log, text), None)
        assert not any(node.spans for node in graph.nodes)
