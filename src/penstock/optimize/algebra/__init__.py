"""What the model reckons with: posynomials, sets of inputs as bits, costs by such sets."""
