"""Commands about scripts themselves, which run no query: check, init, fmt and new."""
