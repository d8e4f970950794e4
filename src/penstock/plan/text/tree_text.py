"""Join trees as text, for `--plan`: `((A B) C)`, `((A B)/nested C)` and back."""

from __future__ import annotations

from penstock.plan.multiway import Method
from penstock.plan.text.notation import Word, quote, read_words, refuse
from penstock.plan.text.orders_text import check_known, method_of
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin, leaves
from penstock.query import Query
from penstock.query.keys import KeyClass, key_classes

_EXAMPLE = "a tree joins two by two: `((A B) C)`"


def forced_tree(query: Query, text: str) -> TreeJoin:
    """The tree that the text describes."""
    reader = _Reader(query, list(read_words(text)))
    root = reader.node()
    if reader.words:
        refuse("something follows the tree", reader.words[0].place, _EXAMPLE)
    missing = [alias for alias in query.aliases if alias not in reader.seen]
    if missing:
        place = reader.first.place
        refuse(f"the tree leaves out {' and '.join(missing)}", place, "a tree joins every input")
    return TreeJoin(query, root)


def render_tree(tree: TreeJoin) -> str:
    """The text that `forced_tree` turns into this tree."""
    return _render(key_classes(tree.query), tree.root)


def _render(classes: tuple[KeyClass, ...], node: Node) -> str:
    if isinstance(node, Leaf):
        return quote(node.alias)
    method = "" if node.method == _default(classes, node.left, node.right) else f"/{node.method}"
    return f"({_render(classes, node.left)} {_render(classes, node.right)}){method}"


def _default(classes: tuple[KeyClass, ...], left: Node, right: Node) -> Method:
    """By key where an equality links both sides."""
    return "sorted" if _is_linked(classes, left, right) else "nested"


def _is_linked(classes: tuple[KeyClass, ...], left: Node, right: Node) -> bool:
    one, other = set(leaves(left)), set(leaves(right))
    return any(one & set(c.streams) and other & set(c.streams) for c in classes)


class _Reader:
    """Reads a tree from its words, which it uses up."""

    def __init__(self, query: Query, words: list[Word]):
        self.query = query
        self.classes = key_classes(query)
        self.words = words
        self.first = words[0]
        self.seen: set[str] = set()
        self.joins = 0

    def node(self) -> Node:
        word = self._next()
        if word.is_name:
            return self._leaf(word)
        if word.text != "(":
            refuse(f"a name or `(` belongs here, not {word.text}", word.place, _EXAMPLE)
        self._count(word)
        left = self.node()
        right = self.node()
        end = self._next()
        if end.text != ")" or end.is_name:
            refuse("a join has two sides", end.place, _EXAMPLE)
        return Branch(left, right, self._method(end, left, right))

    def _count(self, word: Word) -> None:
        """Refuse more joins than the inputs can have, before they are read one in the other."""
        self.joins += 1
        if self.joins >= max(2, len(self.query.inputs)):
            for name in (each for each in self.words if each.is_name):
                check_known(self.query, name)  # One that is misspelt may be what is too many.
            several = f"{len(self.query.inputs)} inputs have {len(self.query.inputs) - 1} joins"
            refuse(f"{several}: this is one too many", word.place, _EXAMPLE)

    def _leaf(self, word: Word) -> Leaf:
        check_known(self.query, word)
        if word.text in self.seen:
            refuse(f"{word.text} is joined twice", word.place, "a tree has each input once")
        if word.method is not None:
            refuse("an input has no method", word.place, "methods belong to joins: `(A B)/nested`")
        self.seen.add(word.text)
        return Leaf(word.text)

    def _method(self, end: Word, left: Node, right: Node) -> Method:
        method = method_of(end)
        if method is not None and method != "nested" and not _is_linked(self.classes, left, right):
            what = f"{' '.join(leaves(left))} and {' '.join(leaves(right))} share no key"
            refuse(f"{what} to be joined by {method}", end.place, "write /nested, or nothing")
        return method or _default(self.classes, left, right)

    def _next(self) -> Word:
        if not self.words:
            refuse("the tree is not closed", self.first.place, _EXAMPLE)
        return self.words.pop(0)
