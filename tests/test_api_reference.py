"""Every public name says what it is, and stands in the reference that Sphinx builds with the other pages."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules, resolve_name, walk_packages
from types import FunctionType, ModuleType

import pytest

import modinterp
from modinterp.sources import sources

ROOT = Path(__file__).parents[1]
MEMBERS = (FunctionType, classmethod, staticmethod, property, cached_property)


def modules() -> Iterator[ModuleType]:
    yield modinterp
    for found in walk_packages(modinterp.__path__, "modinterp."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield import_module(found.name)


def members(kind: type) -> Iterator[str]:
    return (name for name, x in vars(kind).items() if not name.startswith("_") and isinstance(x, MEMBERS))


def docstring(kind: type, name: str) -> str | None:
    """A member's own, or that of what it overrides; what another package says of its own is none."""
    ours = (base for base in kind.__mro__ if base.__module__.startswith("modinterp") and name in vars(base))
    return next(filter(None, (vars(base)[name].__doc__ for base in ours)), None)


@cache
def public() -> dict[str, str | None]:
    """Full name of every public module, class, function, method and property to its docstring."""
    found: dict[str, str | None] = {}
    for module in modules():
        found[module.__name__] = module.__doc__
        for name, x in vars(module).items():
            if name.startswith("_") or getattr(x, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(x) or inspect.isclass(x):
                found[f"{module.__name__}.{name}"] = x.__doc__
            if inspect.isclass(x):
                found |= {f"{module.__name__}.{name}.{member}": docstring(x, member) for member in members(x)}
    return found


def test_every_public_name_has_a_docstring() -> None:
    assert len(public()) > 900
    # a dataclass without one is given its signature by Python
    generated = re.compile(r"\w+\(.*\)( -> None)?|Create and return a new object.*", re.DOTALL)
    assert not [name for name, text in public().items() if not text or generated.fullmatch(text.strip())]


def test_attributes_that_are_described_are_there() -> None:
    for module in modules():
        for kind in vars(module).values():
            if not (inspect.isclass(kind) and kind.__module__ == module.__name__ and is_dataclass(kind)):
                continue
            _, _, text = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")
            described = re.findall(r"^    (\w[\w, ]*):", text.partition("\n\n")[0], re.MULTILINE)
            names = {name for group in described for name in group.split(", ")}
            assert names <= {field.name for field in fields(kind)} | set(members(kind)), kind


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference, built from nothing with every warning an error; what make.py does."""
    if not all(map(find_spec, ("sphinx", "furo", "myst_parser", "sphinx_copybutton"))):
        pytest.skip("Sphinx and its extensions are not installed")
    source = tmp_path_factory.mktemp("reference") / "docs"
    shutil.copy(ROOT / "CONTRIBUTING.md", source.parent)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("_build", "api"))
    # without furo, whose sidebars take half the time, and pages of code, which take a sixth of the rest
    strict = ["-q", "-W", "-n", "--keep-going", "-D", "html_theme=basic", "-t", "without_code"]
    command = [sys.executable, "-m", "sphinx", *strict, source, source / "html"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return source / "html"


def test_the_reference_builds_and_has_every_public_name(reference: Path) -> None:
    header, _, packed = (reference / "objects.inv").read_bytes().partition(b"zlib.\n")
    assert b"Project: modinterp" in header
    entries = [line.split() for line in zlib.decompress(packed).decode().splitlines()]
    there = {name for name, kind, *_ in entries if kind.startswith("py:")}
    assert not [name for name in public() if name not in there]


def test_the_reference_has_every_claim_below_its_module(reference: Path) -> None:
    pages = {path: path.read_text() for path in (reference / "api").glob("modinterp.sources.*.claims.*.html")}
    assert pages
    for name, source in sources().items():
        text = "".join(
            page for path, page in pages.items() if path.name.startswith(f"modinterp.sources.{name}.claims.")
        )
        ids = [*source.claims, *(conflict.id for conflict in source.contradictions)]
        assert not [key for key in ids if f">{key}<" not in text]


def test_the_reference_names_rooms_and_nothing_in_them() -> None:
    listed = re.findall(r"^   (\w+)$", (ROOT / "docs" / "reference.rst").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted({module.name for module in iter_modules(modinterp.__path__)} - {"__main__"})


def test_definitions_stand_where_it_is_said() -> None:
    names = re.findall(r"`(modinterp\.[\w.]+)`", (ROOT / "docs" / "definitions.md").read_text())
    assert len(names) > 16
    for name in names:
        assert resolve_name(name) is not None
