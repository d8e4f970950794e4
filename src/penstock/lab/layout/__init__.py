"""Streams as the laboratory's kernels read them."""
