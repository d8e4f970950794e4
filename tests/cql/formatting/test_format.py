"""Scripts laid out: the same queries, the same comments, and the same layout the second time."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from penstock.cql import parse_script
from penstock.cql.expressions.types import TYPE_NAMES
from penstock.cql.formatting.format import formatted
from penstock.cql.formatting.pieces import same
from penstock.cql.reading.dialect import token_span, tokenize
from penstock.cql.reading.text import Text
from penstock.errors import SqlError
from penstock.query.script import Member
from support import paths
from support.golden import golden_cases
from support.streams.auction import DECLARATIONS, over_auctions
from support.streams.scripts import random_script

EXAMPLES = sorted((paths.ROOT / "examples").rglob("*.cql"))
PAGE = (paths.ROOT / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
FOLLOWED = [c["followed"] for c in golden_cases(paths.GOLDEN / "errors.yaml") if "followed" in c]

MESSY = """\
-- A header

-- about bids
create stream Bid(ts TIMESTAMP,   limit   INT, meta struct<city: string, n:INT>)
with (format='csv',path='p', -- where
  timestamp='ts');;
select b.limit*-1 as Select_, - b.limit - -2, b.meta.city as end, case when
b.limit<3 and b.limit between 1 and 2 then 'it''s' else null end from Bid[range 10 seconds] as b
where b.limit in(1,2) /* why */ and not b.meta.city like '%x' -- last
and b.ts is not null into Out; -- done
/* the
   end */
"""
LAID_OUT = """\
-- A header

-- about bids
CREATE STREAM Bid(ts TIMESTAMP, limit INT, meta struct<city: string, n:INT>)
WITH (
  format = 'csv',
  path = 'p', -- where
  timestamp = 'ts'
);

SELECT
  b.limit * -1 AS Select_,
  -b.limit - -2,
  b.meta.city AS end,
  CASE WHEN b.limit < 3 AND b.limit BETWEEN 1 AND 2 THEN 'it''s' ELSE NULL END
FROM Bid [RANGE 10 SECONDS] AS b
WHERE b.limit IN (1, 2) /* why */
  AND NOT b.meta.city LIKE '%x' -- last
  AND b.ts IS NOT NULL
INTO Out; -- done

/* the
   end */
