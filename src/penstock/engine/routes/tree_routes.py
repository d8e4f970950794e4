"""Tree routes: a join tree turned into routes, and its inner results into state.

Every join has one round in which it works: the one in which all that is new on both its sides is
there. What is new on the left then probes all of the right, what is new on the right only what the
left had before the batch, so that each pair is found once. Results that are found where the next
join needs them stay there and are used in the same round; others move, which takes a round.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from penstock.engine.routes.laboratory_hint import NESTED_LOOPS, laboratory_hint
from penstock.engine.routes.multiway_routes import (
    Inner,
    Leg,
    Route,
    Routing,
    Visit,
    decided_by,
    needed_after,
    shared_keys,
)
from penstock.engine.rows.columns import number_name
from penstock.engine.rows.layout import Layout
from penstock.errors import PlanError
from penstock.plan.text.notation import quote
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin
from penstock.query import RowsWindow


def tree_routing(plan: TreeJoin, layout: Layout) -> Routing:
    """The routes of both sides of every join, and the inner state."""
    if isinstance(plan.root, Leaf):
        home = layout.spaces[plan.root.alias][0]
        return Routing((Route(plan.root.alias, (Leg(home, False, ()),)),))
    builder = _Builder(layout, len({s for spaces in layout.spaces.values() for s in spaces}))
    builder.join(plan.root, is_root=True)
    return Routing(tuple(builder.routes), tuple(builder.inners))


def inner_name(layout: Layout, members: tuple[str, ...]) -> str:
    """The name of an inner join's results: its inputs, whatever their order.

    All joins of the same inputs have the same results, so a plan can use what another has kept.
    """
    return f"({' '.join(quote(alias) for alias in layout.query.aliases if alias in members)})"


@dataclass(frozen=True)
class _Found:
    """The results of a sub-tree: in which round they are found, and in which space if only one."""

    members: tuple[str, ...]
    round: int
    space: int | None


@dataclass(frozen=True)
class _Side:
    """One side of a join, as state that can be probed."""

    name: str
    members: tuple[str, ...]
    space: int
    ready: int


@dataclass
class _Builder:
    """Collects routes and inner state, inner joins first."""

    layout: Layout
    spaces: int
    routes: list[Route] = field(default_factory=list)
    inners: list[Inner] = field(default_factory=list)

    def join(self, branch: Branch, *, is_root: bool) -> _Found:
        """Add a join and all below it."""
        left, right = (self._results(node) for node in (branch.left, branch.right))
        key = self._key(branch, left, right)
        sides = self._side(branch.left, left, key), self._side(branch.right, right, key)
        round_ = max(side.ready for side in sides)
        members = left.members + right.members
        makes = None if is_root else inner_name(self.layout, members)
        self.routes += self._routes(sides, key, round_, makes)
        return _Found(members, round_, key)

    def _results(self, node: Node) -> _Found:
        if isinstance(node, Branch):
            return self.join(node, is_root=False)
        return _Found((node.alias,), 0, None)

    def _key(self, branch: Branch, left: _Found, right: _Found) -> int | None:
        """The key class to join by: one that keeps results where they are, if there is one."""
        shared = shared_keys(self.layout, left.members, right.members)
        if shared and branch.method == "nested":
            sides = " and ".join(" ⋈ ".join(side.members) for side in (left, right))
            raise PlanError(
                f"{sides} are joined by nested loops, but they have a key in common",
                hint=laboratory_hint(self.layout.query, *NESTED_LOOPS),
            )
        here = [side.space for side in (left, right) if side.space in shared]
        return next(iter((*here, *shared)), None)

    def _side(self, node: Node, found: _Found, key: int | None) -> _Side:
        if isinstance(node, Leaf):
            space = self.layout.spaces[node.alias][0] if key is None else key
            return _Side(node.alias, found.members, space, 0)
        is_local = key is not None and found.space == key
        inner = Inner(
            name=inner_name(self.layout, found.members),
            members=found.members,
            space=self._new_space() if key is None else key,
            ready=found.round if is_local else found.round + 1,
            is_local=is_local,
        )
        self.inners.append(inner)
        return _Side(inner.name, inner.members, inner.space, inner.ready)

    def _new_space(self) -> int:
        self.spaces += 1
        return self.spaces - 1

    def _routes(
        self, sides: tuple[_Side, _Side], key: int | None, round_: int, makes: str | None
    ) -> list[Route]:
        left, right = sides
        # A table is there before everything: it does not drive what streams have brought.
        left_drives = self._has_streams(left) or not self._has_streams(right)
        right_drives = self._has_streams(right) or not self._has_streams(left)
        routes, given = [], self.layout.real_parts
        if left_drives:
            visit = self._visit(left, right, key, is_root=makes is None)
            leg = Leg(right.space, key is None, (visit,))
            routes.append(Route(left.name, (leg,), round_, makes, given=given))
        if right_drives:
            visit = self._visit(right, left, key, is_root=makes is None)
            visit = replace(visit, includes_batch=not left_drives)
            leg = Leg(left.space, key is None, (visit,))
            routes.append(Route(right.name, (leg,), round_, makes, given=given))
        return routes

    def _has_streams(self, side: _Side) -> bool:
        return any(not self.layout.query.input(alias).is_table for alias in side.members)

    def _visit(self, driver: _Side, target: _Side, key: int | None, *, is_root: bool) -> Visit:
        query = self.layout.query
        members = driver.members + target.members
        windows = {alias: query.input(alias).window for alias in members}
        numbers = [number_name(a) for a, w in windows.items() if isinstance(w, RowsWindow)]
        # Nobody asks for the numbers of complete results; a view goes by times alone.
        numbers = [] if is_root or query.view else numbers
        shared = shared_keys(self.layout, driver.members, target.members)
        return Visit(
            target=target.name,
            windows=tuple(windows[alias] for alias in target.members),
            key=key,
            also=tuple(k for k in shared if k != key),
            checks=decided_by(self.layout, driver.members, target.members),
            keep=needed_after(self.layout, members).union(numbers),
            includes_batch=True,
            is_final=is_root and self.layout.ends_plain,
        )
