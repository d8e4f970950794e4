"""Inner loops of the batch engines, compiled."""
