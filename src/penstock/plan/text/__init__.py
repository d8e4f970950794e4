"""A plan as text, and back."""
