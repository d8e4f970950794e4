"""One batch after another: steps, jobs, the pipeline."""
