"""The report of a run: one page with pictures, curves and tables that needs nothing else."""
