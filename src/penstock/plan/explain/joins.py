"""The joins of a tree: what each is by, and what it gives and keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.plan.decision import Alternative
from penstock.plan.multiway import Method
from penstock.plan.text.shape import render_shape
from penstock.plan.tree import Branch, TreeJoin, branches, leaves
from penstock.query import Query
from penstock.query.expression import render
from penstock.query.keys import key_classes


@dataclass(frozen=True)
class JoinFigures:
    """One join of a tree: results/s that it gives, and how many of them are kept as state.

    `keys` are the equalities between its two sides; the results of the last join are not kept.
    """

    shape: str
    method: Method
    keys: tuple[str, ...]
    is_product: bool
    rate: float
    state: float

    @property
    def how(self) -> str:
        """`B.b = C.b`, `hash on B.b = C.b`, `nested loops` or `product`."""
        if self.is_product:
            return "product"
        keys = " AND ".join(self.keys)
        if self.method == "sorted":
            return keys
        name = "nested loops" if self.method == "nested" else self.method
        return f"{name} on {keys}" if keys else name

    @property
    def phrase(self) -> str:
        """How two sides are joined, for a sentence."""
        return "as a product" if self.is_product else f"by {self.how}"


def joins_of(alternative: Alternative) -> tuple[JoinFigures, ...]:
    """The joins of a plan, inner ones first; a multi-way join has none of these."""
    plan = alternative.plan
    if not isinstance(plan, TreeJoin):
        return ()
    inner = {each.shape: each for each in alternative.estimate.inner}
    return tuple(
        JoinFigures(
            shape=(shape := render_shape(branch)),
            method=branch.method,
            keys=tuple(_keys(plan.query, branch)),
            is_product=_is_product(plan.query, branch),
            rate=inner[shape].rate,
            state=0.0 if branch is plan.root else inner[shape].state,
        )
        for branch in branches(plan.root)
    )


def _keys(query: Query, branch: Branch) -> Iterator[str]:
    """The equalities between the sides: of each key class, its first member on either side."""
    left, right = leaves(branch.left), leaves(branch.right)
    for key in key_classes(query):
        ours = next((alias for alias in key.streams if alias in left), None)
        theirs = next((alias for alias in key.streams if alias in right), None)
        if ours is not None and theirs is not None:
            for one, other in zip(key.parts(ours), key.parts(theirs), strict=True):
                yield f"{render(one)} = {render(other)}"


def _is_product(query: Query, branch: Branch) -> bool:
    """Whether no predicate links the two sides."""
    left, right = set(leaves(branch.left)), set(leaves(branch.right))
    thetas = [theta.streams for theta in query.thetas]
    by_theta = any(s & left and s & right and s <= left | right for s in thetas)
    return not by_theta and not any(_keys(query, branch))
