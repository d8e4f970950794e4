"""Nexmark: the queries of an auction site on Penstock, Spark and Flink, over the same events."""
