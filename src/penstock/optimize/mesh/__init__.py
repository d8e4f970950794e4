"""The search for a mesh: routes, and the classifier that sends tuples down them."""
