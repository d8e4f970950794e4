"""Runs of queries on both engines: to their end, and killed on the way."""
