"""What each new tuple visits: multi-way, tree, mesh, and the filters on the way."""
