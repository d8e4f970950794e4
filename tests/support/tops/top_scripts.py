"""Random scripts of views that show their first rows, each read as it is and by its changes."""

from __future__ import annotations

from random import Random

from support.streams.scripts import ScriptCase, declared, script_case

_OVER = "ROW_NUMBER() OVER (PARTITION BY {part} ORDER BY {order}) AS place"


def top_script(seed: int) -> ScriptCase:
    """The script of a seed: the first groups, groups of each part, and tuples; and who reads
    them."""
    rng = Random(f"top script {seed}")
    statements = [
        declared(rng, "s0"),
        declared(rng, "s1"),
        f"CREATE VIEW best AS {_best(rng)}",
        f"{_ranked(rng)} INTO ranked",
        f"{_highest(rng)} INTO highest",
        f"SELECT a.id, v.x, v.id AS n FROM s1 [{_window(rng)}] AS a, best AS v "
        "WHERE a.k = v.k INTO met",
        f"SELECT id, k, _time FROM best [{_window(rng)}] INTO told",
        "SELECT a.id, h.id AS other, h.place FROM s0 [NOW] AS a, highest AS h "
        "WHERE a.k = h.k INTO beaten",
        f"SELECT k, SUM(id) AS id FROM ranked AS r GROUP BY k {_limit(rng, ('id', 'k'))} "
        f"{_every(rng)} INTO again",
        f"SELECT v.k, v.id FROM best AS v {_limit(rng, ('v.id', 'v.x'))} EVERY 1 SECOND INTO least",
    ]
    return script_case(rng, statements)


def _best(rng: Random) -> str:
    """A view of which the first groups are shown."""
    having = rng.choice(("", "", " HAVING COUNT(*) > 1"))
    clauses = [_limit(rng, ("id", "x", "MIN(j)", "AVG(x)", "k")), _every(rng)]
    rng.shuffle(clauses)
    return (
        "SELECT COUNT(*) AS id, k, MIN(j) AS j, MAX(x) AS x "
        f"FROM s0 [{_window(rng)}] GROUP BY k{having} {' '.join(clauses)}"
    )


def _ranked(rng: Random) -> str:
    """A view over a join of which the first groups of each k are shown."""
    place = _OVER.format(part="a.k", order=_order(rng, ("COUNT(*)", "MAX(b.x)", "a.j")))
    return (
        f"SELECT a.k, a.j, COUNT(*) AS id, {place} FROM s0 [{_window(rng)}] AS a, "
        f"s1 [{_window(rng)}] AS b WHERE a.k = b.k GROUP BY a.k, a.j "
        f"QUALIFY place <= {rng.choice((1, 2, 3))} {_every(rng)}"
    )


def _highest(rng: Random) -> str:
    """A view of the first tuples of each k."""
    place, count = _OVER.format(part="k", order=_order(rng, ("x", "j"))), rng.choice((1, 2, 9))
    inner = f"SELECT id, k, x, {place} FROM s1 [{_window(rng)}]"
    every = "EVERY 2 SECONDS"
    return rng.choice(
        (
            f"{inner} QUALIFY place <= {count} {every}",
            f"SELECT id, k, x, place FROM ({inner}) WHERE place <= {count} {every}",
        )
    )


def _limit(rng: Random, columns: tuple[str, ...]) -> str:
    return f"ORDER BY {_order(rng, columns)} LIMIT {rng.choice((1, 2, 2, 100))}"


def _order(rng: Random, columns: tuple[str, ...]) -> str:
    ways = ("", " DESC", " DESC NULLS FIRST", " NULLS LAST")
    return ", ".join(f"{column}{rng.choice(ways)}" for column in rng.sample(columns, 2))


def _every(rng: Random) -> str:
    return rng.choice(("", "EVERY 1 SECOND", "EVERY 5 SECONDS"))


def _window(rng: Random) -> str:
    return rng.choice(
        (
            *("RANGE 3 SECONDS", "RANGE 10 SECONDS", "RANGE 8 SECONDS SLIDE 3 SECONDS"),
            *("ROWS 3", "PARTITION BY k ROWS 2", "TUMBLE 7 SECONDS", "NOW", "UNBOUNDED"),
        )
    )
