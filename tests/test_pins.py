"""What is installed is pinned once, its files are known by their checksums, and commands install only what they need."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKS = ("requirements.lock", "requirements-test.lock")


def plain(name: str) -> str:
    """Names as packages are compared by: `typing_extensions` and `typing-extensions` are one."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> list[dict[str, str]]:
    """Versions by name: of what the commands need, and of what tests, docs and notebooks need besides."""
    parts = re.split(r"^#.*\n", (ROOT / "constraints.txt").read_text(), flags=re.MULTILINE)
    return [{plain(name): version for name, version in (pin.split("==") for pin in part.split())} for part in parts]


def locked(lock: str) -> dict[str, tuple[str, str]]:
    lines = (ROOT / lock).read_text().replace("\\\n", "").splitlines()
    pairs = [line.split(maxsplit=1) for line in lines]
    return {plain(pin.split("==")[0]): (pin.split("==")[1], checksums) for pin, checksums in pairs}


def required(package: str, *extras: str) -> set[str]:
    """Every package that a package with some of its extras requires here, directly or not, by what is installed."""
    wanted, seen = {(package, extra) for extra in ("", *extras)}, set()
    while wanted:
        name, extra = pair = wanted.pop()
        seen.add(pair)
        try:
            requirements = [Requirement(line) for line in metadata.requires(name) or ()]
        except metadata.PackageNotFoundError:
            continue
        for each in requirements:
            if each.marker is None or each.marker.evaluate({"extra": extra}):
                wanted |= {(plain(each.name), its) for its in ("", *each.extras)} - seen
    return {name for name, _ in seen} - {package}


@pytest.fixture
def pinned_environment() -> dict[str, str]:
    """All pins, where they are what is installed."""
    commands, rest = pins()
    installed = {plain(each.name): each.version.partition("+")[0] for each in metadata.distributions()}
    if other := {name for name, version in (commands | rest).items() if installed.get(name) != version}:
        pytest.skip(f"it looks at the environment that make.py makes; here other versions are installed: {other}")
    return commands | rest


def test_constraints_have_two_parts_without_a_common_package() -> None:
    commands, rest = pins()
    assert not commands.keys() & rest.keys()


@pytest.mark.parametrize(("part", "lock"), enumerate(LOCKS))
def test_every_pin_but_that_of_torch_has_its_checksums(part: int, lock: str) -> None:
    """Written anew from `constraints.txt` by the commands that stand in `SECURITY.md`."""
    expected = pins()[part]
    assert {name: version for name, (version, _) in locked(lock).items()} == {
        name: version for name, version in expected.items() if name != "torch"
    }
    assert all(re.fullmatch(r"(--hash=sha256:[0-9a-f]{64}\s*)+", those) for _, those in locked(lock).values())


def test_every_pin_supports_the_lowest_declared_python(pinned_environment: dict[str, str]) -> None:
    """Debian 12 has Python 3.11.2: a release that needs 3.11.5 cannot be installed there."""
    lowest = re.fullmatch(r">=(3\.\d+)", PROJECT["requires-python"])
    assert lowest
    needs = {name: metadata.metadata(name)["Requires-Python"] or "" for name in pinned_environment}
    assert {name: its for name, its in needs.items() if not SpecifierSet(its).contains(f"{lowest[1]}.0")} == {}


def test_commands_install_what_the_package_requires_and_nothing_else(pinned_environment: dict[str, str]) -> None:
    """PyTorch's own packages for a GPU are the only ones without a pin."""
    commands, _ = pins()
    assert commands.keys() == required("modinterp") & pinned_environment.keys()
    assert required("modinterp") - commands.keys() <= required("torch")


def test_tests_and_docs_install_what_their_extras_require_and_nothing_else(pinned_environment: dict[str, str]) -> None:
    _, rest = pins()
    everything = required("modinterp", "test", "docs")
    assert rest.keys() == (everything - required("modinterp")) & pinned_environment.keys()
    assert everything - pinned_environment.keys() <= required("torch")


# what a user's own training brings, and is used only where it is there
EXTERNAL = {"lightning", "pytorch-lightning", "transformers", "wandb", "yaml", "tensorboard"}


def test_the_package_imports_what_it_declares_and_declares_what_it_imports() -> None:
    """An extra's packages are imported inside of functions only, so that the commands start without them."""
    declared = {plain(Requirement(line).name) for line in PROJECT["dependencies"]}
    extras = {plain(Requirement(each).name) for part in PROJECT["optional-dependencies"].values() for each in part}
    anywhere, at_import = set(), set()
    for path in (ROOT / "modinterp").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        anywhere |= imported(ast.walk(tree))
        at_import |= imported(tree.body)
    assert at_import <= declared
    assert anywhere - EXTERNAL <= declared | extras
    assert declared - anywhere <= required("transformer-lens")  # which would be installed in any case


def imported(nodes) -> set[str]:
    """The packages, by the names under which they are installed, that import statements among some nodes name."""
    nodes = list(nodes)
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    modules = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"modinterp"}
    return {plain(module) for module in modules}


def test_every_requirement_has_an_upper_bound_and_the_pins_lie_within() -> None:
    extras = PROJECT["optional-dependencies"]
    wanted = [Requirement(each) for each in (*PROJECT["dependencies"], *extras["search"], *extras["cluster"])]
    pinned = {name: version for part in pins() for name, version in part.items()}
    bounded = {plain(r.name) for r in wanted if any(each.operator == "<" for each in r.specifier)}
    assert bounded == {plain(r.name) for r in wanted}
    assert not [str(r) for r in wanted if plain(r.name) in pinned and pinned[plain(r.name)] not in r.specifier]
    assert {plain(Requirement(each).name) for each in PROJECT["dependencies"]} <= set(pinned)
