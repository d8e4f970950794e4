"""The fractions to keep of each stream where no plan keeps up."""
