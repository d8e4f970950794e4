"""Plans as text: forced ones are read, and what is written reads back the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PlanError
from penstock.plan.default_plan import bound_before, default_plan, shares_key
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.query import Query
from penstock.query.keys import key_classes
from support.plans.plan_queries import (
    auction,
    chain3,
    equal,
    order,
    outputs,
    star3,
    stream,
    table,
)


def forced(query: Query, text: str) -> MultiwayJoin:
    """The probe orders that a text forces."""
    plan = forced_plan(query, text)
    assert isinstance(plan, MultiwayJoin)
    return plan


def test_a_forced_plan_gives_each_named_stream_its_order() -> None:
    plan = forced(star3(), "A: C B; B: C A; C: B A")
    assert [o.targets for o in plan.orders] == [("C", "B"), ("C", "A"), ("B", "A")]


def test_streams_not_named_keep_the_default_order() -> None:
    query = chain3()
    plan = forced(query, "C: B A")
    assert plan.order("C") == order("C", "B", "A")
    assert plan.orders[:2] == default_plan(query).orders[:2]
    assert forced_plan(query, " ; ") == default_plan(query)


def test_methods_are_forced_by_name() -> None:
    plan = forced(chain3(), "A: B/nested C/hash")
    assert plan.order("A") == order("A", "B/nested", "C/hash")


def test_the_loop_over_new_tuples_may_be_an_inner_one() -> None:
    plan = forced(chain3(), "A: B A C; C: A B C; B: B A C")
    assert plan.order("A") == order("A", "B/nested", "C", position=1)
    assert plan.order("C") == order("C", "A/nested", "B", position=2)
    assert plan.order("B") == order("B", "A", "C")


def test_before_the_new_tuples_a_key_with_the_driver_does_not_count() -> None:
    with pytest.raises(PlanError, match="B cannot be probed by hash: it is visited first"):
        forced_plan(chain3(), "A: B/hash A C")


def test_names_in_quotes_hold_signs_and_spaces() -> None:
    query = Query((stream("my; stream"), stream('a"b')), ())
    plan = forced(query, '"my; stream": "a""b"')
    assert plan.order("my; stream").targets == ('a"b',)


@pytest.mark.parametrize(
    ("text", "message", "marked", "hint"),
    [
        ("A: B D", "no input is called D", "D", "the query has A, B, C"),
        ("a: B C", "no input is called a", "a", "did you mean A?"),
        ("A: B", "the order of A leaves out C", "A: B", "an order names every other input"),
        ("B:", "the order of B leaves out A and C", "B", "an order names every other input"),
        ("A: B C B", "B is visited twice", "B", "an order names each input once"),
        ("A: A B C A", "A is visited twice", "A", "an order names each input once"),
        ("A: B C; A: C B", "A has two probe orders", "A", "keep one of them"),
        ("A: B/fast C", "no method 'fast'", "B/fast", "methods are sorted, hash, nested"),
        ("A: B/ C", "no method ''", "B/", "methods are sorted, hash, nested"),
        ("A/hash: B C", "a driver has no method", "A/hash", "methods belong to the inputs"),
        ("A: B A/hash C", "new tuples are not probed", "A/hash", "write A without a method"),
        ("A: C/sorted B", "C cannot be probed by sorted", "C/sorted", "write C/nested"),
        ("A B C", "no colon after A", "B", "a plan reads like"),
        ("A", "no colon after A", "A", "a plan reads like"),
        (": B C", "a stream's name belongs here", ":", "a plan reads like"),
        ("A: B C B: A C", "a second colon in one order", ":", "orders end with `;`"),
        ("A: /hash", "a stray /", "/", "a plan reads like"),
        ('A: "B C', 'a stray "', '"', "a plan reads like"),
    ],
)
def test_a_wrong_plan_is_answered_with_its_place_and_a_hint(
    text: str, message: str, marked: str, hint: str
) -> None:
    with pytest.raises(PlanError) as raised:
        forced_plan(chain3(), text)
    error = raised.value
    assert error.message.startswith(message)
    assert error.hint is not None
    assert error.hint.startswith(hint)
    assert error.place is not None
    assert error.place.file == "--plan"
    assert error.place.text[error.place.start : error.place.end] == marked


def test_a_table_cannot_drive() -> None:
    with pytest.raises(PlanError) as raised:
        forced_plan(auction(), "bid: person auction; person: bid auction")
    assert str(raised.value) == (
        "person is a table and drives nothing\n"
        " --> --plan:1:22\n"
        "  |\n"
        "1 | bid: person auction; person: bid auction\n"
        "  |                      ^^^^^^\n"
        "hint: a table is only visited; the streams are bid, auction"
    )


def test_only_methods_that_are_not_the_default_are_written() -> None:
    text = "A: B/nested C; B: A C; C: A B/hash"
    assert render_plan(forced_plan(chain3(), text)) == text


@st.composite
def queries(draw: st.DrawFn) -> Query:
    aliases = draw(
        st.lists(st.text('ab1:;/" ,é', min_size=1, max_size=3), min_size=1, max_size=5, unique=True)
    )
    tables = draw(st.sets(st.sampled_from(aliases[1:]))) if aliases[1:] else set()
    inputs = tuple(table(a) if a in tables else stream(a) for a in aliases)
    pairs = [(a, b) for a in range(len(aliases)) for b in range(a)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=4)) if pairs else []
    sides = st.sampled_from("ab")
    equalities = tuple(
        equal((aliases[a], draw(sides)), (aliases[b], draw(sides))) for a, b in chosen
    )
    return Query(inputs, outputs(*inputs), equalities)


@st.composite
def plans(draw: st.DrawFn) -> MultiwayJoin:
    query = draw(queries())
    return MultiwayJoin(query, tuple(draw(orders(query, s.alias)) for s in query.streams))


@st.composite
def orders(draw: st.DrawFn, query: Query, driver: str) -> ProbeOrder:
    classes = key_classes(query)
    targets = tuple(draw(st.permutations([a for a in query.aliases if a != driver])))
    position = draw(st.integers(0, len(targets)))
    probes = []
    for index, target in enumerate(targets):
        keyed = shares_key(classes, target, bound_before(driver, targets, position, index))
        methods: list[Method] = ["sorted", "hash", "nested"] if keyed else ["nested"]
        probes.append(Probe(target, draw(st.sampled_from(methods))))
    return ProbeOrder(driver, tuple(probes), position)


@given(plans())
def test_a_plan_survives_being_written_and_read(plan: MultiwayJoin) -> None:
    assert forced_plan(plan.query, render_plan(plan)) == plan


@given(queries())
def test_a_default_plan_is_written_without_methods(query: Query) -> None:
    plan = default_plan(query)
    assert not any(f"/{method}" in render_plan(plan) for method in ("sorted", "hash", "nested"))
    assert forced_plan(query, "") == plan
