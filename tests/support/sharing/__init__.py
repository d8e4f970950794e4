"""Scripts whose queries have a join in common."""
