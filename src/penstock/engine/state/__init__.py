"""State that outlives a batch: chunks in the store, the manifest, the checkpoint, the frontier."""
