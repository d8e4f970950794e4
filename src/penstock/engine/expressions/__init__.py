"""Expressions over Arrow columns: evaluate, cast, compare."""
