"""Data files as `penstock init` finds them: which are of one stream, and samples of their rows."""

from __future__ import annotations

import csv
import glob
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.cli.scripts.column_types import is_value
from penstock.errors import SourceError

Format = Literal["csv", "json", "parquet"]
FORMATS: Mapping[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
# What text may be packed with, as `run` reads it.
_PACKED = (".gz", ".bz2", ".zst", ".lz4")
# So many rows of a file tell its types; more would only take longer.
MOST_ROWS = 20_000
# A folder of the rows in which a column has one value, as Hive and Spark write them.
_PARTITION = re.compile(r"([^=]+)=.+")
_DELIMITERS = ",;\t|"
# How a file of UTF-16 begins, each byte being a surrogate.
_UTF16_MARKS = ("\udcff\udcfe", "\udcfe\udcff")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Sample:
    """The first rows of a file: columns by name, each with its values, None being NULL."""

    path: Path
    format: Format
    columns: Mapping[str, Sequence[Any]]
    rows: int

    delimiter: str = ","
    has_header: bool = True
    malformed: int = 0
    """Lines that are no rows."""

    not_utf8: int = 0
    """Those of them that are in another encoding."""

    twice: tuple[str, ...] = ()
    """Names that several columns have, of which none can be read."""

    schema: pa.Schema | None = field(default=None, compare=False)
    """The types of a parquet file."""

    @property
    def shape(self) -> tuple[object, ...]:
        """What files of one stream have in common."""
        if self.format == "json":
            return (self.format,)
        names = tuple(sorted(name.lower() for name in self.columns))
        return (self.format, self.delimiter, self.has_header, names)


def ending(path: Path) -> str:
    """The ending of a file's name that says its format, whatever it is packed with."""
    last = path.suffix.lower()
    is_packed = last in _PACKED and path.with_suffix("").suffix.lower() != ".parquet"
    return path.with_suffix("").suffix.lower() if is_packed else last


def data_files(given: Iterable[Path]) -> Iterator[Path]:
    """The files that are given, and those of folders that are, but for hidden ones."""
    for path in given:
        if path.is_dir():
            for found in sorted(path.rglob("*")):
                below = found.relative_to(path).parts
                is_hidden = any(part.startswith((".", "_")) for part in below)
                if ending(found) in FORMATS and found.is_file() and not is_hidden:
                    yield found
        elif not path.is_file():
            hint = "give files or folders that are there"
            raise SourceError(f"cannot read {path}: there is no such file or directory", hint=hint)
        elif ending(path) not in FORMATS:
            hint = f"the files that are read end with {', '.join(FORMATS)}"
            raise SourceError(f"{path} is of no format that is known by its name", hint=hint)
        else:
            yield path


def sample(path: Path) -> Sample:
    """The first rows of a file."""
    match FORMATS[ending(path)]:
        case "csv":
            return _csv(path)
        case "json":
            return _json(path)
    return _parquet(path)


def _csv(path: Path) -> Sample:
    text = _text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=lambda sign: (first.count(sign), -_DELIMITERS.index(sign)))
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    try:
        rows = [row for row in csv.reader(StringIO(text), delimiter=delimiter) if row]
    except csv.Error as error:
        raise SourceError(f"cannot read {path} as csv: {error}", hint="is it CSV?") from None
    if text.count("\n") > MOST_ROWS:
        rows = rows[:-1]  # The lines may end inside of it.
    names, has_header = _names(rows)
    if has_header and not all(map(_is_text, names)):
        encoding = "UTF-16" if text.startswith(_UTF16_MARKS) else "LATIN1"
        hint = f"perhaps it is {encoding}: {to_utf8(path, encoding)}"
        raise SourceError(f"{path} is not UTF-8", hint=hint)
    body = rows[1:] if has_header else rows
    in_utf8 = [row for row in body if all(map(_is_text, row))]
    fitting = [row for row in in_utf8 if len(row) == len(names)]
    lower = [name.lower() for name in names]
    twice = tuple(dict.fromkeys(name for name in names if lower.count(name.lower()) > 1))
    columns = {
        name: [row[place] or None for row in fitting]
        for place, name in enumerate(names)
        if name not in twice
    }
    return Sample(
        path,
        "csv",
        columns,
        len(fitting),
        delimiter,
        has_header,
        malformed=len(body) - len(fitting),
        not_utf8=len(body) - len(in_utf8),
        twice=twice,
    )


