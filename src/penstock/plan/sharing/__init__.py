"""Plans whose combinations others may take on their way."""
