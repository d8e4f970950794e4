"""The experiments of Nehme et al.: routes for different data."""
