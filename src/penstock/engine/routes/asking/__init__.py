"""Routes on which the tuples of outer joins ask for their partners."""
