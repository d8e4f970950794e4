"""The laboratory's inner loops, compiled."""
