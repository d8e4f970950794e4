"""What keeps the state whole and small: going back, sweeping, opened chunks."""
