"""Imports go one way, the library names no source, and the heavy libraries stay in their rooms."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import modinterp
from modinterp.sources import catalogue, sources
from modinterp.sources.registry import GROUP

PACKAGE = Path(modinterp.__file__).parent
LAYERS = ["tasks", "models", "activations", "training", "runs", "analyses", "measurements", "claims", "figures", "pages",
          "sources", "reproduce", "explain", "compare", "publish", "commands"]  # fmt: skip
GROUND = {
    "arguments",
    "lazy",
    "files",
    "terminal",
    "cluster",
}  # what everything may stand on, and what stands on nothing
ROOMS = {
    "transformer_lens": {"models", "activations"},
    "plotly": {"figures", "pages", "sources", "reproduce", "explain", "compare"},
}
FILES = sorted(PACKAGE.rglob("*.py"))
LIBRARY = [
    path
    for path in FILES
    if path.relative_to(PACKAGE).parts[0] != "sources" or len(path.relative_to(PACKAGE).parts) == 2
]
# a component of a transformer, an algorithm, and what mathematics knows have these names, too
ALSO_WORDS = {"mlp", "clock", "groups", "pizza"}


def layer(path: Path) -> str:
    """The room that a file stands in."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def stands_at_the_end(path: Path) -> bool:
    return path.name == "__main__.py" or (path.parent == PACKAGE and path.name == "__init__.py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imported(path: Path) -> frozenset[str]:
    names = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            assert node.module is not None
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_come_from_the_left(path: Path) -> None:
    own = layer(path)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] in ROOMS:
            assert own in ROOMS[parts[0]], f"{path} imports {parts[0]}"
        if (
            parts[0] != "modinterp"
            or parts[1:] in ([], ["__version__"])
            or stands_at_the_end(path)
            or parts[1] in GROUND
        ):
            continue
        assert own not in GROUND, f"{path} must stand on nothing, and imports {name}"
        assert LAYERS.index(parts[1]) <= LAYERS.index(own), f"{path} imports {name}, which is to its right"


def typing_only(tree: ast.Module) -> list[ast.stmt]:
    """Imports below `if TYPE_CHECKING:`."""
    guarded = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return [statement for node in guarded for statement in node.body]


def test_no_files_import_one_another() -> None:
    """Nor do they through an import inside a function."""
    module_of = {path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in FILES}
    known = set(module_of.values())
    edges: dict[str, set[str]] = {}
    for path, module in module_of.items():
        unimported = typing_only(parsed(path))
        at_import = [
            node for node in ast.walk(parsed(path)) if isinstance(node, ast.ImportFrom) and node not in unimported
        ]
        wanted = {f"{node.module}.{alias.name}" for node in at_import for alias in node.names} | {
            str(n.module) for n in at_import
        }
        edges[module] = wanted & known
    state: dict[str, int] = {}

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert state.get(module) != 1, " -> ".join((*trail, module))
        if module not in state:
            state[module] = 1
            for other in edges.get(module, ()):
                visit(other, (*trail, module))
            state[module] = 2

    for module in edges:
        visit(module, ())


@cache
def strings(path: Path) -> tuple[str, ...]:
    """Every string of a file's code, docstrings left out: those may cite a paper."""
    tree = parsed(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree)
                  if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings)
    return tuple(node.value for node in texts if isinstance(node.value, str))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_library_names_no_source(path: Path) -> None:
    for name in sources():
        for text in strings(path):
            assert not re.search(rf"\b{name}/", text), f"{path} names a run of {name}: {text!r}"
            assert name in ALSO_WORDS or not re.search(rf"\b{name}\b", text), f"{path} names {name}: {text!r}"
        own = f"modinterp.sources.{name}"
        assert not [each for each in imported(path) if f"{each}.".startswith(f"{own}.")], f"{path} imports {name}"


def test_templates_of_the_library_name_no_source() -> None:
    for path in [
        *PACKAGE.glob("pages/*"),
        *PACKAGE.glob("reproduce/*.html"),
        *PACKAGE.glob("explain/*.html"),
        *PACKAGE.glob("compare/*.html"),
    ]:
        if path.suffix in (".html", ".js", ".css"):
            assert not [n for n in sources() if n not in ALSO_WORDS and re.search(rf"\b{n}\b", path.read_text())], path


def test_a_source_is_one_folder() -> None:
    for name, source in sources().items():
        folder = PACKAGE / "sources" / name
        assert source.package == f"modinterp.sources.{name}"
        assert {"source", "runs", "claims", "drawings"} <= {path.stem for path in folder.iterdir()}
        assert source.title, name
        assert source.citation, name
        assert len(source.runs) > 0
        assert len(source.claims) > 0
        assert source.contradictions is not None
        assert source.drawings


def test_every_run_belongs_to_one_source_and_is_needed() -> None:
    from modinterp.sources import claims_of
    from modinterp.sources.registry import figures_of

    assert len(catalogue()) == sum(len(source.runs) for source in sources().values())
    needed = {run for source in sources().values() for claim in source.claims.values() for run in claim.needs}
    assert needed <= set(catalogue())
    for run in needed:
        assert claims_of(run), run
    for name, source in sources().items():
        assert figures_of(source.main_run), name


def test_every_module_has_its_place() -> None:
    assert {layer(path) for path in FILES} == {*LAYERS, *GROUND, "__init__", "__main__"}
    assert not {path.stem for path in FILES} & {"utils", "helpers", "common", "misc", "shared"}


def test_the_diagram_is_the_order() -> None:
    assert modinterp.__doc__ is not None
    assert " -> ".join(LAYERS) in " ".join(modinterp.__doc__.split())


def test_public_names_are_there_and_no_function_hides_a_submodule() -> None:
    for name in modinterp.__all__:
        assert getattr(modinterp, name) is not None
    importable = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    public = {name: getattr(modinterp, name) for name in modinterp.__all__}
    assert not {n for n, x in public.items() if callable(x) and not isinstance(x, ModuleType)} & importable


def test_the_entry_point_is_documented() -> None:
    assert GROUP in (PACKAGE.parent / "CONTRIBUTING.md").read_text()


def test_files_and_functions_stay_small() -> None:
    for path in FILES:
        assert path.read_text().count("\n") <= 320, path
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno <= 75, f"{path}: {node.name}"


def test_nothing_of_one_machine_is_in_the_tree() -> None:
    for path in [*FILES, *PACKAGE.parent.glob("*.md"), PACKAGE.parent / "pyproject.toml"]:
        assert not re.search(r"(^|[\s\"'(])/(work|root|home)/", path.read_text()), path
