"""Eddies: routers that learn as a query runs in what order its tuples take filters and probes."""
