"""Sampling: `analyze` samples sources and estimates their statistics."""
