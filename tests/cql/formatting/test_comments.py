"""Comments in any gap of a script: none is lost, none goes to another item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import pytest

from penstock.cql import parse_script
from penstock.cql.formatting.format import formatted
from penstock.cql.reading.dialect import Token, TokenType, token_span, tokenize
from penstock.cql.reading.text import Text
from support.streams.auction import DECLARATIONS

LISTS = """\
CREATE STREAM bid (ts TIMESTAMP, -- when
  /* whose */ auction INT, /* by whom */ bidder INT -- a person
  , price DOUBLE /* in cents */, note STRING
  -- above day
  , day DATE
  -- nothing more
) WITH (format = 'csv', /* where */ path = 'bids' -- a folder
  -- of the event
  , timestamp = 'ts' -- the last
  );
SELECT /* all of it */ b.price, -- the price
  /* twice */ b.price * 2 AS double, b.note /* as written */, LOWER(/* small */ b.note)
  -- the day
  , b.day
FROM bid [RANGE /* not long */ 5 SECONDS] AS b -- alone
WHERE b.price > 1 -- dear
  AND /* or not */ b.bidder = 2 /* hers */ AND (b.auction = /* this */ 3 -- or
  OR b.auction = 4) -- that
;
"""
LAID_OUT = """\
CREATE STREAM bid (
  ts TIMESTAMP, -- when
  /* whose */ auction INT,
  /* by whom */ bidder INT, -- a person
  price DOUBLE, /* in cents */
  note STRING,
  -- above day
  day DATE
  -- nothing more
)
WITH (
  format = 'csv',
  /* where */ path = 'bids', -- a folder
  -- of the event
  timestamp = 'ts' -- the last
);

SELECT
  /* all of it */ b.price, -- the price
  /* twice */ b.price * 2 AS double,
  b.note, /* as written */
  LOWER(/* small */ b.note),
  -- the day
  b.day
FROM bid [RANGE /* not long */ 5 SECONDS] AS b -- alone
WHERE b.price > 1 -- dear
  AND /* or not */ b.bidder = 2 /* hers */
  AND (
    b.auction = /* this */ 3 -- or
    OR b.auction = 4
  ); -- that
"""
SCRIPTS = (
    f"""
SELECT b.auction, COUNT(*) AS many, SUM(b.price * (1 + 2)) AS total, LOWER(MAX(b.note)) AS note
FROM bid [RANGE 10 SECONDS SLIDE 2 SECONDS] AS b LEFT JOIN auction [TUMBLE 1 MINUTE] a
ON b.auction = a.id AND a.seller > 3 WHERE b.price BETWEEN 1 AND 3 AND (b.note LIKE 'x' OR
NOT b.urgent) AND b.bidder IN (1, 2, -3) GROUP BY b.auction, a.seller HAVING COUNT(*) > 1
ORDER BY many DESC, total LIMIT 3 EVERY 10 SECONDS INTO first{DECLARATIONS}""",
    f"""
