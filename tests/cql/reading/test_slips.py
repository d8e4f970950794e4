"""Misspelt keywords are answered with the one that fits, and names never with a keyword."""

from __future__ import annotations

import re

import pytest

from penstock.cql import mistakes
from penstock.slips import meant
from support.streams.auction import DECLARATIONS

SCRIPTS = (
    """SELECT b.auction, COUNT(*) AS n, CASE WHEN MAX(b.price) IS NOT NULL THEN 1 ELSE 2 END AS c
FROM bid [RANGE 10 SECONDS SLIDE 2 MINUTES] AS b LEFT JOIN auction [TUMBLE 1 MINUTE] AS a
ON b.auction = a.id WHERE b.price BETWEEN 1 AND 3 AND b.note LIKE 'x' OR NOT b.urgent
GROUP BY b.auction HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 3 EVERY 10 SECONDS INTO first;""",
    """CREATE VIEW v AS SELECT bidder, SUM(price) AS s FROM bid [PARTITION BY bidder ROWS 3]
GROUP BY bidder; CREATE STREAM s AS SELECT b.price, b.ts - INTERVAL '5' HOURS AS t FROM bid [NOW] b
JOIN auction [UNBOUNDED] a ON b.auction = a.id; SELECT price FROM s [WINDOW UNTIL NOW] UNION ALL
SELECT price FROM bid [NOW] INTO one;""",
    """SELECT bidder, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) AS r FROM bid [NOW]
WHERE EXISTS (SELECT 1 FROM auction [NOW] a WHERE a.id = bid.auction) QUALIFY r <= 2 EVERY 5 DAYS
INTO two; SELECT CAST(price AS INT) AS x FROM bid [NOW] b INTO three; SELECT DISTINCT price
FROM bid [TUMBLE 1 DAY] INTO four;""",
)
WHOLE = tuple(script + DECLARATIONS for script in SCRIPTS)
KEPT = (
    *("COUNT", "MAX", "SUM", "ROW_NUMBER", "TIMESTAMP", "BIGINT", "INT", "DOUBLE", "STRING"),
    *("DATE", "BOOLEAN", "FLOAT"),
)


def swaps() -> list[tuple[str, str, str]]:
    """Each keyword of the scripts, how it is misspelt, and the script with that."""
    found = []
    for script in WHOLE:
        for word in re.finditer(r"\b[A-Z]{2,}\b", script):
            at = max(n for n in range(len(word[0]) - 1) if word[0][n] != word[0][n + 1])
            slip = word[0][:at] + word[0][at + 1] + word[0][at] + word[0][at + 2 :]
            if word[0] not in KEPT:
                found.append((word[0], slip, script[: word.start()] + slip + script[word.end() :]))
    return found


def test_each_keyword_with_two_letters_swapped_is_the_one_mistake_of_its_script() -> None:
    assert not [error for script in WHOLE for error in mistakes(script)]
    assert len(swaps()) > 80
    for word, slip, script in swaps():
        (error,) = mistakes(script)
        assert error.hint is not None
        # UNION without ALL is told as such.
        assert re.search(rf"(did you mean|write UNION) .*\b{word}\b", error.hint), (word, error)
        assert error.place is not None
        assert slip in error.place.text[error.place.start : error.place.end] or word == "ALL"


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("SELCT price FROM bid [NOW]", "SELECT"),
        ("SELECT price FORM bid [NOW]", "FROM"),
        ("SELECT price FRM bid [NOW]", "FROM"),
        ("SELECT COUNT(*) FROM bid [NOW] GROPU BY price", "GROUP BY"),
        ("SELECT price FROM bid [NOW] WEHRE price > 1", "WHERE"),
        ("SELECT price FROM bid [NOW] AS b WHER price > 1", "WHERE"),
        ("CRAETE STREAM s AS SELECT price FROM bid [NOW]; SELECT price FROM s [NOW]", "CREATE"),
        ("CREATE STREEM s AS SELECT price FROM bid [NOW]; SELECT price FROM s [NOW]", "STREAM"),
        ("SELECT price FROM bid [RNAGE 5 SECONDS]", "RANGE"),
        ("SELECT price FROM bid [RANGE 5 SECNODS]", "SECONDS"),
        ("SELECT price FROM bid [RANGE 1 MINTUE]", "MINUTE"),
        ("SELECT price FROM bid [TUMBEL 5 SECONDS]", "TUMBLE"),
        ("SELECT price FROM bid [PARTITON BY price ROWS 3]", "PARTITION BY"),
        ("SELECT price, COUNT(*) FROM bid [NOW] GROUP BY price EVRY 5 SECONDS", "EVERY"),
        ("SELECT price FROM bid [NOW] WHERE price IS NOT NULL ADN price > 1", "AND"),
    ],
)
def test_a_misspelt_keyword_is_the_one_mistake(written: str, word: str) -> None:
    (error,) = mistakes(written + DECLARATIONS)
    assert error.hint == f"did you mean {word}?"


