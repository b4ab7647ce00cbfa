"""A number has one name: how many names there are, and that a claim and its measure write a name alike."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

import modinterp
from modinterp.measurements import REGISTRY
from modinterp.sources import sources

PACKAGE = Path(modinterp.__file__).parent
NAMES_OF_NUMBERS = {"expected", "given", "printed", "by_selection", "reported", "outside"}  # fields of a claim
MOST = {
    "constants of claims": 214,
    "functions that measure": 318,
    "public members of measurements": 424,
    "quantities": 130,
}


def claims_modules(name: str = "*") -> list[Path]:
    """The files that hold claims, of one source or of all."""
    return sorted([*PACKAGE.glob(f"sources/{name}/claims/*.py"), *PACKAGE.glob(f"sources/{name}/claims.py")])


def texts(node: ast.AST) -> Iterator[ast.Constant]:
    """The strings that a piece of code writes out."""
    yield from (n for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def names_in_claims(tree: ast.Module) -> list[ast.Constant]:
    """The names of numbers that the claims and contradictions of a file write out."""
    fields = [k for call in ast.walk(tree) if isinstance(call, ast.Call) for k in call.keywords]
    values = [k.value for k in fields if k.arg in NAMES_OF_NUMBERS]
    dicts = [d for value in values for d in ast.walk(value) if isinstance(d, ast.Dict)]
    settled = [
        value for k in fields if k.arg == "settled_by" and isinstance(k.value, ast.Dict) for value in k.value.values
    ]
    lists = [value.elts for value in (*values, *settled) if isinstance(value, ast.Tuple)]
    return [each for each in chain(*(d.keys for d in dicts), *lists) if isinstance(each, ast.Constant)]


@pytest.mark.parametrize("name", sources())
def test_measures_claims_and_contradictions_write_a_name_alike(name: str) -> None:
    trees = [ast.parse(path.read_text()) for path in PACKAGE.glob(f"sources/{name}/**/*.py")]
    in_claims = [each for tree in trees for each in names_in_claims(tree)]
    elsewhere = Counter(each.value for tree in trees for each in texts(tree)) - Counter(
        each.value for each in in_claims
    )
    formatted = [n.values[0] for tree in trees for n in ast.walk(tree) if isinstance(n, ast.JoinedStr)]
    begun = tuple(n.value for n in formatted if isinstance(n, ast.Constant))
    unmeasured = {str(each.value) for each in in_claims} - {*elsewhere, *REGISTRY}
    assert [each for each in unmeasured if not each.startswith(begun)] == []


def is_measure(node: ast.AST) -> bool:
    """Whether a definition is a function that returns numbers by name."""
    returned = ast.unparse(node.returns) if isinstance(node, ast.FunctionDef) and node.returns else ""
    return "Value" in returned or "Numbers" in returned


def test_numbers_have_few_names() -> None:
    claims = [node for path in claims_modules() for node in ast.parse(path.read_text()).body]
    constants = [n for n in claims if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant | ast.JoinedStr)]
    measured = [ast.parse(path.read_text()) for path in PACKAGE.glob("measurements/*.py")]
    classes = [node for tree in measured for node in tree.body if isinstance(node, ast.ClassDef)]
    members = [n for c in classes for n in c.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
    found = {
        "constants of claims": len(constants),
        "functions that measure": sum(map(is_measure, claims)),
        "public members of measurements": len(members),
        "quantities": len(REGISTRY),
    }
    assert all(found[kind] <= most for kind, most in MOST.items()), f"{found}: together {sum(found.values())}"
