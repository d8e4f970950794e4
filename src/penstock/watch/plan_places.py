"""Where the nodes of a plan stand in the text of their query, as its parser found it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from penstock.cql import parse_script
from penstock.cql.declare.function_file import load_functions
from penstock.errors import PenstockError, PlanError
from penstock.plan.text.notation import read_words
from penstock.query import Condition, Equality, Query
from penstock.watch.plan_graph import PlanGraph, PlanNode, Span


def with_places(graph: PlanGraph, name: str | None, functions: str | None = None) -> PlanGraph:
    """The graph with the places of its nodes in its text, which asks the query of that name, or one
    alone; as it is where the text cannot be understood here."""
    query = asked_in(graph.text, name, functions)
    if query is None:
        return graph
    try:
        nodes = tuple(replace(node, spans=spans_of(node, query)) for node in graph.nodes)
    except PlanError:  # A name of a plan of a later version, perhaps.
        return graph
    return replace(graph, nodes=nodes)


@lru_cache(maxsize=16)
def asked_in(text: str, name: str | None, functions: str | None = None) -> Query | None:
    """The query of a name in a script, or the only one; None if it cannot be read."""
    try:
        known = () if functions is None else load_functions(functions)
        members = parse_script(text, functions=known).members
    except PenstockError:  # It is of another version, or calls functions that are not here.
        return None
    found = [each.query for each in members if name is None or each.name == name]
    return found[0] if len(found) == 1 else None


def spans_of(node: PlanNode, query: Query) -> tuple[Span, ...]:
    """The places of a node, in the order of the text, each once."""
    found = [query.places[text] for text in _texts(node, query) if text in query.places]
    return tuple(sorted(set(found)))


def _texts(node: PlanNode, query: Query) -> Iterator[str]:
    """What of a query a node is about: inputs by alias, and conditions as they are shown."""
    match node.kind:
        case "input" | "filter":
            yield node.name
        case "probe":
            found = _probed(node, query)
            yield from found
            yield from _decided(query, found, frozenset(node.members) - found)
        case "join":
            yield from node.members
            yield from _decided(query, frozenset(node.members), frozenset(node.members))


def _probed(node: PlanNode, query: Query) -> frozenset[str]:
    """The inputs that a probe finds: itself, or those of an inner join."""
    if node.name in query.aliases:
        return frozenset([node.name])
    return frozenset(word.text for word in read_words(node.name) if word.is_name)


def _decided(query: Query, some: frozenset[str], others: frozenset[str]) -> Iterator[str]:
    """The conditions of several inputs that are decided where some of them come to the others."""
    several: tuple[Equality | Condition, ...] = (*query.equalities, *query.thetas)
    for each in several:
        is_of_both = each.streams & some and each.streams & others
        if len(each.streams) > 1 and is_of_both and each.streams <= some | others:
            yield str(each)
