"""Adapt: follow the streams while a query runs: figures, drift, new plans, and shedding."""
