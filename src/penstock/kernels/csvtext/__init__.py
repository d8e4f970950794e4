"""CSV text in compiled loops."""
