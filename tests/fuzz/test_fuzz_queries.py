"""Whatever a text says, it asks a query or there is a clear error, and no stack trace."""

from __future__ import annotations

import os
from random import Random

import pytest

import penstock as ps
from penstock.cql.script import mistakes
from penstock.errors import PenstockError, SqlError
from support.fuzz.texts import nearly_a_script

TEXTS = int(os.environ.get("PENSTOCK_FUZZ", "10000"))
PARTS = 20


@pytest.mark.parametrize("part", range(PARTS))
def test_every_text_is_explained_or_refused_clearly(part: int) -> None:
    for number in range(TEXTS // PARTS):
        seed = f"{part}/{number}"
        text = nearly_a_script(Random(seed))
        try:
            found = mistakes(text)
        except Exception as error:
            raise AssertionError(f"{seed} is not checked: {text!r}") from error
        for mistake in found:
            assert is_clear(mistake, text), f"{seed}: {mistake!r}"
        if number % 20 == 0 or not found:
            explained(text, seed, is_refused=bool(found))


def explained(text: str, seed: str, *, is_refused: bool) -> None:
    """`check` and `explain` agree about whether a text asks something."""
    try:
        ps.sql(text).explain()
        is_explained = True
    except SqlError:
        is_explained = False
    except PenstockError:
        return  # Of what is beside the text: a file that is not there, a plan that no one has.
    except Exception as error:
        raise AssertionError(f"{seed} is not explained: {text!r}") from error
    assert is_explained is not is_refused, f"{seed}: {text!r}"


def is_clear(error: SqlError, text: str) -> bool:
    """Whether an error says something in few words, about a place of the text if about any."""
    place = error.place
    is_there = place is None or 0 <= place.start <= place.end <= len(text) + 1
    return is_there and bool(error.message.strip()) and len(error.message) < 2000
