"""Kafka, read directly: positions in the checkpoint, records by whoever runs a task."""
