"""The laboratory: joins run tuple by tuple, under a real or simulated clock."""
