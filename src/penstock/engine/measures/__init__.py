"""Measures: the figures of a batch from the facts of its tasks: operators, keys, phases, state."""
