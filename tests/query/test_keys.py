"""Keys: classes of what must be equal, against closing equalities pair by pair."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from penstock.query import Column, DataType, Equality, Query
from penstock.query.keys import key_classes, unkeyed_equalities
from support.plans.plan_queries import equal, stream

Side = tuple[str, str]


def closed(pairs: list[tuple[Side, Side]]) -> set[frozenset[Side]]:
    """The classes of all sides, merged until nothing changes."""
    classes = {frozenset(pair) for pair in pairs}
    while True:
        both = next(((a, b) for a, b in product(classes, classes) if a != b and a & b), None)
        if both is None:
            return classes
        classes = (classes - set(both)) | {both[0] | both[1]}


@pytest.mark.parametrize("seed", range(40))
def test_classes_are_what_equalities_lead_to(seed: int) -> None:
    rng = Random(seed)
    aliases = "ABCD"
    pairs = []
    for _ in range(rng.randint(1, 5)):
        one, other = rng.sample(aliases, 2)
        pairs.append(((one, rng.choice("ab")), (other, rng.choice("ab"))))
    query = Query(tuple(map(stream, aliases)), (), tuple(equal(*pair) for pair in pairs))
    found = key_classes(query)
    wanted = closed(pairs)
    # Of a class, each input has one part; classes over the same inputs are parts of one.
    by_inputs: dict[tuple[str, ...], int] = {}
    for each in wanted:
        members = tuple(alias for alias in aliases if alias in {stream for stream, _ in each})
        by_inputs[members] = by_inputs.get(members, 0) + 1
    assert {key.streams: len(key.types) for key in found} == by_inputs
    for key in found:
        for place in range(len(key.types)):
            parts = [key.parts(alias)[place] for alias in key.streams]
            sides = {(part.stream, part.name) for part in parts if isinstance(part, Column)}
            assert any(sides <= each for each in wanted)


def test_the_second_expression_of_an_input_is_checked_beside_the_key() -> None:
    equalities = (equal(("A", "a"), ("B", "a")), equal(("A", "b"), ("B", "a")))
    query = Query((stream("A"), stream("B")), (), equalities)
    assert unkeyed_equalities(query, key_classes(query)) == equalities[1:]


def test_texts_are_checked_because_hashes_do_not_prove_them() -> None:
    sides = (Column("A", "s", DataType.STRING), Column("B", "s", DataType.STRING))
    query = Query((stream("A"), stream("B")), (), (Equality(*sides),))
    (key,) = key_classes(query)
    assert not key.is_exact
    assert unkeyed_equalities(query, (key,)) == query.equalities
    assert str(key) == "A.s = B.s"
