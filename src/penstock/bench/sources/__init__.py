"""What streams from elsewhere cost: one join over files, topics, and both through Spark."""
