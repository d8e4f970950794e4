"""Way: the legs of combinations that bind inputs and ask for partners, in a given order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from penstock.engine.routes.asking.patterns import Pattern
from penstock.engine.routes.multiway_routes import Leg, Sought, Visit, shared_keys
from penstock.engine.rows.columns import PLACE, TOLD, column_name, hash_name
from penstock.engine.rows.layout import Layout
from penstock.plan.default_plan import shares_key
from penstock.query import Column, Condition
from penstock.query.joins.outer import OuterJoin
from penstock.query.keys import unkeyed_equalities
from penstock.query.query import as_condition


@dataclass
class Way:
    """What the tuples of a driver visit and ask, so far; the rest is added step by step.

    Conditions are decided as soon as all they read is bound, or known to be NULL.
    """

    layout: Layout
    pattern: Pattern
    bound: list[str]
    nulls: list[str] = field(default_factory=list)
    legs: list[Leg] = field(default_factory=list)
    decided: set[Condition] = field(default_factory=set)
    is_told: bool = False
    """Whether combinations already carry the time at which they are told."""

    def start(self, space: int) -> None:
        """Have the tuples picked in one of the driver's spaces."""
        self.legs.append(Leg(space, False, ()))

    def near(self, targets: Iterable[str]) -> list[str]:
        """The inputs in an order in which each is found by key, as far as that is possible."""
        order: list[str] = []
        left = [alias for alias in targets if alias not in self.bound]
        while left:
            known = [*self.bound, *order]
            found = (a for a in left if shares_key(self.layout.keys, a, known))
            order.append(next(found, left[0]))
            left.remove(order[-1])
        return order

    def bind(self, target: str) -> Visit:
        """Visit the window of an input, old tuples and new ones; gives the visit."""
        visit = self._visit(target, self._due([target]))
        space = self.layout.spaces[target][0] if visit.key is None else visit.key
        last = self.legs[-1] if self.legs else None
        if last is not None and last.space == space and not last.sought and visit.key is not None:
            self.legs[-1] = replace(last, visits=(*last.visits, visit))
        else:
            self.legs.append(Leg(space, visit.key is None, (visit,)))
        self.bound.append(target)
        return visit

    def ask(self, join: OuterJoin, sought: Sought) -> None:
        """Ask for partners in a join, as `sought` says of who goes on and when."""
        visit = self._visit(join.nullable, self._of(join))
        assert visit.key is not None, "an outer join has an equality in ON"
        search, space = replace(visit, keep=frozenset({PLACE})), visit.key
        self._seek(replace(sought, visit=search, nulls=self._lacked(join)), space)
        self.is_told = self.is_told or sought.waits

    def lack(self, join: OuterJoin) -> None:
        """Take the input of a join for NULL, without a search."""
        self._seek(Sought(None, "none", nulls=self._lacked(join)), self.legs[-1].space)

    def end(self) -> tuple[Leg, ...]:
        """All the legs; those who meet the conditions of WHERE are results."""
        after, last = self.pattern.outer.after, self.legs[-1]
        if last.sought:
            *others, final = last.sought
            final = replace(final, after=(*final.after, *after))
            return (*self.legs[:-1], replace(last, sought=(*others, final)))
        *visits, visit = last.visits
        visit = replace(visit, checks=(*visit.checks, *after))
        return (*self.legs[:-1], replace(last, visits=(*visits, visit)))

    def _seek(self, sought: Sought, space: int) -> None:
        found = replace(sought, after=self._due([]))
        last = self.legs[-1] if self.legs else None
        if last is not None and last.space == space and not last.is_broadcast:
            self.legs[-1] = replace(last, sought=(*last.sought, found))
        else:
            self.legs.append(Leg(space, False, (), (found,)))

    def _lacked(self, join: OuterJoin) -> tuple[Column, ...]:
        if not join.has_pairs:
            return ()
        self.nulls.append(join.nullable)
        return self.layout.payload(join.nullable)

    def _visit(self, target: str, checks: Sequence[Condition]) -> Visit:
        shared = shared_keys(self.layout, self.bound, [target])
        here = self.legs[-1].space if self.legs else None
        key = here if here in shared else next(iter(shared), None)
        return Visit(
            target=target,
            windows=(self.layout.query.input(target).window,),
            key=key,
            also=tuple(each for each in shared if each != key),
            checks=tuple(checks),
            keep=self._kept([*self.bound, target]),
            includes_batch=True,
            is_final=False,
        )

    def _kept(self, bound: Iterable[str]) -> frozenset[str]:
        """All columns and hashes of what is bound, and NULLs."""
        layout, names = self.layout, set[str]()
        for alias in bound:
            names |= layout.carried(alias)
            names |= {hash_name(key) for key in layout.keys_of(alias)}
        names |= {column_name(c) for alias in self.nulls for c in layout.payload(alias)}
        return frozenset(names | ({TOLD} if self.is_told else set()))

    def _due(self, more: Iterable[str]) -> tuple[Condition, ...]:
        """Conditions that can be decided with these inputs, and were not before."""
        known = {*self.bound, *self.nulls, *more}
        joined = [join for join in self.pattern.left if join.nullable in self.pattern.present]
        wanted = [*self._of(None), *(c for join in joined for c in self._of(join))]
        due = tuple(c for c in wanted if c.streams <= known and c not in self.decided)
        self.decided.update(due)
        return tuple(dict.fromkeys(due))

    def _of(self, join: OuterJoin | None) -> tuple[Condition, ...]:
        """What the ON of a join says beyond equal hashes; of no join, what WHERE says."""
        query, outer = self.layout.query, self.pattern.outer
        own = outer.equalities if join is None else join.equalities
        unproved = unkeyed_equalities(query, self.layout.keys)
        equal = (as_condition(e) for e in unproved if (e in own) == (join is not None))
        if join is None:
            return (*equal, *(c for c in query.thetas if c not in outer.thetas))
        return (*equal, *join.thetas, *outer.conditions_of(join))
