"""Rows in memory: names of columns, lanes, accumulators, sample weights, ticks, lifetimes."""
