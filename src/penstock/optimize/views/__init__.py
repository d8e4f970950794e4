"""Views: aggregating before joining, and recomputing in each batch."""
