"""Results in a topic of Kafka, a transaction for each batch."""
