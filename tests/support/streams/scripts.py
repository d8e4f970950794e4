"""Random scripts: two to four queries over two streams and over each other, with their input.

Every query has the columns `id BIGINT, k INT, j INT, x DOUBLE`, as the streams have, so that each
may read any before it: as a stream, as the changes of a view, or as a view as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from penstock.cql import parse_script
from penstock.query import Input, Source
from penstock.query.script import Member, Script
from penstock.query.window import UNBOUNDED
from reference import Row
from support.streams.cases import any_batches, write_source

_COLUMNS = "id BIGINT, k INT, j INT, x DOUBLE"
_SIZE = 14


@dataclass(frozen=True)
class ScriptCase:
    """A script and what each declared source brings in each batch."""

    script: Script
    brought: Mapping[str, list[list[Row]]]


@dataclass(frozen=True)
class _Known:
    """Something that a query may read; `keys` are the groups of a view."""

    name: str
    keys: tuple[str, ...] | None = None

    @property
    def is_view(self) -> bool:
        return self.keys is not None


def random_script(seed: int) -> ScriptCase:
    """The script of a seed."""
    rng = Random(f"script {seed}")
    return script_case(rng, random_statements(rng))


def random_statements(rng: Random) -> list[str]:
    """Two streams, and two to four queries over these and over each other."""
    known = [_Known("s0"), _Known("s1")]
    statements = [declared(rng, each.name) for each in known]
    count = rng.choice((2, 2, 3, 4))
    for number in range(count):
        name = f"m{number}"
        # The last ones shall read the others.
        readable = known if number < count - 1 else known[2:] + known[:1]
        query, keys = _query(rng, readable)
        statements.append(_named(rng, name, query, keys, is_last=number == count - 1))
        known.append(_Known(name, keys))
    return statements


def script_case(rng: Random, statements: list[str]) -> ScriptCase:
    """The script of these statements, in any order, with random input."""
    rng.shuffle(statements)
    script = parse_script(";\n".join(statements))
    inputs = [Input(each.name, each, UNBOUNDED) for each in script.sources.values()]
    inputs.sort(key=lambda item: item.alias)
    return ScriptCase(script, any_batches(rng, inputs, _SIZE))


def write_script(case: ScriptCase, directory: Path) -> Script:
    """Write one parquet file a source and batch; the script that reads them, a file a batch."""
    written = {
        name: write_source(source, case.brought[name], directory / name)
        for name, source in case.script.sources.items()
    }
    return reading(case.script, written)


def reading(script: Script, written: Mapping[str, Source]) -> Script:
    """The script over other sources of the same names."""
    members = tuple(_reading(member, written) for member in script.members)
    return replace(script, members=members)


def _reading(member: Member, written: Mapping[str, Source]) -> Member:
    inputs = tuple(
        replace(item, source=written.get(item.source.name, item.source))
        for item in member.query.inputs
    )
    return replace(member, query=replace(member.query, inputs=inputs))


def declared(rng: Random, name: str) -> str:
    """A stream of that name, with the columns that all have."""
    lateness = rng.choice(("", "", ", lateness = '2 seconds'"))
    return (
        f"CREATE STREAM {name} (ts TIMESTAMP, {_COLUMNS}) "
        f"WITH (format = 'parquet', path = '{name}', timestamp = 'ts'{lateness})"
    )


def _named(rng: Random, name: str, query: str, keys: tuple[str, ...] | None, is_last: bool) -> str:
    if is_last or rng.random() < 0.6:
        return f"{query} INTO {name}"
    return f"CREATE {'STREAM' if keys is None else 'VIEW'} {name} AS {query}"


def _query(rng: Random, known: list[_Known]) -> tuple[str, tuple[str, ...] | None]:
    """A query, and the groups of its view if it is one."""
    views = [each for each in known if each.is_view]
    kinds = ["filter", "join", "join", "view", "view", "joined view", "union", "scalar"]
    kinds += ["relation", "relation", "relation view"] * bool(views)
    one, other = rng.choice(known).name, rng.choice(known).name
    match rng.choice(kinds):
        case "filter":
            return _filter(rng, one), None
        case "join":
            return f"SELECT {_joined(rng)} FROM {_pair(rng, one, other)}", None
        case "view":
            keys = rng.choice((("k",), ("k",), ("k", "j"), ()))
            return _view(rng, keys, f"{one} [{_window(rng)}] AS a"), keys
        case "joined view":
            keys = rng.choice((("k",), ()))
            return _view(rng, keys, _pair(rng, one, other)), keys
        case "union":
            return f"{_filter(rng, one)} UNION ALL {_filter(rng, other)}", None
        case "scalar":
            inner = f"(SELECT {rng.choice(('AVG', 'MIN'))}(x) FROM {other} [{_window(rng)}])"
            return f"SELECT id, k, j, x FROM {one} [{_window(rng)}] WHERE x >= {inner}", None
        case "relation":
            view = rng.choice(views)
            return _met(rng, one, view), None
    view = rng.choice(views)
    keys = rng.choice((("k",), ("j",), ()))
    return _over_view(rng, keys, view.name), keys


def _filter(rng: Random, one: str) -> str:
    condition = rng.choice(("", " WHERE j <> 1", " WHERE x >= 1 OR x IS NULL"))
    return f"SELECT id, k, j, x FROM {one} [{_window(rng)}]{condition}"


def _joined(rng: Random) -> str:
    return rng.choice(("a.id, b.k, a.j, b.x", "b.id, a.k, b.j, a.x"))


def _pair(rng: Random, one: str, other: str) -> str:
    more = rng.choice(("", "", " AND a.x <= b.x"))
    return f"{one} [{_window(rng)}] AS a, {other} [{_window(rng)}] AS b WHERE a.k = b.k{more}"


def _met(rng: Random, one: str, view: _Known) -> str:
    """A stream that meets a view as it is, or a pair of streams that do."""
    on = rng.choice(("k", "j"))
    if rng.random() < 0.3:
        return f"SELECT a.id, v.k, b.j, v.x FROM {_triple(rng, one, view.name)} AND b.{on} = v.{on}"
    inputs = [f"{one} [{_window(rng)}] AS a", f"{view.name} AS v"]
    rng.shuffle(inputs)
    return f"SELECT a.id, v.k, a.j, v.x FROM {', '.join(inputs)} WHERE a.{on} = v.{on}"


def _triple(rng: Random, one: str, view: str) -> str:
    inputs = [f"{one} [{_window(rng)}] AS a", f"s0 [{_window(rng)}] AS b", f"{view} AS v"]
    rng.shuffle(inputs)
    return f"{', '.join(inputs)} WHERE a.k = b.k"


def _view(rng: Random, keys: tuple[str, ...], inputs: str) -> str:
    columns = [
        f"a.{name} AS {name}" if name in keys else f"{_one(rng)}(a.{name}) AS {name}"
        for name in "kj"
    ]
    x = rng.choice(("SUM(a.x)", "AVG(a.x)", "MAX(a.x)"))
    return f"SELECT COUNT(*) AS id, {', '.join(columns)}, {x} AS x FROM {inputs}{_rest(rng, keys)}"


def _over_view(rng: Random, keys: tuple[str, ...], view: str) -> str:
    columns = [f"a.{name}" if name in keys else f"{_one(rng)}(a.{name}) AS {name}" for name in "kj"]
    return (
        f"SELECT SUM(a.id) AS id, {', '.join(columns)}, AVG(a.x) AS x "
        f"FROM {view} AS a{_rest(rng, keys)}"
    )


def _one(rng: Random) -> str:
    return rng.choice(("MIN", "MAX"))


def _rest(rng: Random, keys: tuple[str, ...]) -> str:
    groups = f" GROUP BY {', '.join(f'a.{name}' for name in keys)}" if keys else ""
    having = rng.choice(("", "", " HAVING COUNT(*) > 1"))
    return groups + having + rng.choice(("", " EVERY 1 SECOND", " EVERY 5 SECONDS"))


def _window(rng: Random) -> str:
    return rng.choice(
        (
            *("RANGE 3 SECONDS", "RANGE 10 SECONDS", "RANGE 1 MINUTE", "RANGE 8 SECONDS SLIDE 3 s"),
            *("ROWS 1", "ROWS 3", "ROWS 7", "PARTITION BY k ROWS 2", "PARTITION BY j ROWS 1"),
            *("TUMBLE 7 SECONDS", "NOW", "UNBOUNDED"),
        )
    )