def to_utf8(path: Path, encoding: str = "LATIN1") -> str:
    """The command that converts a file, with another file beside it."""
    new = path.with_name(f"utf8-{path.name}")
    return f"iconv -f {encoding} -t UTF-8 {quote(str(path))} > {quote(str(new))}"


def _names(rows: Sequence[Sequence[str]]) -> tuple[list[str], bool]:
    """The columns of a CSV file, and whether its first line names them: no name is a value."""
    if not rows:
        return [], True
    first = [cell.strip() for cell in rows[0]]
    if any(map(is_value, first)):
        return [f"c{place}" for place, _ in enumerate(first, 1)], False
    return first, True


def _json(path: Path) -> Sample:
    objects: list[dict[str, Any]] = []
    malformed = not_utf8 = 0
    for line in _text(path).splitlines():
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and _is_text(found):
            objects.append(found)
        else:
            malformed += 1
            not_utf8 += not _is_text(line)
    names = dict.fromkeys(name for each in objects for name in each)
    lower = [name.lower() for name in names]
    twice = tuple(name for name in names if lower.count(name.lower()) > 1)
    kept = [name for name in names if name not in twice]
    columns = {name: [each.get(name) for each in objects] for name in kept}
    return Sample(
        path,
        "json",
        columns,
        len(objects),
        malformed=malformed,
        not_utf8=not_utf8,
        twice=twice,
    )


def _parquet(path: Path) -> Sample:
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            batches = islice(file.iter_batches(MOST_ROWS), 1)
            table = pa.Table.from_batches(batches, schema)
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"cannot read {path}: {error}", hint="is it parquet?") from None
    lower = [name.lower() for name in schema.names]
    twice = tuple(name for name in schema.names if lower.count(name.lower()) > 1)
    kept = [name for name in schema.names if name not in twice]
    columns = {name: table.column(name) for name in kept}
    return Sample(path, "parquet", columns, len(table), twice=twice, schema=schema)


def _text(path: Path) -> str:
    """The first lines of a file; bytes that are no UTF-8 are surrogates."""
    try:
        packed = pa.input_stream(path, compression="detect")
        with TextIOWrapper(
            packed, encoding="utf-8-sig", errors="surrogateescape", newline=""
        ) as file:
            return "".join(islice(file, MOST_ROWS + 1))
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}", hint="is it a file?") from None


def _is_text(value: Any) -> bool:
    """Whether all texts in a value are such that UTF-8 has them: no half of a pair, no byte of
    another encoding."""
    match value:
        case str():
            return _SURROGATES.search(value) is None
        case dict():
            return all(_is_text(name) and _is_text(each) for name, each in value.items())
        case list():
            return all(map(_is_text, value))
    return True


def _common_start(names: Sequence[str]) -> str:
    """The letters with which all names begin."""
    first, last = min(names), max(names)
    same = 0
    while same < len(first) and first[same] == last[same]:
        same += 1
    return first[:same]


@dataclass(frozen=True)
class Group:
    """Files of one stream: where they are, and their samples, oldest first."""

    path: str
    name: str
    samples: tuple[Sample, ...]


def grouped(samples: Sequence[Sample], folders: Sequence[Path] = ()) -> list[Group]:
    """The streams that files are: those of the same shape in one folder are one, and so are those
    in the folders of a partition (`day=2026-01-01`, `day=2026-01-02`).

    The only file of one of the given `folders` stands for those that are to come there.
    """
    parts, others = _partitioned(samples, folders)
    found: dict[tuple[Path, tuple[object, ...]], list[Sample]] = {}
    for each in sorted(others, key=lambda each: not each.columns):
        key = (each.path.parent, each.shape)
        if not each.columns:  # An empty file is of any shape.
            alike = [k for k in found if k[0] == key[0] and k[1][0] == each.format]
            key = alike[0] if alike else key
        found.setdefault(key, []).append(each)
    return parts + [
        group
        for (parent, _), same in found.items()
        for group in _placed(parent, same, is_folder=parent in folders)
    ]


