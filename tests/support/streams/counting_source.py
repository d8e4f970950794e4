"""A data source for Spark that is written in Python."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition


def counting() -> type[DataSource]:
    """The source `counting`: the numbers below 30, a second apart, ten more at each look.

    Its classes are made here, so that Spark's workers get them without this module.
    """

    class Reader(DataSourceStreamReader):  # type: ignore[misc]
        """Two partitions in each batch."""

        def __init__(self) -> None:
            self.end = 0

        def initialOffset(self) -> dict[str, int]:  # noqa: N802
            return {"end": 0}

        def latestOffset(self) -> dict[str, int]:  # noqa: N802
            self.end = min(self.end + 10, 30)
            return {"end": self.end}

        def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
            self.end = max(self.end, end["end"])
            middle = (start["end"] + end["end"]) // 2
            return [InputPartition((start["end"], middle)), InputPartition((middle, end["end"]))]

        def read(self, partition: Any) -> Iterator[tuple[Any, ...]]:
            first, last = partition.value
            begin = datetime(2026, 1, 1)
            return iter([(begin + timedelta(seconds=n), n, [n]) for n in range(first, last)])

    class Counting(DataSource):  # type: ignore[misc]
        """Numbers with their times, and in a column of a type that queries cannot read."""

        @classmethod
        def name(cls) -> str:
            return "counting"

        def schema(self) -> str:
            return "at timestamp, value bigint, odd array<int>"

        def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
            return Reader()

    return Counting
