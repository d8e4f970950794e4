"""Queries: streams, windows, predicates. Frozen, and knowing nothing of how they are run."""

from penstock.query.expression import Apply, Call, Column, Expression, Literal
from penstock.query.function import Function
from penstock.query.joins.outer import OuterJoin, OuterJoins
from penstock.query.query import Condition, Equality, Input, Query
from penstock.query.source import Field, Source
from penstock.query.types import DataType
from penstock.query.view import Aggregate, Output, View
from penstock.query.window import RowsWindow, TimeWindow, Window

__all__ = [
    "Aggregate",
    "Apply",
    "Call",
    "Column",
    "Condition",
    "DataType",
    "Equality",
    "Expression",
    "Field",
    "Function",
    "Input",
    "Literal",
    "OuterJoin",
    "OuterJoins",
    "Output",
    "Query",
    "RowsWindow",
    "Source",
    "TimeWindow",
    "View",
    "Window",
]
