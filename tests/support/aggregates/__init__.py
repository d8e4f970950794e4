"""Aggregates over random and written streams, and what they should be."""
