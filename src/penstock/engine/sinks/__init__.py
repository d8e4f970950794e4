"""Writing results, each batch exactly once."""
