"""A query that is changed on its checkpoint: what may change, and the state carried over."""
