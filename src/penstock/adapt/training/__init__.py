"""Training meshes anew: a sample kept while running, and when what was learned is stale."""
