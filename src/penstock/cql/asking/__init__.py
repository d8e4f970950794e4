"""Which queries a script asks: their names, what they read, and in what order they are made."""
