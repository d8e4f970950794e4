"""Drift: whether a figure has moved by more than its noise."""
