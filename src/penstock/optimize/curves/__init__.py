"""Results over time: of plans, and of the sets of inputs that searches go through."""
