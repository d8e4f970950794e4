"""A Kafka cluster inside of the test's process."""
