"""The experiments of Viglas and Naughton: results over time."""
