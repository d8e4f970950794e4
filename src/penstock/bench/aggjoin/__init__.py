"""Aggregation over joins beside Spark's own and our late plan."""
