"""How the chunks of a large state are listed: what has changed, and who needs which."""
