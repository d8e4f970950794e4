"""Nexmark's queries by another engine."""
