"""The experiments of V&N §5: streams that end, as queries with statistics."""

from __future__ import annotations

from penstock.cql import parse
from penstock.query import Query
from penstock.stats.files.load import loads
from penstock.stats.guess import complete
from penstock.stats.known import Known

SCALE = (90_000 / 1e7) ** 0.5
"""As printed, the selectivities of §5.2 give 10⁷ results where the figure shows 90,000."""

FIVE = {"A": (5_000, 20), "B": (10_000, 10), "C": (20_000, 15), "D": (50_000, 5), "E": (100_000, 2)}
THREE = {"A": (5_000, 20), "B": (10_000, 2), "C": (20_000, 10)}
"""Tuples, and milliseconds from one to the next."""

LEFT_DEEP, FAST_LEAVES, EVENLY_SPREAD = (
    "((((A B) C) D) E)",
    "(((D E) B) (A C))",
    "(((B D) E) (A C))",
)
"""V&N Fig. 11."""

LINKS = {"AB": 2e-3, "AC": 5e-3, "BD": 1e-4, "DE": 1e-5}
COSTS = "insert = 0.0014\nprobe = 0.0021\n"
"""Seconds of a machine of 2001, which the paper does not tell: with 3.5 ms for an arrival at a
symmetric hash join, plans cross as in its Fig. 9."""


def viglas(streams: dict[str, tuple[int, int]], scale: float, costs: str = COSTS) -> Known:
    """The query over these streams and all that is known of it; A.c = C.c takes 5 ms a tuple."""
    query = _query(streams)
    return complete(query, loads(_stats(streams, scale, costs), query))


def _query(streams: dict[str, tuple[int, int]]) -> Query:
    columns = ", ".join(f"{c} BIGINT" for c in "bcde")
    declared = "".join(
        f"CREATE STREAM {name} ({columns}, ts TIMESTAMP) "
        f"WITH (format='synthetic', rate={1000 / delay}, rows={rows}, timestamp='ts');\n"
        for name, (rows, delay) in streams.items()
    )
    froms = ", ".join(f"{name} [UNBOUNDED]" for name in streams)
    return parse(f"{declared}SELECT A.b AS b FROM {froms} WHERE {' AND '.join(_links(streams))}")


def _links(streams: dict[str, tuple[int, int]]) -> dict[str, float]:
    return {
        f"{a}.{b.lower()} = {b}.{b.lower()}": f
        for (a, b), f in ((tuple(link), f) for link, f in LINKS.items())
        if {a, b} <= set(streams)
    }


def _stats(streams: dict[str, tuple[int, int]], scale: float, costs: str) -> str:
    joins = "".join(
        f'"{text}" = {{selectivity = {f * scale}{", cost = 0.005" if "A.c" in text else ""}}}\n'
        for text, f in _links(streams).items()
    )
    ends = "".join(
        f"[streams.{name}]\nrate = {1000 / delay}\ncardinality = {rows}\n"
        for name, (rows, delay) in streams.items()
    )
    return f"{ends}[joins]\n{joins}[costs]\n{costs}"
