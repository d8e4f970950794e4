"""Routes of new tuples through the inputs: multi-way, tree, mesh, and filters on the way."""
