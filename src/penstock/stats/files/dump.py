"""Statistics as the text of a stats file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

from penstock.figure import Figure, Origin
from penstock.query.keys import key_classes
from penstock.stats.costs import Costs
from penstock.stats.statistics import GivenCondition, Statistics, StreamFigures, group_text
from penstock.stats.training import Training, Value


def dump(statistics: Statistics, training: str | None = None) -> str:
    """The TOML that reads back as the same statistics; notes become comments at its head.

    `training` is the name of a file beside it that holds the training instead.
    """
    filters = {str(condition) for condition in statistics.query.filters}
    given = statistics.conditions
    classes = key_classes(statistics.query)
    equal = dict.fromkeys((*statistics.groups, *statistics.handling))
    groups = {
        group_text(classes, g): GivenCondition(statistics.groups.get(g), statistics.handling.get(g))
        for g in equal
    }
    thetas = {text: each for text, each in given.items() if text not in filters}
    sections = [
        "".join(f"# {note}\n" for note in statistics.notes),
        "".join(_settings(statistics, training)),
        *(_stream(alias, each) for alias, each in statistics.streams.items()),
        _predicates("joins", groups | thetas),
        _predicates("filters", {text: each for text, each in given.items() if text in filters}),
        "" if statistics.costs is None else "".join(_costs(statistics.costs)),
        dump_training(statistics) if training is None else "",
        "".join(_untrained(statistics.untrained)),
    ]
    return "\n".join(section for section in sections if section)


def dump_training(statistics: Statistics) -> str:
    """The part of that TOML which people do not edit: nothing, where no stream is trained."""
    return "\n".join("".join(_training(each)) for each in statistics.training.values())


def _settings(statistics: Statistics, training: str | None) -> Iterator[str]:
    if statistics.capacity is not None:
        yield f"capacity = {_figure(statistics.capacity)}  # CPU-seconds per second\n"
    if statistics.rows_warmup is not None:
        yield f"rows_warmup = {statistics.rows_warmup!r}  # seconds\n"
    if statistics.horizon is not None:
        yield f"horizon = {statistics.horizon!r}  # seconds\n"
    if statistics.memory is not None:
        yield f"memory = {statistics.memory!r}  # bytes\n"
    if training is not None:
        yield f"training = {_quoted(training)}  # tuples to choose routes by, in a file beside it\n"


def _stream(alias: str, figures: StreamFigures) -> str:
    lines = [f"[streams.{_key(alias)}]"]
    if figures.rate is not None:
        lines.append(f"rate = {_figure(figures.rate)}  # tuples/s")
    if figures.cardinality is not None:
        lines.append(f"cardinality = {_figure(figures.cardinality)}  # tuples")
    lines += [f"distinct.{_key(c)} = {_figure(f)}" for c, f in figures.distinct.items()]
    if figures.cells is not None:
        lines.append(f"cells = {_figure(figures.cells)}  # rows of an aggregation set")
    if figures.costs is not None:
        lines += [f"costs.{name} = {_figure(each)}" for name, each in figures.costs.given]
    if figures.variation is not None:
        lines.append(f"variation = {_figure(figures.variation)}  # of the tuples of a second")
    if figures.unique:
        keys = ", ".join(_unique(*each) for each in figures.unique.items())
        lines.append(f"unique = [{keys}]  # no two tuples have such a key in common")
    return "\n".join(lines) + "\n"


def _unique(columns: tuple[str, ...], origin: Origin) -> str:
    names = _quoted(columns[0]) if len(columns) == 1 else _row(columns)
    return names if origin == "declared" else f'{{value = {names}, origin = "{origin}"}}'


def _predicates(table: str, conditions: Mapping[str, GivenCondition]) -> str:
    if not conditions:
        return ""
    lines = [f"{_quoted(text)} = {_condition(each)}\n" for text, each in conditions.items()]
    return f"[{table}]\n" + "".join(lines)


def _condition(given: GivenCondition) -> str:
    parts = {"selectivity": given.selectivity, "cost": given.cost}
    inside = [f"{name} = {_figure(figure)}" for name, figure in parts.items() if figure]
    return "{" + ", ".join(inside) + "}"


def _costs(costs: Costs) -> Iterator[str]:
    yield "[costs]  # seconds\n"
    if costs.origin != "declared":
        yield f'origin = "{costs.origin}"\n'
    names = [field.name for field in fields(costs) if field.name not in ("origin", "join")]
    if costs.join is not None:
        yield f"join = {costs.join!r}\n"
    else:
        given = {name: getattr(costs, name) for name in names}
        yield from (f"{name} = {cost!r}\n" for name, cost in given.items() if cost is not None)


def _training(training: Training) -> Iterator[str]:
    yield f"[training.{_key(training.driver)}]  # tuples that stand for all, to choose routes by\n"
    yield f"attributes = {_row(training.attributes)}\n"
    yield f"operators = {_row(training.operators)}\n"
    yield f"weights = {_row(training.weights)}\n"
    yield "values = [\n" + "".join(f"  {_row(row)},\n" for row in training.values) + "]\n"
    yield "yields = [\n" + "".join(f"  {_row(row)},\n" for row in training.yields) + "]\n"


def _untrained(reasons: Mapping[str, str]) -> Iterator[str]:
    if reasons:
        yield "[untrained]  # streams with one route, and why\n"
        yield from (f"{_key(alias)} = {_quoted(reason)}\n" for alias, reason in reasons.items())


def _row(cells: Iterable[Value]) -> str:
    """An array of texts and numbers; TOML has no NULL."""
    return "[" + ", ".join(_cell(cell) for cell in cells) + "]"


def _cell(cell: Value) -> str:
    if cell is None:
        return "nan"
    return _quoted(cell) if isinstance(cell, str) else repr(cell)


def _figure(figure: Figure) -> str:
    if figure.origin == "declared" and figure.error is None:
        return repr(figure.value)
    error = "" if figure.error is None else f", error = {figure.error!r}"
    return f'{{value = {figure.value!r}, origin = "{figure.origin}"{error}}}'


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    """A TOML basic string, whose escapes are JSON's."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
