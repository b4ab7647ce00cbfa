"""Write a repository for your own source from a template; the new source trains, measures, reports and tests at once."""

from __future__ import annotations

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from modinterp.files import write_atomically
from modinterp.sources.registry import sources

TEMPLATE = Path(__file__).parent / "template"
ENDING, PACKAGE = ".jinja", "package"  # of the files of the template, and its folder that becomes the package


def written(name: str, out: Path) -> list[Path]:
    """Write the files of a new source into a new folder; return the paths of the files.

    Args:
        name: name of the source and of its Python package, in lower case letters, digits and underscores.
    Raises:
        ValueError: the name is invalid or taken, or the folder already exists.
    """
    import jinja2

    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise ValueError(
            f"the name of a source must consist of lower case letters, digits and underscores, got {name!r}"
        )
    there = find_spec(name)  # which the new package would hide, or be hidden by
    if name in sources() or name in sys.stdlib_module_names or (there is not None and there.origin is not None):
        raise ValueError(f"a source named {name!r} exists already; choose another name")
    if out.exists():
        raise ValueError(f"{out} exists already; choose another --out")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    files = []
    for path in sorted(TEMPLATE.rglob(f"*{ENDING}")):
        parts = [name if part == PACKAGE else part for part in path.relative_to(TEMPLATE).parts]
        files.append(out.joinpath(*parts[:-1], parts[-1].removesuffix(ENDING)))
        write_atomically(
            files[-1], environment.from_string(path.read_text(encoding="utf-8")).render(name=name).encode()
        )
    return files
