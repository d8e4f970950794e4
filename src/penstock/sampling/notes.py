"""Notes for readers of sampled statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from penstock.query import Query
from penstock.sampling.sample import Sample

_HEAD = (
    "error is the standard error of a sampled figure.",
    "A filter's selectivity is of the tuples that the filters before it let through,",
    "a join's of the tuples that pass the filters of their own inputs.",
    "distinct is Chao's estimate (Chao1), with the values that the sample has missed.",
)


def notes_on(
    query: Query, samples: Mapping[str, Sample], passing: Mapping[str, pa.Table], rows: int
) -> tuple[str, ...]:
    """Remarks for the head of the stats file."""
    head = f"Sampled by penstock analyze, up to {rows:,} tuples of each source."
    return (head, *_HEAD, *_on_sources(query, samples), *_on_inputs(query, passing))


def _on_sources(query: Query, samples: Mapping[str, Sample]) -> Iterator[str]:
    for name in query.sources:
        sample = samples.get(name)
        if sample is None:
            yield f"{name}: Spark's rate source is not sampled; its rate is the declared one."
        elif not sample.count:
            yield f"{name}: empty, nothing is known of it."
        elif sample.source.is_table and not sample.is_whole:
            yield f"{name}: at least {sample.count:,} rows; more were not counted."
        elif len(sample.spans) > 1:
            yield f"{name}: {len(sample.spans)} stretches of the data, spread over all of it."
        elif sample.is_whole and not sample.source.is_table:
            yield f"{name}: the input ended after {sample.count:,} tuples."
        if sample is not None and (sample.malformed or sample.unreadable):
            rows = f"{sample.malformed:,} malformed rows"
            yield f"{name}: {rows} and {sample.unreadable:,} unreadable files were left out."


def _on_inputs(query: Query, passing: Mapping[str, pa.Table]) -> Iterator[str]:
    for item in query.inputs:
        rows = passing.get(item.alias)
        if rows is not None and not len(rows) and query.filters_of(item.alias):
            yield f"{item.alias}: no tuple of the sample passes its filters, so none was joined."
