"""Imports go one way, and the heavy libraries stay in their rooms."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import modinterp
from modinterp.claims import SOURCES
from modinterp.usage import SOURCES as SOURCES_OF_THE_COMMAND

PACKAGE = Path(modinterp.__file__).parent
LAYERS = ["tasks", "models", "activations", "training", "runs", "analyses", "claims", "figures", "reproduce",
          "explain"]  # fmt: skip
EVERYWHERE, AT_THE_END = {"lazy", "usage"}, {"__init__", "publish"}
ROOMS = {"transformer_lens": {"models", "activations"}, "plotly": {"figures", "reproduce", "explain"}}
FILES = sorted(PACKAGE.rglob("*.py"))


def layer(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            assert node.module is not None
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_come_from_the_left(path: Path) -> None:
    own = layer(path)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] in ROOMS:
            assert own in ROOMS[parts[0]], f"{path} imports {parts[0]}"
        if parts[0] != "modinterp" or own in AT_THE_END or parts[1] in EVERYWHERE:
            continue
        assert own not in EVERYWHERE, f"{path} must stand on nothing, and imports {name}"
        assert LAYERS.index(parts[1]) <= LAYERS.index(own), f"{path} imports {name}, which is to its right"


def test_every_module_has_its_place() -> None:
    assert {layer(path) for path in FILES} == {*LAYERS, *EVERYWHERE, *AT_THE_END}
    assert not {path.stem for path in FILES} & {"utils", "helpers", "common"}


def test_the_diagram_is_the_order() -> None:
    assert modinterp.__doc__ is not None
    assert " -> ".join(LAYERS) in " ".join(modinterp.__doc__.split())


def test_public_names_are_there_and_no_function_hides_a_submodule() -> None:
    for name in modinterp.__all__:
        assert getattr(modinterp, name) is not None
    modules = {path.stem for path in PACKAGE.glob("*.py")} | set(LAYERS)
    public = {name: getattr(modinterp, name) for name in modinterp.__all__}
    assert not {n for n, x in public.items() if callable(x) and not isinstance(x, ModuleType)} & modules
    # one module can be called: it is a command and a function, and importing it must not take the function away
    assert {n for n in modules if callable(import_module(f"modinterp.{n}"))} == {"explain"}


def test_commands_know_the_sources_without_importing_them() -> None:
    assert list(SOURCES) == list(SOURCES_OF_THE_COMMAND)


def test_files_and_functions_stay_small() -> None:
    for path in FILES:
        tree = ast.parse(path.read_text())
        assert path.read_text().count("\n") <= 320, path
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno <= 75, f"{path}: {node.name}"


def test_nothing_of_one_machine_is_in_the_tree() -> None:
    for path in [*FILES, *PACKAGE.parent.glob("*.md"), PACKAGE.parent / "pyproject.toml"]:
        assert not re.search(r"(^|[\s\"'(])/(work|root|home)/", path.read_text()), path
