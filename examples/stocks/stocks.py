"""Stocks, news and research: sectors that behave differently take different routes (a query mesh).

    python examples/stocks/stocks.py          makes data/stocks, samples it, plans, runs, prints

The same by hand, once the data is there, each with `--functions examples/stocks/stocks.py`:

    penstock analyze examples/stocks/stocks.cql --output data/stocks.toml
    penstock explain examples/stocks/stocks.cql --stats data/stocks.toml
    penstock run examples/stocks/stocks.cql --stats data/stocks.toml --available-now
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher
from pathlib import Path
from random import Random

import penstock as ps

QUERY = Path(__file__).with_name("stocks.cql")
DATA = Path("data/stocks")
END = datetime(2026, 6, 1, 12, tzinfo=UTC)
STOCKS, SECONDS = 20_000, 60


@dataclass(frozen=True)
class Sector:
    """How a sector behaves: news in an hour, reports on a company in three, and how often the price
    of a stock follows the pattern."""

    name: str
    news: int
    reports: float
    rising: float


SECTORS = (
    Sector("tech", news=90, reports=0.05, rising=0.6),
    Sector("oil", news=1, reports=12.0, rising=0.8),
    Sector("bank", news=40, reports=6.0, rising=0.02),
)
COMPANIES = 20


@ps.function(cost="20 us", selectivity=0.5)
def matches(data: str, pattern: str) -> bool:
    """Whether some movements of a price are nearly those of a pattern."""
    return SequenceMatcher(None, data, pattern, autojunk=False).ratio() > 0.9


@ps.function(cost="1 us", selectivity=0.1)
def contains(text: str, part: str) -> bool:
    """Whether a text mentions something."""
    return part in text


def make_data(folder: Path, stocks: int = STOCKS, seed: int = 1) -> None:
    """Write three hours of news and research, and a minute of stock prices at their end."""
    rng = Random(seed)
    write(folder / "news", ("ts", "sector", "headline"), news(rng))
    write(folder / "research", ("ts", "company", "opinion"), research(rng))
    write(folder / "stock", ("ts", "company", "sector", "price", "data"), stock(rng, stocks))


def news(rng: Random) -> list[tuple[object, ...]]:
    return [
        (before(rng, hours=3), s.name, f"{s.name}: {rng.choice(companies(s))} in the news")
        for s in SECTORS
        for _ in range(3 * s.news)
    ]


def research(rng: Random) -> list[tuple[object, ...]]:
    return [
        (before(rng, hours=3), rng.choice(companies(s)), rng.choice(("buy", "hold", "sell")))
        for s in SECTORS
        for _ in range(round(s.reports * COMPANIES))
    ]


def stock(rng: Random, count: int) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for _ in range(count):
        sector = rng.choice(SECTORS)
        is_rising = rng.random() < sector.rising
        data = "up up up down up up" if is_rising else "down down flat up down flat"
        price = round(rng.uniform(10, 500), 2)
        when = END + timedelta(seconds=rng.uniform(0, SECONDS))
        found.append((when, rng.choice(companies(sector)), sector.name, price, data))
    return found


def companies(sector: Sector) -> list[str]:
    return [f"{sector.name}-{number:02}" for number in range(COMPANIES)]


def before(rng: Random, hours: int) -> datetime:
    return END - timedelta(hours=hours) * rng.random()


def write(folder: Path, names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "all.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(names)
        out.writerows(sorted(rows, key=lambda row: str(row[0])))


def main() -> None:
    """Make the data, sample it, show the plan, run it in this process, show a few results."""
    from penstock.api import temporary_checkpoint
    from penstock.cql import parse
    from penstock.sampling.analyze import analyze
    from penstock.stats.files.save import save

    make_data(DATA)
    functions = [matches, contains]
    text = QUERY.read_text()
    stats, results = DATA.parent / "stocks.toml", DATA.parent / "stocks.jsonl"
    save(analyze(parse(text, functions=functions)), stats)
    query = ps.sql(text, stats=stats, functions=functions, engine="local")
    print(query.explain())
    with temporary_checkpoint() as checkpoint:
        run = query.local(sink=ps.jsonl(str(results)), checkpoint=checkpoint, overwrite=True)
        run.available_now()
    lines = results.read_text().splitlines()
    print(f"{len(lines):,} results in {results}, such as", *lines[:3], sep="\n")


if __name__ == "__main__":
    main()
