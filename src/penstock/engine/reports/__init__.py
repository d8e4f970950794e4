"""Reports: what each batch did, measured beside predicted, kept as a log in the checkpoint."""
