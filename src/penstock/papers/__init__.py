"""The papers' models as pure functions, one module each; formulas cite paper and equation.

What begins with "Reference:" is kept beside its equation to compare with: no plan is costed by it.
"""
