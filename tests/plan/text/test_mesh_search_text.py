"""`--mesh`: the search for a mesh as text, and its mistakes."""

from __future__ import annotations

from random import Random

import pytest

import penstock as ps
from penstock.errors import PenstockError, PlanError
from penstock.plan.mesh_search import (
    STARTS,
    STRATEGIES,
    MeshSearch,
    Plateau,
    Rounds,
    StopRule,
    Work,
)
from penstock.plan.text.mesh_search_text import parse_mesh_search


def test_a_text_may_name_any_of_the_settings() -> None:
    assert parse_mesh_search("") == MeshSearch()
    assert parse_mesh_search("search=sa, start=content, stop=plateau, window=1_000") == MeshSearch(
        "sa", "content", Plateau(), 1_000
    )
    assert parse_mesh_search(" ruster = 100 ,stop= work:500 ") == MeshSearch(
        stop=Work(500), ruster=100
    )


@pytest.mark.parametrize("seed", range(50))
def test_what_is_printed_is_read(seed: int) -> None:
    rng = Random(seed)
    stops: list[StopRule | None] = [None, Rounds(rng.randint(1, 9)), Plateau(), Work(7)]
    search = MeshSearch(
        rng.choice(list(STRATEGIES)),
        rng.choice(list(STARTS)),
        rng.choice(stops),
        rng.choice((None, 1, 10**9)),
        rng.choice((1, 2, 100)),
    )
    assert parse_mesh_search(str(search)) == search


WRONG = {
    "serch=sa": ("a mesh has no setting 'serch'", "serch", "did you mean search?"),
    "sa": ("a mesh has no setting 'sa'", "sa", "settings are search, start, stop"),
    "start=": ("start has no value", "start", "write it like --mesh 'search=sa"),
    "start=contents": ("no start 'contents'", "start", "did you mean content?"),
    "window=9, search=hill": ("no search 'hill'", "search", "strategies are opt, ii, sa"),
    "stop=rounds": ("a search does not stop by 'rounds'", "stop", "stop is rounds:K, plateau"),
    "stop=time:5": ("a search does not stop by 'time:5'", "stop", "stop is rounds:K, plateau"),
    "stop=work:0": ("'0' is no number of classifiers", "stop", "from 1 to 1,000,000,000"),
    "window=many": ("'many' is no number of tuples", "window", "from 1 to"),
    "ruster=-3": ("'-3' is no number of tuples", "ruster", "from 1 to"),
    "window=1, window=2": ("window is given twice", "window=2", "give each setting once"),
}


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_have_their_places(text: str) -> None:
    message, marked, hint = WRONG[text]
    with pytest.raises(PlanError) as raised:
        parse_mesh_search(text)
    error = raised.value
    assert (error.message, (error.hint or "")[: len(hint)]) == (message, hint)
    assert error.place is not None
    assert error.place.file == "--mesh"
    assert text[error.place.start :].startswith(marked)


def test_python_takes_the_text_and_the_class() -> None:
    script = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT) WITH (format='synthetic', rate=1, timestamp='ts');
SELECT a.k AS k FROM a [NOW] WHERE a.k > 1
"""
    wanted = ps.MeshSearch("sa", stop=Rounds(3))
    assert ps.sql(script, mesh=wanted).options.mesh == wanted
    assert ps.sql(script, mesh="search=sa, stop=rounds:3").options.mesh == wanted
    with pytest.raises(PenstockError, match="mesh cannot be 5"):
        ps.sql(script, mesh=5)  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="'0' is no number of tuples"):
        ps.sql(script, mesh=ps.MeshSearch(window=0))
