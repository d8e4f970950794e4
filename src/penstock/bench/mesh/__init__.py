"""A mesh beside a single plan and eddies."""
