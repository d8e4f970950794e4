"""Benchmarks: Penstock beside its peers in one run."""
