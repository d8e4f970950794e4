"""Aggregating before joining."""
