"""Experiments for tests of the frame."""
