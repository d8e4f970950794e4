"""Memory of C libraries in compiled loops."""
