"""What changes a view beside new tuples: keys of ROWS windows since the last time, and shedding."""
