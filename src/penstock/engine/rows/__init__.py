"""Rows in memory: names of columns, accumulators, sample weights, ticks, lifetimes."""
