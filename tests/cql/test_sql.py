"""The language: what a script means, and what each mistake is answered."""

from __future__ import annotations

import os

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import SqlError
from penstock.query import Query
from support import paths
from support.golden import golden_cases
from support.streams.auction import DECLARATIONS, answer_to, complaint, over_auctions

GOLDEN = paths.GOLDEN / "errors.yaml"


@pytest.mark.parametrize("case", golden_cases(GOLDEN), ids=lambda case: case["says"])
def test_every_mistake_is_answered_with_its_place_and_a_hint(case: dict[str, str]) -> None:
    answer = complaint(case["query"])
    assert "hint: " in answer
    if "PENSTOCK_GOLDEN" not in os.environ:
        assert answer == case["error"]


@pytest.mark.parametrize(
    "case",
    [case for case in golden_cases(GOLDEN) if "followed" in case],
    ids=lambda case: case["says"],
)
def test_a_hint_that_is_followed_leads_to_a_query(case: dict[str, str]) -> None:
    assert isinstance(answer_to(over_auctions(case["followed"])), Query)


def test_golden_errors_are_written_anew_when_asked() -> None:
    cases = [{**case, "error": complaint(case["query"])} for case in golden_cases(GOLDEN)]
    text = "# Queries without CREATE are over the streams that test_sql.py declares.\n"
    text += "# `followed` is the query once the hint has been followed; it must be one.\n"
    text += yaml.dump(cases, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    if "PENSTOCK_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, to be read by people."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)


JOIN = (
    """
SELECT b . price * 2 AS p , a . * , CASE WHEN b . urgent THEN 'x' ELSE LOWER ( note ) END
FROM bid [ RANGE 10 SECONDS SLIDE 1 ms ] AS b JOIN auction AS a [ PARTITION BY id ROWS 3 ]
ON b . auction = a . id , person p
WHERE b . ts >= a . ts - INTERVAL '5' SECONDS AND b . bidder = p . id AND NOT b . price
IN ( 1 , 2.5 ) AND note LIKE 'a%' AND CAST ( price AS INT ) BETWEEN - 1 AND 3 AND day IS NULL
"""
    + DECLARATIONS
)
VIEW = (
    """
SELECT b . auction , SUM ( price * 2 ) / COUNT ( * ) AS mean , COUNT ( b . * ) , MIN ( day )
FROM bid [ TUMBLE 10 SECONDS ] b , auction AS a [ TUMBLE 5 SECONDS ] WHERE b . auction = a . id
GROUP BY b . auction , LOWER ( note ) HAVING mean > 1 AND MAX ( a . id ) <> 3 EVERY 10 SECONDS
"""
    + DECLARATIONS
)


@pytest.mark.parametrize("script", [JOIN, VIEW], ids=["join", "view"])
@settings(deadline=None, max_examples=200)
@given(st.data())
def test_any_mangled_script_is_a_query_or_an_error_with_place_and_hint(
    script: str, data: st.DataObject
) -> None:
    words = script.split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        words[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.lists(st.sampled_from([*words, "'", "[", "?", "@", "{", "\n", "SELECT"]), max_size=2)
        )
    answer = answer_to(" ".join(words))
    if isinstance(answer, SqlError):
        assert answer.hint
        assert answer.place is not None
        assert 0 <= answer.place.start < answer.place.end <= len(answer.place.text) + 1
    else:
        assert answer.inputs
        assert answer.results
