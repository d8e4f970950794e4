"""Commands on a checkpoint: how its query stands, and orders to it while it runs."""
