"""Groups: their tables against plain loops, what is written of their elements, and what is no group."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
import torch

from modinterp.models import MLPConfig, TransformerConfig, initial_weights
from modinterp.tasks import Group
from modinterp.tasks.description import description, task_from_description
from modinterp.tasks.group_tables import cycles, parity, permutation
from modinterp.training import Recipe, RunSpec

LOOP = [
    [0, 1, 2, 3, 4],
    [1, 0, 3, 4, 2],
    [2, 4, 0, 1, 3],
    [3, 2, 4, 0, 1],
    [4, 3, 1, 2, 0],
]  # no group, yet has inverses


@pytest.mark.parametrize(("group", "even"), [("S4", False), ("A4", True)])
def test_permutations_are_composed_first_a_then_b(group: str, even: bool) -> None:
    images = [p for p in itertools.permutations(range(4)) if not even or parity(p) == 1]
    task = Group(group)
    for (a, b), c in zip(itertools.product(images, repeat=2), task.answers().tolist(), strict=True):
        assert images[c] == tuple(b[a[i]] for i in range(4))
    assert [task.written(k) for k in range(task.n)] == [cycles(p) for p in images]


def test_dihedral_groups_turn_and_mirror() -> None:
    n = 5
    task = Group("D5")
    for (s, r), (t, q) in itertools.product(itertools.product(range(2), range(n)), repeat=2):
        product = ((r + q) % n, t) if s == 0 else ((r - q) % n, (1 + t) % 2)
        assert task.table[r + n * s, q + n * t] == product[0] + n * product[1]
    assert [task.written(k) for k in (0, 1, 2, 5, 6, 7)] == ["e", "r", "r^2", "s", "r s", "r^2 s"]
    assert task.name == "a b in D5, of order 10"


def test_products_multiply_part_by_part() -> None:
    task, c2, s3 = Group("C2 x S3"), Group("C2"), Group("S3")
    for a, b in itertools.product(range(12), repeat=2):
        assert task.table[a, b] == 6 * c2.table[a // 6, b // 6] + s3.table[a % 6, b % 6]
    assert task.written(11) == "1, (1 3)"
    assert Group("C2 x C2 x C3").n == 12


@pytest.mark.parametrize("group", ["C7", "D6", "S4", "A5", "C3 x D4"])
def test_identity_and_inverses(group: str) -> None:
    task = Group(group)
    assert torch.equal(task.table[torch.arange(task.n), task.inverses], torch.full((task.n,), task.identity))


def test_elements_in_another_order_and_other_words() -> None:
    standard = Group("S3")
    rows = ("2 0 1", "0 1 2", "1 0 2", "0 2 1", "1 2 0", "2 1 0")
    task = Group("S3", elements=rows)
    assert [task.written(k) for k in range(6)] == ["(1 3 2)", "e", "(1 2)", "(2 3)", "(1 2 3)", "(1 3)"]
    places = task.standard_places
    assert torch.equal(places[task.table], standard.table[places][:, places])
    assert Group("S3", elements=("(1 3 2)", "e", "(1 2)", "(2 3)", "(1 2 3)", "(1 3)")).table.equal(task.table)
    with pytest.raises(ValueError, match=r"'\(1 4\)' is not an element of S3"):
        Group("S3", elements=("(1 4)",))
    with pytest.raises(ValueError, match="S3 has 6 elements, but the given order has 1 different"):
        Group("S3", elements=("e", "e"))


def test_permutations_are_read_in_cycles_and_rows() -> None:
    for images in itertools.permutations(range(4)):
        assert permutation(cycles(images), 4) == images
        assert permutation(" ".join(map(str, images)), 4) == images
        assert permutation(" ".join(str(i + 1) for i in images), 4) == images
    assert permutation("(1 2)(2 3)", 4) is None
    assert permutation("r^2", 4) is permutation("(1 1)", 4) is permutation("0 0 1", 3) is None


def test_a_group_by_its_table() -> None:
    table = Group("S3").table.tolist()
    task = Group.of_table(table, "mine", "uvwxyz", equals=True, vocabularies=2)
    assert task.inputs()[8].tolist() == [1, 8, 12]
    assert task.labels()[8].item() == table[1][2]
    assert (task.name, task.written(3)) == ("a b in mine, of order 6", "x")
    for each in (task, Group("D59"), Group("S3", elements=("(1 3 2)", "e", "(1 2)", "(2 3)", "(1 2 3)", "(1 3)"))):
        assert task_from_description(json.loads(json.dumps(description(each)))) == each


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "a table without rows is not the table of a group"),
        ([[0, 1.5], [1, 0]], "row 0 of the table has the product 1.5, which is not the number of an element"),
        ([[0, 1]], "row 0 of the table of 1 elements has 2 products"),
        ([[0, 1], [1, 2]], "b times b is 2, which is not an element"),
        ([[0, 1], [0, 1]], "no element is neutral"),
        ([[0, 1], [1, 1]], "b has no right inverse"),
        (LOOP, r"not associative, since \(. .\) . is ., . \(. .\) ."),
    ],
)
def test_what_is_no_group_is_refused_with_the_axiom_that_fails(table: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        Group.of_table(table, elements="abcde"[: len(table)])  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_names_and_sizes_that_are_none() -> None:
    for group in ("Z5", "S", "C0", "", "S3 x", "M11"):
        with pytest.raises(ValueError, match="there is no group named"):
            Group(group)
    for group, order in (
        ("S7", "5,040"),
        ("C100000", "100,000"),
        ("A99", r"10\^12"),
        ("C64 x C65", "4,160"),
        ("C1", "1"),
    ):
        with pytest.raises(ValueError, match=f"has order (more than )?{order}"):
            Group(group)
    with pytest.raises(ValueError, match=r"vocabularies must be a whole number in \[1, 2\], got 3"):
        Group("C2", vocabularies=3)


def test_tables_are_read_from_csv(tmp_path: Path) -> None:
    file = tmp_path / "klein.csv"
    file.write_text("0,1,2,3\n1,0,3,2\n2,3,0,1\n3,2,1,0\n")
    assert Group.read(file).table.equal(Group("C2 x C2").table)
    file.write_text("*,e,a\ne,e,a\na,a,e\n")
    task = Group.read(file, equals=True)
    assert (task.group, task.written(1), task.d_vocab) == ("klein", "a", 3)
    file.write_text("\n")
    with pytest.raises(ValueError, match="the file has no row"):
        Group.read(file)
    file.write_text("0,1\n1,7\n")
    with pytest.raises(
        ValueError, match=r"klein.csv is not the table of a group: 1 times 1 is '7', which is not an element"
    ):
        Group.read(file)
    file.write_text("0,1,7\n1,0,7\n")
    with pytest.raises(ValueError, match=r"0 times column 2 is '7', which is not an element"):
        Group.read(file)


def test_both_architectures_take_them() -> None:
    task = Group("S3", vocabularies=2)
    config = MLPConfig.of(task, d_model=8, d_mlp=4, joined="concatenated", init="1/sqrt(width)")
    spec = RunSpec(task, config, Recipe(epochs=1))
    spec.check_restorable()
    assert initial_weights(config, 0)["blocks.0.mlp.W_in"].shape == (16, 4)
    with_equals = Group("S3", equals=True)
    RunSpec(with_equals, TransformerConfig.of(with_equals), Recipe(epochs=1)).check_restorable()
