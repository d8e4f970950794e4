"""What join3 keeps of its rate at the limits: sinks, hot keys, large state, many results."""
