"""Pages of the documentation, done as a reader would do them."""
