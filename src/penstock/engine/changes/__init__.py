"""The keys of a view over ROWS windows that may have changed since it was last evaluated."""
