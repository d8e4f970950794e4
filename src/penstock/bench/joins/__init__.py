"""Joins beside Spark and Flink: throughput, latency, long windows, the kernel alone."""
