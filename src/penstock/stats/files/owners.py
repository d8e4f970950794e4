"""`[streams.NAME]` tables, given to the inputs they are of: NAME is an alias, or a stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.cql.reading.nearest import listed, nearest
from penstock.errors import StatsError
from penstock.figure import Figure
from penstock.query import Query
from penstock.query.query import Input
from penstock.stats.costs import WindowCosts
from penstock.stats.files.schema import StreamTable, WindowCostsTable
from penstock.stats.statistics import StreamFigures


def figures_by_alias(
    tables: Mapping[str, StreamTable], query: Query, file: str
) -> dict[str, StreamFigures]:
    """The figures of each input; what stands under its alias counts more than under its stream."""
    by_name: dict[str, tuple[str, StreamTable]] = {}
    for name, table in tables.items():
        _check_name(name, query, file)
        if name.lower() in by_name:
            raise StatsError(f"{file}: streams.{name} is given twice", hint="keep one of them")
        by_name[name.lower()] = name, table
    figures = {}
    for item in query.inputs:
        given = [by_name[name] for name in _names(item, query) if name in by_name]
        if given:
            figures[item.alias] = _merged([_read(item, file, *each) for each in given])
    _check_shared(query, figures, file)
    return figures


def _check_name(name: str, query: Query, file: str) -> None:
    pairs = [(item.alias, item.source.name) for item in query.inputs]
    known = list(dict.fromkeys(each for pair in pairs for each in pair))
    if name.lower() not in map(str.lower, known):
        hint = nearest(name, known, listed("streams", known))
        raise StatsError(f"{file}: streams.{name} is not in the query", hint=hint)


def _names(item: Input, query: Query) -> list[str]:
    """The names of an input: its alias, and its stream unless another's alias is the same."""
    alias, source = item.alias.lower(), item.source.name.lower()
    owner = {each.alias.lower(): each.source.name.lower() for each in query.inputs}
    is_clear = source != alias and owner.get(source, source) == source
    return [alias, source] if is_clear else [alias]


def _read(item: Input, file: str, name: str, table: StreamTable) -> StreamFigures:
    where = f"{file}: streams.{name}"
    flowing = {"rate": table.rate, "variation": table.variation}
    strange = next((name for name, figure in flowing.items() if figure is not None), None)
    if item.is_table and strange is not None:
        hint = "a table does not flow; give its cardinality"
        raise StatsError(f"{where}.{strange} is of a table", hint=hint)
    columns = _Columns(item, name, where)
    distinct = {columns.named(c, "distinct"): count for c, count in table.distinct.items()}
    unique = {
        tuple(sorted({columns.named(c, "unique") for c in key})): origin
        for key, origin in table.unique.items()
    }
    costs = _window_costs(item, where, table.costs)
    return StreamFigures(
        table.rate, table.cardinality, distinct, table.cells, costs, table.variation, unique
    )


@dataclass(frozen=True)
class _Columns:
    """The columns of an input, which a file may call in any case; `where` is the table's place."""

    item: Input
    name: str
    where: str

    def named(self, column: str, what: str) -> str:
        """The column as it is declared; StatsError, at `what` of the table, if there is none."""
        names = [field.name for field in self.item.source.fields]
        by_lower = {name.lower(): name for name in names}
        if column.lower() not in by_lower:
            message = f"{self.where}.{what}: {self.name} has no column {column}"
            raise StatsError(message, hint=nearest(column, names, listed("columns", names)))
        return by_lower[column.lower()]


def _window_costs(item: Input, where: str, table: WindowCostsTable | None) -> WindowCosts | None:
    if table is None:
        return None
    changing = next((kind for kind in ("insert", "expire") if getattr(table, kind)), None)
    if item.is_table and changing:
        hint = "a table does not change while a query runs; give probe alone"
        raise StatsError(f"{where}.costs.{changing} is of a table", hint=hint)
    return WindowCosts(table.insert, table.probe, table.expire)


def _merged(figures: Iterable[StreamFigures]) -> StreamFigures:
    """The first that is given of each."""
    merged = StreamFigures()
    for each in figures:
        merged = StreamFigures(
            merged.rate or each.rate,
            merged.cardinality or each.cardinality,
            {**each.distinct, **merged.distinct},
            merged.cells or each.cells,
            merged.costs or each.costs,
            merged.variation or each.variation,
            {**each.unique, **merged.unique},
        )
    return merged


def _check_shared(query: Query, figures: Mapping[str, StreamFigures], file: str) -> None:
    """Nothing, if the inputs of one stream agree on what is of the stream."""
    seen: dict[tuple[str, str], tuple[str, Figure]] = {}
    for item in query.inputs:
        given = figures.get(item.alias, StreamFigures())
        for what in ("rate", "cardinality", "variation"):
            figure: Figure | None = getattr(given, what)
            if figure is None:
                continue
            alias, first = seen.setdefault((item.source.name, what), (item.alias, figure))
            if first != figure:
                raise StatsError(
                    f"{file}: {alias} and {item.alias} are both {item.source.name}, "
                    f"but have different figures for its {what}",
                    hint=f"give it once, under [streams.{item.source.name}]",
                )
