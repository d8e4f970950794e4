"""Listing: which files of a source are new, and which are known by now."""
