"""Random scripts with outer joins: over streams and views that others make, read as streams, and
under a view that others read."""

from __future__ import annotations

from random import Random

from support.streams.scripts import ScriptCase, declared, script_case

_KNOWN = ("s0", "s1", "near", "counted")
_JOINS = ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")


def outer_script(seed: int) -> ScriptCase:
    """The script of a seed."""
    rng = Random(f"outer script {seed}")
    one, other = rng.sample(_KNOWN, 2)
    statements = [
        declared(rng, "s0"),
        declared(rng, "s1"),
        f"CREATE STREAM near AS {_near(rng)}",
        f"CREATE VIEW counted AS {_counted(rng)}",
        f"SELECT {_joined(rng, one, other)} INTO lonely",
        f"SELECT {_several(rng, one, other)} INTO choosy",
        f"SELECT id, x, _time FROM lonely [ROWS {rng.randint(1, 4)}] INTO latest",
        f"SELECT COUNT(*) AS n, MIN(id) AS least FROM choosy [{_window(rng)}] EVERY 2 SECONDS "
        "INTO summed",
        f"SELECT c.id, c._time, l.x FROM choosy [{_window(rng)}] AS c LEFT JOIN "
        f"lonely [{_window(rng)}] AS l ON c.id = l.id INTO both",
        f"CREATE VIEW asked AS {_view(rng)}",
        f"SELECT k, id, _time FROM asked [{_window(rng)}] INTO told",
        "SELECT a.id, v.id AS n FROM s0 [NOW] AS a, asked AS v WHERE a.k = v.k INTO met",
    ]
    return script_case(rng, statements)


def _near(rng: Random) -> str:
    """A query whose results are a stream."""
    plain = "SELECT id, k, j, x FROM"
    return rng.choice(
        (
            f"{plain} s0 [NOW] WHERE j <> 1",
            f"{plain} s0 [ROWS 3]",
            f"{plain} s0 [NOW] UNION ALL {plain} s1 [NOW] WHERE j <> 2",
            f"{plain} s0 [NOW] WHERE x >= (SELECT AVG(x) FROM s1 [RANGE 10 SECONDS])",
            f"SELECT a.id, b.k, a.j, b.x FROM s0 [{_window(rng)}] AS a, s1 [{_window(rng)}] AS b "
            "WHERE a.j = b.j",
        )
    )


def _counted(rng: Random) -> str:
    every = rng.choice(("", " EVERY 1 SECOND", " EVERY 5 SECONDS"))
    return (
        "SELECT COUNT(*) AS id, k, MIN(j) AS j, MAX(x) AS x "
        f"FROM s1 [{_window(rng)}] GROUP BY k{every}"
    )


def _joined(rng: Random, one: str, other: str) -> str:
    """What is selected of a join that is not an inner one, and the join. Of what never dies nobody
    can read that it has no partner."""
    more = rng.choice(("", "", " AND a.x <= b.x", " AND b.j <> 1", " AND a.j <> 1"))
    left, right = f"{one} [{_mortal(rng)}] AS a", f"{other} [{_mortal(rng)}] AS b"
    match rng.choice((*_JOINS, "EXISTS", "NOT EXISTS", "IN")):
        case "IN":
            left = f"{one} [{_window(rng)}] AS a"
            return f"a.id, a.x FROM {left} WHERE a.k IN (SELECT b.k FROM {right})"
        case "EXISTS" | "NOT EXISTS" as asked:
            return (
                f"a.id, a.x FROM {left} WHERE {asked} (SELECT 1 FROM {right} WHERE a.k = b.k{more})"
            )
        case join:
            shown = "a.id, a.x" if join.split()[1] != "JOIN" else "a.id, b.id AS other, b.x"
            return f"{shown} FROM {left} {join} {right} ON a.k = b.k{more}"


def _several(rng: Random, one: str, other: str) -> str:
    """What is selected of several such joins, and the joins."""
    a, b = f"{one} [{_mortal(rng)}] AS a", f"{other} [{_window(rng)}] AS b"
    c = f"{rng.choice(_KNOWN)} [{_window(rng)}] AS c"
    match rng.randrange(4):
        case 0:
            return f"a.id, b.x FROM {a} LEFT JOIN {b} ON a.k = b.k LEFT JOIN {c} ON b.j = c.j"
        case 1:
            there = f"SELECT 1 FROM {c} WHERE c.j = a.j AND c.x >= a.x"
            return f"a.id, b.x FROM {a} LEFT JOIN {b} ON a.k = b.k WHERE NOT EXISTS ({there})"
        case 2:
            there = f"a.k IN (SELECT b.k FROM {b}) AND EXISTS (SELECT 1 FROM {c} WHERE c.j = a.j)"
            return f"a.id, a.x FROM {a} WHERE {there}"
    there = f"SELECT 1 FROM {c} WHERE c.k = a.k"
    return f"a.id, a.x FROM {a} JOIN {b} ON a.k = b.k WHERE EXISTS ({there})"


def _mortal(rng: Random) -> str:
    window = _window(rng)
    return "RANGE 6 SECONDS" if window == "UNBOUNDED" else window


def _view(rng: Random) -> str:
    """A view over an outer join, whose rows are told apart by k."""
    one, other = rng.sample(_KNOWN, 2)
    join = rng.choice(("LEFT JOIN", "FULL JOIN", "LEFT ANTI JOIN"))
    counted = "COUNT(*)" if join == "LEFT ANTI JOIN" else "COUNT(b.id)"
    return (
        f"SELECT a.k, {counted} AS id FROM {one} [{_window(rng)}] AS a "
        f"{join} {other} [{_window(rng)}] AS b ON a.k = b.k GROUP BY a.k EVERY 2 SECONDS"
    )


def _window(rng: Random) -> str:
    return rng.choice(
        (
            *("RANGE 3 SECONDS", "RANGE 10 SECONDS", "RANGE 8 SECONDS SLIDE 3 SECONDS"),
            *("TUMBLE 7 SECONDS", "NOW", "UNBOUNDED"),
        )
    )
