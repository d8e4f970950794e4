"""The page of all experiments, in one file."""
