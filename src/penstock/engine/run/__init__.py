"""One batch after another: the pipeline, the jobs of a batch, their steps, commit and report."""
