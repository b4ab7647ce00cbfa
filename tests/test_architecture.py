"""Imports go one way, the library names no source, and the heavy libraries stay in their rooms."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType

import modinterp
from modinterp.sources import catalogue, sources
from modinterp.sources.registry import GROUP

PACKAGE = Path(modinterp.__file__).parent
LAYERS = ["tasks", "models", "activations", "training", "runs", "analyses", "bases", "interventions",
          "measurements", "claims", "figures", "formulas", "pages", "sources", "explain", "reproduce", "compare", "distill", "publish",
          "commands"]  # fmt: skip
GROUND = {"arguments", "lazy", "files", "terminal", "cluster"}  # every layer may import them; they import no layer
ROOMS = {
    "transformer_lens": {"models", "activations", "interventions"},
    "plotly": {"figures", "pages", "sources", "reproduce", "explain", "compare"},
}
TOP = PACKAGE / "__init__.py"  # the one file that names what is to its right, lazily
MAIN = """\"\"\"`python -m {package}` runs the command in `modinterp.commands.{command}`.\"\"\"

import sys

from modinterp.commands.{command} import main

if __name__ == "__main__":
    sys.exit(main())
"""
FILES = sorted(PACKAGE.rglob("*.py"))
LIBRARY = [
    path
    for path in FILES
    if path.relative_to(PACKAGE).parts[0] != "sources" or len(path.relative_to(PACKAGE).parts) == 2
]
# a component of a transformer, an algorithm, what mathematics knows and an initialisation have these names, too
ALSO_WORDS = {"mlp", "clock", "groups", "pizza", "he"}


def relative(path: Path) -> str:
    """How a message names a file."""
    return path.relative_to(PACKAGE).as_posix()


def module_of(path: Path) -> str:
    """The name by which a file is imported."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in FILES}


def layer(module: str) -> str:
    """The layer, or part of the ground, that a module stands in.

    A `__main__` file is a door of `commands`, wherever it lies, and so is the package itself, which lists them all.
    """
    parts = module.split(".")
    return "commands" if len(parts) == 1 or parts[-1] == "__main__" else parts[1]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imported(path: Path) -> frozenset[str]:
    """Every name that a file imports: within functions and below `if TYPE_CHECKING:`, too."""
    names = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names}
    return frozenset(names)


@cache
def modules_imported(path: Path) -> frozenset[str]:
    """The modules of the package from which a file imports something."""
    found = set()
    for name in (name for name in imported(path) if name.split(".")[0] == "modinterp"):
        while name not in MODULES:
            name = name.rpartition(".")[0]
        found.add(name)
    return frozenset(found)


def test_no_import_is_relative() -> None:
    assert not [f"{relative(path)} imports {n}" for path in FILES for n in imported(path) if n.startswith(".")]


def test_imports_come_from_the_left() -> None:
    """In every file but the package's own `__init__.py`."""

    def is_from_the_left(own: str, other: str) -> bool:
        if other in GROUND or own in GROUND:
            return other in GROUND
        return LAYERS.index(other) <= LAYERS.index(own)

    assert not [
        f"{relative(path)} imports {other}, which is to its right"
        for module, path in MODULES.items()
        for other in modules_imported(path)
        if path != TOP and not is_from_the_left(layer(module), layer(other))
    ]


def test_heavy_libraries_are_imported_in_their_rooms_alone() -> None:
    assert not [
        f"{relative(path)} imports {name}"
        for module, path in MODULES.items()
        for name in imported(path)
        if layer(module) not in ROOMS.get(name.split(".")[0], {layer(module)})
    ]


def test_no_files_import_one_another() -> None:
    """Nor do they within a function, or for types alone."""
    state: dict[str, int] = {}
    circles: list[str] = []

    def visit(module: str, trail: tuple[str, ...]) -> None:
        if state.get(module) == 1:
            circles.append(" -> ".join((*trail[trail.index(module) :], module)))
        if module not in state:
            state[module] = 1
            for other in sorted(modules_imported(MODULES[module]) - {module}):
                visit(other, (*trail, module))
            state[module] = 2

    for module in MODULES:
        visit(module, ())
    assert not circles


