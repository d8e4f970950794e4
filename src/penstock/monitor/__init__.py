"""What is measured: samples of sources, the costs of this machine."""