def test_units_of_options_are_proposed() -> None:
    script = (
        "CREATE STREAM s (ts TIMESTAMP) WITH (format='csv', path='p', timestamp='ts', "
        "lateness='5 secnods', future='1 dya', idle='3 parsecs'); SELECT * FROM s [NOW]"
    )
    hints = [error.hint for error in mistakes(script)]
    assert hints == [
        "did you mean SECONDS?",
        "did you mean DAY?",
        "write it like idle = '30 seconds'",
    ]


NAMES = """
CREATE STREAM form (ts TIMESTAMP, wher INT, form INT, groups INT, evry INT, note INT, selct INT,
limits INT, orders INT, ends INT, whn INT, havin INT) WITH (format='csv', path='p', timestamp='ts');
"""


@pytest.mark.parametrize(
    "select",
    [
        "SELECT form wher x FROM form [NOW]",
        "SELECT wher, note form x FROM form [NOW]",
        "SELECT note wher whn FROM form [NOW]",
        "SELECT form FROM form [NOW] evry 5",
        "SELECT form FROM form [NOW] wher havin",
        "SELECT f.form g h FROM form [NOW] f",
        "SELECT form AS fro x, fro FROM form [NOW]",
        "SELECT nots FROM form [NOW]",
        "SELECT note FROM form [NOW] WHERE nod x = 1",
        "SELECT groups limits orders FROM form [NOW]",
        "SELECT * FROM form [NOW] AS ann bnn",
        "SELECT * FROM form [RANGE 5 PARSECS]",
        "SELECT * FROM form [RAINY 5 SECONDS]",
        "INSERT x",
        "DELETE FROM form",
        "CREATE SINK s",
    ],
)
def test_no_keyword_is_proposed_for_a_name_or_a_word_of_others(select: str) -> None:
    found = mistakes(NAMES + select)
    assert found
    for error in found:
        proposed = re.fullmatch(r"did you mean ([A-Z ]+)\?", error.hint or "")
        assert proposed is None, error


def test_names_that_are_near_keywords_are_names() -> None:
    select = (
        "SELECT f.form, wher AS fron, evry selct FROM form [NOW] f WHERE havin > whn AND note = 1"
    )
    assert mistakes(NAMES + select) == []


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("selcet", "SELECT"),
        ("sleect", "SELECT"),
        ("FRMO", "FROM"),
        ("teh", None),
        ("FROM", None),
        ("no", "ON"),
        ("an", None),
        ("nod", None),
        ("stram", "STREAM"),
        ("dream", None),
        ("group  yb", "GROUP BY"),
    ],
)
def test_slips_are_a_letter_or_two_of_long_words_and_swaps_in_short_ones(
    written: str, word: str | None
) -> None:
    assert meant(written, ["SELECT", "FROM", "ON", "AND", "NOT", "STREAM", "GROUP BY"]) == word
