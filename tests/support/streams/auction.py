"""The streams of an auction site, and scripts over them with what they are answered."""

from __future__ import annotations

import re

from penstock.cql import parse, parse_script
from penstock.errors import SqlError
from penstock.query import Query

# Stand after the query, so that errors count its own lines.
DECLARATIONS = """
;
CREATE STREAM bid (
  ts TIMESTAMP, auction BIGINT, bidder INT, price DOUBLE, note STRING, day DATE, urgent BOOLEAN
) WITH (format = 'csv', path = 'bids', timestamp = 'ts');
CREATE STREAM auction (ts TIMESTAMP, id INT, seller BIGINT, reserve FLOAT)
WITH (format = 'json', path = 'auctions', timestamp = 'ts');
CREATE TABLE person (id BIGINT, name STRING) WITH (format = 'parquet', path = 'people');
"""


def ask(select: str) -> Query:
    """The query of a SELECT over an auction site."""
    return parse(select + DECLARATIONS)


def answer_to(script: str) -> Query | SqlError:
    """The last query of a script, or what is wrong with it."""
    try:
        return parse_script(script).members[-1].query
    except SqlError as error:
        return error


def complaint(script: str) -> str:
    """What a wrong script is answered; one that declares nothing is over the site."""
    return f"{answer_to(over_auctions(script))}\n"


def over_auctions(script: str) -> str:
    """The script, with the streams of an auction site if it declares none."""
    is_whole = "format" in script or not re.search("SELECT|CREATE VIEW", script)
    return script if is_whole else script + DECLARATIONS


def condition(where: str) -> str:
    """The one condition on bid that a WHERE makes, as SQL."""
    (only,) = ask(f"SELECT price FROM bid [NOW] WHERE {where}").filters
    return str(only)
