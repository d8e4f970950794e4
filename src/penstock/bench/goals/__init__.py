"""Plans for the goals first and by, beside the steady plan, on Spark."""
