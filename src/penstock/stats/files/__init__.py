"""Stats files: read with a name for every mistake, and written."""
