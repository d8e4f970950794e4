"""Kernels over rows that have a place in an order."""
