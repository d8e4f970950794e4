"""Experiments run one after another, and what they found as JSON, CSV and text."""
