"""Scripts in one layout: whitespace and the case of keywords change, and nothing else."""
