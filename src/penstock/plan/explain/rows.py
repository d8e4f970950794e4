"""The plan as rows: a drawing and a label on the left, figures on the right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from penstock.plan.explain.checks import Visit
from penstock.plan.explain.figures import Figures, InputFigures
from penstock.plan.explain.quantity import number, percent, roughly, shortened
from penstock.plan.mesh import Eddy, MeshJoin
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.text.shape import render_shape
from penstock.plan.tree import Leaf, Node, TreeJoin

# The drawing shows what an inner join joins; of a long shape the beginning is enough.
_SHAPE = 30


@dataclass(frozen=True)
class Row:
    """A line of the drawing: `stem` before the label, `hang` before what of it is wrapped.

    The figures are a rate with its direction, a fraction, and a size with its name. Of a join,
    `bare` is the label without its keys, and `keys` what a line of their own says of them.
    """

    stem: str
    hang: str
    label: str
    rate: tuple[str, str] = ("", "")
    fraction: str = ""
    size: tuple[str, str] = ("", "")
    bare: str = ""
    keys: str = ""


def rows_of(figures: Figures) -> tuple[Row, ...]:
    """The head, then the nodes of a tree, or else the inputs."""
    plan = figures.decision.plan
    match plan:
        case TreeJoin(root=root):
            return (_tree_head(figures, plan), *_children(figures, root, ""))
        case MultiwayJoin() | MeshJoin() | Eddy():
            return (_flat_head(figures, type(plan).__name__), *_inputs(figures))
        case _:
            assert_never(plan)


def rate_text(item: InputFigures) -> str:
    """The rate as `50/s`, `~50/s` if it was guessed, `?` where there is none."""
    if item.rate is None:
        return "?"
    return roughly(f"{number(item.rate.value)}/s", item.rate.is_guess)


def state_text(item: InputFigures) -> str:
    """The tuples in an input's window, or its rows if it is a table."""
    return roughly(number(item.state), item.is_state_guess)


def early_text(item: InputFigures) -> str:
    """`by (A.k, A.g): ~1,000 rows`, of an input that is aggregated before the join."""
    return f"by ({', '.join(item.early_by or ())}): {state_text(item)} rows"


def recompute_text(driver: str) -> str:
    """The work of each batch where a view is recomputed."""
    return f"each recomputes the view from all that is in the windows; {driver} drives"


def out_text(figures: Figures, rate: float) -> str:
    """A rate of results."""
    return roughly(f"{number(rate)}/s", figures.are_results_guessed)


def head_rate(figures: Figures) -> tuple[str, str]:
    """The name and the rate of the output: `results`, `50/s`; of a view, its changes."""
    changes = figures.estimate.changes
    if changes is None:
        return "results", out_text(figures, figures.estimate.output_rate)
    return "changes", roughly(f"{number(changes)}/s", figures.are_results_guessed)


def share_text(figures: Figures) -> str:
    """The work as a part of the capacity: `14 %`."""
    share = figures.estimate.utilization / figures.decision.capacity
    return roughly(percent(share), figures.decision.rests_on_guesses)


def work_text(figures: Figures) -> str:
    """`0.14 of 1`."""
    done = roughly(number(figures.estimate.utilization), figures.decision.rests_on_guesses)
    return f"{done} of {number(figures.decision.capacity)}"


def total_text(figures: Figures) -> str:
    """The tuples in all windows, inner results included."""
    return roughly(number(figures.estimate.state), figures.is_state_guessed)


def probe_text(item: InputFigures) -> str:
    """`probe B, C/nested`; the new tuples are named only where they are not the outer loop."""
    if item.is_only_visited:
        return "probed only"
    if item.way:
        return item.way
    visits = item.visits if item.visits[0].method else item.visits[1:]
    return f"probe {', '.join(visit_text(visit) for visit in visits)}" if visits else "no probes"


def visit_text(visit: Visit) -> str:
    """The visit as in a plan's notation, the usual method left out."""
    if visit.method is None:
        return f"new {visit.alias}"
    return visit.alias if visit.method == "sorted" else f"{visit.alias}/{visit.method}"


def _head(figures: Figures, title: str, bare: str = "", keys: str = "") -> Row:
    return Row(
        stem="",
        hang="   ",
        label=title,
        rate=("out", _head_text(figures)),
        fraction=f"util {work_text(figures)}",
        size=("state", total_text(figures)),
        bare=bare,
        keys=keys,
    )


def _head_text(figures: Figures) -> str:
    word, rate = head_rate(figures)
    return rate if figures.view is None else rate.replace("/s", f" {word}/s")


def _flat_head(figures: Figures, name: str) -> Row:
    if len(figures.inputs) == 1:
        return _head(figures, f"{name} of one input")
    keys = "; ".join(figures.keys) or "no key"
    return _head(figures, f"{name} on {keys}", name, keys)


def _tree_head(figures: Figures, plan: TreeJoin) -> Row:
    if not figures.joins:
        return _head(figures, "TreeJoin")
    shape = render_shape(plan.root)
    title, phrase = f"TreeJoin {shape}", figures.join(shape).phrase
    return _head(figures, f"{title} {phrase}", title, f"{shape} {phrase}")


def _inputs(figures: Figures) -> Iterator[Row]:
    inputs = figures.inputs
    aliases = left([item.name for item in inputs])
    windows = left([item.window for item in inputs])
    for index, item in enumerate(inputs):
        stem, hang = _branch(is_last=index == len(inputs) - 1)
        label = f"{aliases[index]}  {windows[index]}   {probe_text(item)}"
        yield _input_row(item, stem, hang + "  ", label)


def _children(figures: Figures, node: Node, above: str) -> Iterator[Row]:
    children = [node] if isinstance(node, Leaf) else [node.left, node.right]
    for index, child in enumerate(children):
        stem, hang = _branch(is_last=index == len(children) - 1)
        yield from _node(figures, child, above + stem, above + hang)


def _node(figures: Figures, node: Node, stem: str, hang: str) -> Iterator[Row]:
    if isinstance(node, Leaf):
        item = figures.input(node.alias)
        yield _input_row(item, stem, hang + "  ", f"{item.name}  {item.window}")
        return
    join = figures.join(render_shape(node))
    bare = f"join {shortened(join.shape, _SHAPE)}"
    yield Row(
        stem,
        hang + "│    ",
        f"{bare} {join.phrase}",
        rate=("out", out_text(figures, join.rate)),
        size=("state", roughly(number(join.state), figures.are_results_guessed)),
        bare=bare,
        keys=f"{join.shape} {join.phrase}",
    )
    yield from _children(figures, node, hang)


def _branch(is_last: bool) -> tuple[str, str]:
    return ("└─ ", "   ") if is_last else ("├─ ", "│  ")


def _input_row(item: InputFigures, stem: str, hang: str, label: str) -> Row:
    if item.is_table:
        return Row(stem, hang, label, size=("rows", state_text(item)))
    return Row(
        stem,
        hang,
        label,
        rate=("in", rate_text(item)),
        fraction=f"keep {percent(item.keep)}",
        size=("state", state_text(item)),
    )


def left(texts: list[str]) -> list[str]:
    """The texts, filled up to the longest."""
    width = max(map(len, texts))
    return [text.ljust(width) for text in texts]