def _partitioned(
    samples: Sequence[Sample], folders: Sequence[Path]
) -> tuple[list[Group], list[Sample]]:
    """The streams of partitions for which a pattern stands (`in/day=*/*.csv`), and the files that
    are of none."""
    alike: dict[tuple[object, ...], list[Sample]] = {}
    for each in samples:
        if each.columns:
            keys = tuple(_PARTITION.sub(r"\1=", part) for part in each.path.parent.parts)
            alike.setdefault((keys, each.shape), []).append(each)
    empty = {each.path for each in samples if not each.columns}
    groups, placed = [], set()
    for same in alike.values():
        above, below = _partitions({each.path.parent for each in same}, folders)
        if above is None:
            continue
        paths = {each.path for each in same}
        for pattern in _patterns(below, paths):
            found = _shown(pattern)
            if found - empty == paths:  # An empty file is of any shape.
                groups.append(Group(pattern, above.resolve().name, _oldest_first(same)))
                placed |= found
                break
    return groups, [each for each in samples if each.path not in placed]


def _partitions(parents: Collection[Path], folders: Sequence[Path]) -> tuple[Path | None, str]:
    """The folder above partitions, None if there are none, and the pattern of folders in them.

    A folder's name has a value of a partition if others have another one there. Below one of the
    given `folders` a single one has it too, and stands for those that are to come.
    """
    given = [len(f.parts) for f in folders if all(each.is_relative_to(f) for each in parents)]
    names = [set(level) for level in zip(*(each.parts for each in parents), strict=True)]
    above, pattern = None, Path()
    for depth, (name, *others) in enumerate(names):
        found = _PARTITION.fullmatch(name)
        is_open = found is not None and (others or (given and depth >= min(given)))
        if is_open and above is None:
            above = Path(*next(iter(parents)).parts[:depth])
        pattern /= f"{glob.escape(found[1])}=*" if found and is_open else glob.escape(name)
    return above, str(pattern)


def _patterns(folder: str, paths: Collection[Path]) -> Iterator[str]:
    """Patterns that may stand for these files alone, in the folders of a pattern."""
    suffix = next(iter(paths)).suffix
    start = _common_start([path.name.removesuffix(suffix) for path in paths])
    yield str(Path(folder, f"*{suffix}"))
    yield str(Path(folder, f"{glob.escape(start)}*{suffix}"))


def _shown(pattern: str) -> set[Path]:
    """The files that a pattern stands for: hidden ones are passed over."""
    found = map(Path, glob.glob(pattern))
    return {path for path in found if not path.name.startswith((".", "_"))}


def _oldest_first(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Samples in the order in which a run reads their files."""
    return tuple(sorted(samples, key=lambda each: (each.path.stat().st_mtime_ns, str(each.path))))


def _placed(parent: Path, same: Sequence[Sample], *, is_folder: bool) -> list[Group]:
    """One stream, if a folder or pattern stands for its files alone, else one of each file."""
    ordered = _oldest_first(same)
    paths = {each.path for each in same}
    if len(same) > 1 or is_folder:
        inside = {p for p in parent.rglob("*") if p.is_file() and not p.name.startswith((".", "_"))}
        if inside == paths:
            return [Group(str(parent), parent.resolve().name, ordered)]
    if len(same) > 1:
        start = _common_start([path.name for path in paths])
        pattern = str(parent / f"{glob.escape(start)}*{ordered[0].path.suffix}")
        if {Path(found) for found in glob.glob(pattern)} == paths:
            return [Group(pattern, start or parent.resolve().name, ordered)]
    return [Group(str(each.path), each.path.name.split(".")[0], (each,)) for each in ordered]
