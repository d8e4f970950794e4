"""The laboratory: tuple by tuple, under a simulated clock."""
