"""What the terminal shows while something runs."""
