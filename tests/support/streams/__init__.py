"""Random streams and queries over them, and what their expressions and views mean."""
