"""Control: orders from outside to a running query, as files in its checkpoint."""
