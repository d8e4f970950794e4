"""How often the intervals of shed views cover the truth."""
