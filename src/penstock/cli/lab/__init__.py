"""`penstock lab`: the experiments of the papers, listed and run."""
