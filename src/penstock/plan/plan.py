"""A plan: what will be done, of any kind."""

from __future__ import annotations

from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.tree import TreeJoin

Plan = MultiwayJoin | TreeJoin | MeshJoin | Eddy
