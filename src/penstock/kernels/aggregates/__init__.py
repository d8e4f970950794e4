"""Inner loops of aggregates that one number a row does not hold: wide sums, sets, sketches."""
