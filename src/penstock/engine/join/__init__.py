"""The join in a partition: packing, state, legs, expiry, rebuild."""
