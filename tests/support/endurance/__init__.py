"""Runs that last: what they take and leave must not grow."""