WITH w AS (SELECT price AS left, note FROM bid [NOW] WHERE price > 3), u AS (SELECT id FROM auction
[NOW]) SELECT w.left, u.id, CASE WHEN w.left > 3 AND u.id < 4 THEN 'a' ELSE 'b' END AS kind FROM w
[RANGE 1 HOUR], u [ROWS 3] WHERE w.left = u.id INTO one; CREATE VIEW v AS SELECT auction,
MIN(ts - INTERVAL '5' SECONDS) AS t FROM bid [PARTITION BY auction, bidder ROWS 3] GROUP BY auction;
SELECT price FROM bid [NOW] UNION ALL SELECT reserve FROM auction [UNBOUNDED] AS limits
WHERE EXISTS (SELECT 1 FROM bid [NOW] AS b WHERE b.auction = limits.id) INTO two{DECLARATIONS}""",
    LISTS,
)
OWN_LINE = ("\n-- {}\n", "\n  /* {} */\n", "\n/* {}\n  more */\n", "\n\n-- {}\n\n")
LINE_END = (" -- {}\n", " /* {} */\n", "\t--{}\n")
INLINE = (" /* {} */ ", "/*{}*/")
SHAPES = OWN_LINE + LINE_END + INLINE
SIGNS = (TokenType.COMMA, TokenType.SEMICOLON)
OPENING = (TokenType.COMMA, TokenType.L_PAREN, TokenType.L_BRACKET)
CLOSING = (*SIGNS, TokenType.R_PAREN, TokenType.R_BRACKET)


@dataclass(frozen=True)
class Put:
    """A comment that was put between two tokens, of which the one before is the `place`-th that is
    no comma and no semicolon."""

    name: str
    shape: str
    place: int
    before: Token | None
    after: Token

    leads: bool
    """Whether the one before is a comma that begins a line, and so is of what follows."""


Choose = Callable[[int], str | None]


def commented(script: str, choose: Choose) -> tuple[str, list[Put]]:
    """A script with comments in those of its gaps for which one is chosen."""
    parts, puts, end, place = list[str](), list[Put](), 0, 0
    before: Token | None = None
    leads = False
    for gap, token in enumerate(tokenize(Text(script, "x"))):
        start, stop = token_span(token)
        filling, shape = script[end:start], choose(gap)
        if shape is not None and not filling.strip():
            put = Put(f"c{gap}c", shape, place, before, token, leads)
            puts.append(put)
            filling = shape.format(put.name)
        parts += [filling, script[start:stop]]
        before, end = token, stop
        leads = token.token_type is TokenType.COMMA and "\n" in filling
        place += token.token_type not in SIGNS
    return "".join(parts) + script[end:], puts


def at_random(seed: int, share: float) -> Choose:
    """Comments of all shapes, in about that share of the gaps."""
    rng = Random(seed)
    return lambda _: rng.choice(SHAPES) if rng.random() < share else None


def check_place(put: Put, made: str, words: Sequence[Token]) -> None:
    """A comment stands between the same words, and on a line as it did."""
    assert made.count(put.name) == 1
    at = made.index(put.name)
    assert sum(token.start < at for token in words) == put.place
    start, end = made.rfind("\n", 0, at) + 1, made.find("\n", at)
    is_end = put.before is not None and put.before.token_type is TokenType.SEMICOLON
    has_before = is_end or (put.place > 0 and words[put.place - 1].end >= start)
    has_after = put.place < len(words) and words[put.place].start < end
    if put.shape in OWN_LINE or (put.shape in LINE_END and (put.leads or put.before is None)):
        assert made[start:at].strip() in ("--", "/*")
        assert not has_after
    elif put.shape in LINE_END or put.after.token_type in CLOSING:
        assert has_before
    elif put.before is None or put.before.token_type in OPENING:
        assert has_after
    else:
        assert has_before or has_after


def check(text: str, puts: Sequence[Put]) -> None:
    """A script is laid out with all its comments, to the same queries, and stays so."""
    made = formatted(text)
    assert formatted(made) == made
    assert parse_script(made).members == parse_script(text).members
    words = [token for token in tokenize(Text(made, "x")) if token.token_type not in SIGNS]
    for put in puts:
        check_place(put, made, words)


@pytest.mark.parametrize("text", ["/* c */ /* d */", "-- c", "/* c */ ; /* d */", " /* c */\n;"])
def test_comments_alone_are_kept(text: str) -> None:
    made = formatted(text)
    assert formatted(made) == made
    assert made.replace("\n", " ").split() == text.split()


def test_comments_in_lists_stay_with_their_items() -> None:
    assert formatted(LISTS) == LAID_OUT
    assert formatted(LAID_OUT) == LAID_OUT


@pytest.mark.parametrize("script", SCRIPTS, ids=["view", "queries", "lists"])
@pytest.mark.parametrize("share", [0.03, 0.2, 0.6, 1.0])
def test_a_comment_in_any_gap_stays_where_it_is(script: str, share: float) -> None:
    for seed in range(4):
        check(*commented(script, at_random(seed, share)))


def test_each_gap_alone_keeps_its_comment() -> None:
    for gap in range(len(tokenize(Text(LISTS, "x")))):
        for more in (0, 3, 5):
            check(*commented(LISTS, {gap: SHAPES[(gap + more) % len(SHAPES)]}.get))
