"""Streams that are made up: values, rates that change, and tuples by their number."""
