"""The papers' models as pure functions, one module each; formulas cite paper and equation."""