"""


def queries(text: str) -> tuple[Member, ...] | str:
    """The queries that a script asks, or what is wrong with it."""
    try:
        return parse_script(text).members
    except SqlError as error:
        return error.message


def check(text: str) -> str:
    """The script laid out, which is the same script, and stays so."""
    made = formatted(text)
    assert formatted(made) == made
    assert same(Text(text, "before"), Text(made, "after"))
    asked = queries(text)
    if not isinstance(asked, str):
        assert queries(made) == asked
    return made


def test_a_messy_script_is_laid_out() -> None:
    assert check(MESSY) == LAID_OUT


KEYWORDS = """\
select first(b.price) ignore nulls as one, count(*) filter (where b.price > 3) as many, a.seller
from bid [range 10 seconds slide 2 seconds] as b, auction [window until now] as a
where b.auction = a.id and b.ts < a.ts + interval '1' hour
group by a.seller
order by many desc nulls last, a.seller asc
limit 3
every 5 minutes
"""
IN_CAPITALS = """\
SELECT first(b.price) IGNORE NULLS AS one, count(*) FILTER (WHERE b.price > 3) AS many, a.seller
FROM bid [RANGE 10 SECONDS SLIDE 2 SECONDS] AS b, auction [WINDOW UNTIL NOW] AS a
WHERE b.auction = a.id AND b.ts < a.ts + INTERVAL '1' HOUR
GROUP BY a.seller
ORDER BY many DESC NULLS LAST, a.seller ASC
LIMIT 3
EVERY 5 MINUTES
"""


def test_keywords_that_may_be_names_are_in_capitals() -> None:
    made = check(f"{DECLARATIONS}{KEYWORDS}")
    assert not isinstance(queries(made), str)
    assert made.endswith(IN_CAPITALS)


OUTSIDE_OF_QUOTES = re.compile(r"('[^']*'|“[^”]*”|\"[^\"]*\"|--[^\n]*)|([^'“\"-]+|-)")
TYPES = {*TYPE_NAMES, "DECIMAL", "VARCHAR", "INTEGER", "ARRAY", "MAP", "STRUCT"}
TYPES |= {"VARIANT"}  # It is refused by name.


def test_queries_in_small_letters_get_all_their_keywords_in_capitals() -> None:
    """What stays small of a query that is written in capitals are its types and functions."""
    for text in [*BLOCKS, *map(over_auctions, FOLLOWED)]:
        small = OUTSIDE_OF_QUOTES.sub(lambda part: part[1] or part[2].lower(), text)
        words = [
            re.findall(r"'[^']*'|“[^”]*”|\w+\b *\(?", formatted(each)) for each in (text, small)
        ]
        for large, now in zip(*words, strict=True):
            if large.isupper() and now != large and not large.endswith("("):
                assert large.strip() in TYPES, text


NAMES = """\
create stream s (ts bigint, filter bigint, every int, slide int, desc int, first int, over int)
with (format = 'csv', path = 'p', timestamp = 'ts', unit = 's', header = true);
select s.filter, every, slide as desc, first, s.over as nulls, hour(s.ts) as second, 3 as minutes
from s [range 10 ms] where s.slide > filter and every = over and first < s.desc
"""


def test_names_that_are_keywords_elsewhere_stay() -> None:
    made = check(NAMES)
    was, now = (re.findall(r"[A-Za-z_]+", text) for text in (NAMES, made))
    changed = {old for old, new in zip(was, now, strict=True) if old != new}
    assert changed == {
        *("create", "stream", "with", "true", "select", "as", "from", "range", "where", "and")
    }


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_mean_the_same(path: object) -> None:
    text = paths.ROOT.joinpath(str(path)).read_text(encoding="utf-8")
    made = check(text)
    assert max(len(line) for line in made.splitlines() if not line.startswith("--")) <= 100


def test_every_example_of_the_language_means_the_same() -> None:
    declarations = BLOCKS[0][: BLOCKS[0].index("SELECT")]
    texts = [*BLOCKS, *(f"{declarations}\n{block}" for block in BLOCKS)]
    assert sum(not isinstance(queries(text), str) for text in texts) > 20
    for text in texts:
        check(text)


def test_queries_of_all_kinds_mean_the_same() -> None:
    assert len(FOLLOWED) > 100
    for text in FOLLOWED[1::3]:
        made = check(over_auctions(text))
        assert not isinstance(queries(made), str)


@pytest.mark.parametrize("seed", range(20))
def test_random_scripts_mean_the_same(seed: int) -> None:
    text = random_script(seed).script.text
    check(text)
    check(scattered(Random(seed), text))


FILLING = ("\n", "  ", " -- x\n", "\n-- y\n\n", " /* z */ ", "\n/* u\n v */\n")


def scattered(rng: Random, text: str) -> str:
    """The script with other whitespace and with comments between its tokens."""
    parts, end = [], 0
    for token in tokenize(Text(text, "x")):
        start, stop = token_span(token)
        fill = text[end:start]
        if rng.random() < 0.3:
            fill += rng.choice(
                ("\n", "  ", " -- x\n", "\n-- y\n\n", " /* z */ ", "\n/* u\n v */\n")
            )
        parts += [fill, text[start:stop]]
        end = stop
    return "".join(parts) + text[end:]


def test_queries_of_all_kinds_keep_comments_that_stand_anywhere() -> None:
    for number, text in enumerate(FOLLOWED[::3]):
        check(scattered(Random(number), over_auctions(text)))


WORDS = ["SELECT", "a", "-", "--x\n", "(", ")", "[", "]", "1", "'t\n'", '"q"', ",", ";", ".", "*"]
MORE = ["FROM", "AND", "case", "END", "/* c */", "\n", "<", ">", "=", "CREATE", "as", "every"]


@settings(deadline=None, max_examples=300, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@example([])
@example(["SELECT", "-", "-", "1"])
@given(st.lists(st.sampled_from([*WORDS, *MORE]), max_size=25))
def test_any_words_stay_the_same_words(words: list[str]) -> None:
    try:
        tokenize(Text(" ".join(words), "x"))
    except SqlError:
        return
    check(" ".join(words))


def test_what_is_no_script_is_refused_with_its_place() -> None:
    with pytest.raises(SqlError, match="never closed") as caught:
        formatted("SELECT 'x" + DECLARATIONS.replace("'", ""))
    assert caught.value.place is not None
