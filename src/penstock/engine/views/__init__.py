"""Aggregates at ticks: tally, interval table, estimates of what was shed."""
