"""`penstock new`: a folder to begin with."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

_HERE = Path(__file__).parent


def new(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="The folder to make.")],
) -> None:
    """Make a folder with a query, some data for it, and a README with the commands to try.

    Example: penstock new shop
    """
    from penstock.cli.scripts.shop_data import shop_files
    from penstock.cli.scripts.writing import write_new
    from penstock.errors import SinkError

    if name.exists() and (not name.is_dir() or any(name.iterdir())):
        raise SinkError(f"{name} is there already", hint="give the name of a folder to be made")
    readme = _HERE.joinpath("shop_readme.md").read_text(encoding="utf-8")
    files = {
        "README.md": readme.replace("NAME", name.resolve().name, 1),
        "query.cql": _HERE.joinpath("shop.cql").read_text(encoding="utf-8"),
        **shop_files(),
    }
    for path, text in files.items():
        _make_folder((name / path).parent)
        write_new(name / path, text)
    print(f"{name} has a query and data for it. To begin:\n")
    print(f"  cd {quote(str(name))}")
    print("  penstock run query.cql --engine local --available-now --drain\n")
    print(f"{name / 'README.md'} has more to try.")


def _make_folder(folder: Path) -> None:
    from penstock.errors import SinkError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "give the name of a folder to be made"
        raise SinkError(f"cannot make {folder}: {error.strerror}", hint=hint) from error
