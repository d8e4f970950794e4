"""ORDER BY … LIMIT and QUALIFY: only the first rows of a view are shown."""
