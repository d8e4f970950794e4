"""Switching: whether another plan is worth it, and what came of it."""
