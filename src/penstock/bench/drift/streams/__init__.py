"""Streams that drift: their keys, rates and regimes, the truth about them, and their files."""
