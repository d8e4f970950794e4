"""Measures: what a batch tells of itself, from clocks and facts to the figures of its report."""
