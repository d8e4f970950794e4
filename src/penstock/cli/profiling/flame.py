"""Flame graphs of a profile: a picture coloured by kind of work, or a file for speedscope."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from penstock.atomic import write_text
from penstock.cli.profiling.cpu import Cpu, Work
from penstock.cli.profiling.kinds import Frame, Kind
from penstock.cli.profiling.usage import ROLES
from penstock.errors import SinkError

SUFFIXES = (".svg", ".json")

_WIDTH, _ROW, _MARGIN = 1600, 17, 10
_NARROWEST = 0.4
_LETTER = 6.6
# Functions that call what others have asked for, and tell a reader nothing.
_PASSING = ("/typer/", "/<frozen importlib", "/threading.py", "/contextlib.py", "/<string>")
_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write_flame(cpu: Cpu, path: Path, title: str) -> None:
    """Write a flame graph to a file, as its name ends: .svg, or .json for speedscope."""
    text = _svg(cpu, title) if path.suffix == ".svg" else _speedscope(cpu, title)
    try:
        write_text(path, text)
    except OSError as error:
        hint = "give --output a file in a directory that exists and is writable"
        raise SinkError(f"cannot write {path}: {error.strerror}", hint=hint) from error


def _frames(work: Work) -> tuple[Frame, ...]:
    """The functions that are shown, or else the kind of work."""
    shown = [f for f in work.frames if not any(part in f"/{f.file}" for part in _PASSING)]
    return tuple(shown) or (Frame(work.kind.value, ""),)


def _speedscope(cpu: Cpu, title: str) -> str:
    """A profile for each kind of process, its frames by number."""
    numbers: dict[Frame, int] = {}
    profiles = []
    for role in ROLES:
        work = [each for each in cpu.work if each.role == role and each.seconds > 0.0]
        if not work:
            continue
        stacks = [[numbers.setdefault(f, len(numbers)) for f in _frames(each)] for each in work]
        weights = [each.seconds for each in work]
        profiles.append(
            {
                "type": "sampled",
                "name": role,
                "unit": "seconds",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": stacks,
                "weights": weights,
            }
        )
    frames = [{"name": f.function, "file": f.file, "line": f.line} for f in numbers]
    made = {"$schema": _SCHEMA, "name": title, "exporter": "penstock profile"}
    return json.dumps({**made, "shared": {"frames": frames}, "profiles": profiles}) + "\n"


@dataclass
class _Node:
    """A function with all it called, and its seconds by kind of work."""

    name: str
    kinds: defaultdict[Kind, float] = field(default_factory=lambda: defaultdict(float))
    called: dict[str, _Node] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return sum(self.kinds.values())

    def add(self, names: Iterable[str], kind: Kind, seconds: float) -> None:
        node = self
        node.kinds[kind] += seconds
        for name in names:
            node = node.called.setdefault(name, _Node(name))
            node.kinds[kind] += seconds


def _tree(cpu: Cpu) -> _Node:
    root = _Node("all")
    for each in cpu.work:
        root.add((each.role, *map(_label, _frames(each))), each.kind, each.seconds)
    return root


def _label(frame: Frame) -> str:
    """A function with the end of its file's path."""
    place = "/".join(frame.file.split("/")[-2:])
    return f"{frame.function} ({place})" if place else frame.function


@dataclass(frozen=True)
class _Box:
    """A function in the picture: where it begins and how wide it is, in seconds; and how deep."""

    node: _Node
    start: float
    depth: int


def _boxes(node: _Node, narrowest: float, start: float = 0.0, depth: int = 0) -> Iterator[_Box]:
    """All boxes that can be seen, the widest of a function's first."""
    yield _Box(node, start, depth)
    for inner in sorted(node.called.values(), key=lambda each: -each.seconds):
        if inner.seconds >= narrowest:
            yield from _boxes(inner, narrowest, start, depth + 1)
        start += inner.seconds


def _svg(cpu: Cpu, title: str) -> str:
    tree = _tree(cpu)
    whole = tree.seconds or 1.0
    scale = (_WIDTH - 2 * _MARGIN) / whole
    boxes = list(_boxes(tree, _NARROWEST / scale))
    kinds = [kind for kind in Kind if tree.kinds[kind] > 0.0]
    top = _ROW * (len(kinds) + 3)
    height = top + _ROW * (max(box.depth for box in boxes) + 2)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="monospace" font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_MARGIN}" y="{_ROW}">{escape(title)}</text>',
        *(line for row, kind in enumerate(kinds) for line in _legend(kind, tree, row, whole)),
        *(line for box in boxes for line in _drawn(box, scale, top, whole)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _legend(kind: Kind, tree: _Node, row: int, whole: float) -> Iterator[str]:
    y, seconds = _ROW * (row + 2), tree.kinds[kind]
    yield f'<rect x="{_MARGIN}" y="{y - 10}" width="12" height="12" fill="{_colour(kind)}"/>'
    text = escape(f"{kind.value}  {seconds:.2f} s  {seconds / whole:.1%}")
    yield f'<text x="{_MARGIN + 18}" y="{y}">{text}</text>'


def _drawn(box: _Box, scale: float, top: int, whole: float) -> Iterator[str]:
    node, seconds = box.node, box.node.seconds
    x, y, width = _MARGIN + box.start * scale, top + _ROW * box.depth, seconds * scale
    kind = max(node.kinds, key=node.kinds.__getitem__, default=Kind.OTHER)
    told = escape(f"{node.name}: {seconds:.2f} s, {seconds / whole:.1%}, mostly {kind.value}")
    size = f'x="{x:.1f}" y="{y}" width="{max(width - 0.3, 0.1):.1f}" height="{_ROW - 1}"'
    yield f'<g><title>{told}</title><rect {size} fill="{_colour(kind)}"/>'
    letters = int((width - 4) / _LETTER)
    if letters > 2:
        yield f'<text x="{x + 2:.1f}" y="{y + 12}">{escape(node.name[:letters])}</text>'
    yield "</g>"


def _colour(kind: Kind) -> str:
    """A colour of its own for each kind of work: steps around the circle that are far apart."""
    number = list(Kind).index(kind)
    return f"hsl({number * 137 % 360},{55 + number % 3 * 15}%,{68 + number % 2 * 8}%)"
