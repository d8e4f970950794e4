"""Scripts: queries over queries, run together, each batch made final for all of them at once."""
