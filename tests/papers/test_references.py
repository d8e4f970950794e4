"""A paper's formula that no plan is costed by says so where it stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import penstock

SOURCE = Path(penstock.__file__).parent
LABEL = "Reference: "

Name = tuple[str, str]
"""A module and one of its functions or classes."""


def parsed(folder: str) -> dict[str, ast.Module]:
    return {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): ast.parse(path.read_text())
        for path in sorted((SOURCE / folder).rglob("*.py"))
    }


@cache
def papers() -> dict[str, ast.Module]:
    """The modules of the formulas of papers."""
    return parsed("papers")


def imported(tree: ast.AST) -> Iterator[Name]:
    """The names that come from the papers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in papers():
            yield from ((str(node.module), alias.name) for alias in node.names)


def defined(tree: ast.Module) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: node for node in tree.body if isinstance(node, kinds)}


def used() -> set[Name]:
    """All that the rest of Penstock uses, directly or through others, experiments aside."""
    aside = ("penstock.papers.", "penstock.experiments.")
    rest = [tree for name, tree in parsed(".").items() if not name.startswith(aside)]
    waiting = [name for tree in rest for name in imported(tree)]
    found: set[Name] = set()
    while waiting:
        module, name = waiting.pop()
        node = defined(papers()[module]).get(name)
        if node is None or (module, name) in found:
            continue
        found.add((module, name))
        reads = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        waiting += [(module, each) for each in reads]
        waiting += [each for each in imported(papers()[module]) if each[1] in reads]
    return found


def is_labelled(node: ast.Module | ast.FunctionDef | ast.ClassDef) -> bool:
    return (ast.get_docstring(node) or "").startswith(LABEL)


def test_what_no_plan_is_costed_by_is_called_a_reference() -> None:
    costed = used()
    assert ("penstock.papers.query_mesh", "mesh_cost") in costed
    for module, tree in papers().items():
        for name, node in defined(tree).items():
            is_used = (module, name) in costed
            if not name.startswith("_"):
                assert is_used != (is_labelled(tree) or is_labelled(node)), (module, name)
