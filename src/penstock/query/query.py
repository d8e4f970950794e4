"""A query: what is asked, independent of how it will be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.query.expression import Column, Expression, render, substitute
from penstock.query.joins.outer import OuterJoins
from penstock.query.joins.predicates import Condition, Equality, as_condition
from penstock.query.ranking import NUMBER, NUMBER_TEXT
from penstock.query.source import Source
from penstock.query.view import Output, View
from penstock.query.window import RowsWindow, TimeWindow, Window, is_tumble

__all__ = ["Condition", "Equality", "Input", "Query", "as_condition", "hidden_group"]


@dataclass(frozen=True)
class Input:
    """One item of FROM. A table has no window."""

    alias: str
    source: Source
    window: Window | None

    is_relation: bool = False
    """Whether it is a view, met as it is at the time of the tuples that meet it.

    Its window is then the last change of each key. Its tuples come before all others of their time,
    and none of them is ever the last of a combination.
    """

    @property
    def is_table(self) -> bool:
        return self.window is None


@dataclass(frozen=True)
class Query:
    """One SELECT over windowed streams and tables. WHERE is the conjunction of the three parts.

    Filters are decided before the joins, thetas in them, as soon as all their inputs are bound. A
    theta over one input is a filter that waits for all inputs, because it is expensive. `outputs`
    are what the join gives; where there is a view, the results are the view's. The joins are inner
    ones, but for `outer`, if there are such.
    """

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    equalities: tuple[Equality, ...] = ()
    filters: tuple[Condition, ...] = ()
    thetas: tuple[Condition, ...] = ()
    view: View | None = None
    text: str = field(default="", compare=False, repr=False)
    outer: OuterJoins | None = None

    places: Mapping[str, tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)
    """Where inputs stand in the text, by alias, and conditions, as they are shown; ends exclusive.
    Those that nobody wrote are not among them."""

    @property
    def aliases(self) -> tuple[str, ...]:
        return tuple(item.alias for item in self.inputs)

    @property
    def streams(self) -> tuple[Input, ...]:
        """The inputs that drive the query; tables are only ever probed."""
        return tuple(item for item in self.inputs if not item.is_table)

    @property
    def sources(self) -> Mapping[str, Source]:
        """The sources of all inputs by name, each once."""
        return {item.source.name: item.source for item in self.inputs}

    @property
    def stream_sources(self) -> Mapping[str, Source]:
        """The sources of the streams by name, each once; tables do not move the frontier."""
        return {item.source.name: item.source for item in self.streams}

    @property
    def is_sequenced(self) -> bool:
        """Whether tuples must be taken in their total order, as ROWS windows demand."""
        return any(isinstance(item.window, RowsWindow) for item in self.inputs)

    @property
    def asks_jointly(self) -> bool:
        """Whether results of outer joins may wait for the frontier of all streams: those of several
        joins, and who has a partner in a semi join, if others want to know since when."""
        if self.outer is None or self.view is not None:
            return False
        has_stream = not all(self.input(alias).is_table for alias in self.outer.nullables)
        return not self.outer.is_single or (self.outer.is_semi and has_stream)

    @property
    def results(self) -> tuple[Output, ...]:
        """The columns that a sink gets: the view's, or else the join's."""
        return self.outputs if self.view is None else self.view.outputs

    @property
    def is_tumbling(self) -> bool:
        """Whether a window tumbles.

        The view at t is then the one just before t, of tuples with ts < t, so that an evaluation at
        the end of a block sees all of that block and nothing of the next one.
        """
        windows = (item.window for item in self.inputs)
        return any(isinstance(window, TimeWindow) and is_tumble(window) for window in windows)

    def input(self, alias: str) -> Input:
        """The input of that alias."""
        return next(item for item in self.inputs if item.alias == alias)

    def reading(self, source: str) -> tuple[Input, ...]:
        """The inputs that read the source of that name."""
        return tuple(item for item in self.inputs if item.source.name == source)

    def filters_of(self, alias: str) -> tuple[Condition, ...]:
        """The filters on one input."""
        return tuple(c for c in self.filters if c.streams == {alias})


def hidden_group(query: Query) -> str | None:
    """A group of a view, or what else tells its rows apart, that is not among its outputs, as text;
    without it, results of different groups cannot be told apart."""
    if query.view is None:
        return None
    shown = {output.expression for output in query.view.outputs}
    meanings: dict[Expression, Expression] = {
        Column("", output.name, output.expression.type): output.expression
        for output in query.outputs
    }
    meanings[NUMBER] = Column("", NUMBER_TEXT, NUMBER.type)
    hidden = (part for part in query.view.key if part not in shown)
    return next((render(substitute(part, meanings)) for part in hidden), None)
