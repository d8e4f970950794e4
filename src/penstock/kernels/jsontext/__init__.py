"""JSON text in compiled loops."""
