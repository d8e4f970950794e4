"""Simulated plants for what follows the streams: no clock, no files."""