def test_a_main_file_is_nothing_but_the_door_of_its_command() -> None:
    doors = {path: path.parent.name for path in FILES if path.name == "__main__.py"}
    commands = {path: "overview" if path.parent == PACKAGE else name for path, name in doors.items()}
    texts = {path: MAIN.format(package=module_of(path.parent), command=name) for path, name in commands.items()}
    assert len(doors) > 5
    assert not [relative(path) for path, text in texts.items() if path.read_text() != text]
    assert not [relative(path) for path in FILES if any(n.endswith("__main__") for n in modules_imported(path))]


@cache
def strings(path: Path) -> tuple[str, ...]:
    """Every string of a file's code, docstrings left out: those may cite a paper."""
    tree = parsed(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree)
                  if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings)
    return tuple(node.value for node in texts if isinstance(node.value, str))


def test_the_library_names_no_source() -> None:
    offenders = []
    for path in LIBRARY:
        for name in sources():
            runs, own = re.compile(rf"\b{name}/"), re.compile(rf"\b{name}\b")
            named = [
                text for text in strings(path) if runs.search(text) or (name not in ALSO_WORDS and own.search(text))
            ]
            source = f"modinterp.sources.{name}."
            named += [each for each in imported(path) if f"{each}.".startswith(source)]
            offenders += [f"{relative(path)} names {name}: {text!r}" for text in named]
    assert not offenders


def test_docstrings_of_the_library_name_no_run() -> None:
    run = re.compile(rf"\b({'|'.join(sources())})/[a-z][a-z0-9-]*-\d+\b")
    assert not [f"{relative(path)} names {found[0]}" for path in LIBRARY if (found := run.search(path.read_text()))]


def test_templates_of_the_library_name_no_source() -> None:
    templates = [path for path in PACKAGE.rglob("*.*") if path.suffix in (".html", ".js", ".css")]
    library = [path for path in templates if layer(module_of(path)) != "sources"]
    assert len(library) > 3
    names = [name for name in sources() if name not in ALSO_WORDS]
    assert not [f"{relative(p)} names {n}" for p in library for n in names if re.search(rf"\b{n}\b", p.read_text())]


def test_a_source_is_one_folder() -> None:
    for name, source in sources().items():
        folder = PACKAGE / "sources" / name
        assert source.package == f"modinterp.sources.{name}"
        assert {"source", "runs", "claims", "drawings"} <= {path.stem for path in folder.iterdir()}
        assert source.title, name
        assert source.citation, name
        assert source.main_run in catalogue(), "a source without a network of its own names one of another source"
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
    assert {layer(module) for module in MODULES} == {*LAYERS, *GROUND}
    assert not {path.stem for path in FILES} & {"utils", "helpers", "common", "misc", "shared"}


def test_a_file_name_says_what_is_in_it_and_occurs_once() -> None:
    """A figure has the name of what it draws; the parts of every source have the same names."""
    named_alike = {"figures", "measurements", "explain", "compare"}
    names = Counter(
        path.name
        for module, path in MODULES.items()
        if layer(module) not in named_alike and path in LIBRARY and not path.name.startswith("__")
    )
    assert not [name for name, count in names.items() if count > 1]


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
        most = 600 if path.parent.name == "measurements" else 325  # there a class of many short members is one file
        assert path.read_text().count("\n") <= most, path
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno <= 75, f"{path}: {node.name}"


def test_nothing_of_one_machine_is_in_the_tree() -> None:
    for path in [*FILES, *PACKAGE.parent.glob("*.md"), PACKAGE.parent / "pyproject.toml"]:
        assert not re.search(r"(^|[\s\"'(])/(work|root|home)/", path.read_text()), path
