"""Statistics of streams: rates, selectivities, distinct counts, per-tuple costs."""
