"""Representations by their laws and published characters; what is planted in functions and networks is found."""

from __future__ import annotations

import itertools
import math
import pickle
from dataclasses import replace

import pytest
import torch

from modinterp.analyses.fourier.transforms import component_norms, fourier_basis
from modinterp.analyses.groups import characters, coset_means, products, subgroups
from modinterp.analyses.groups.explicit import partitions
from modinterp.analyses.groups.group_transforms import (
    energies,
    energy_shares,
    fourier_matrix,
    from_fourier_matrices,
    group_basis,
    inverse,
    part_in,
    transform,
)
from modinterp.analyses.groups.irreps import Irrep, irrep, irreps
from modinterp.analyses.groups.product_bounds import product_bound
from modinterp.tasks import Group
from modinterp.tasks.group_tables import permutation

Q8 = ["+1", "-1", "+i", "-i", "+j", "-j", "+k", "-k"]
UNITS = {"11": "+1", "1i": "+i", "1j": "+j", "1k": "+k", "i1": "+i", "j1": "+j", "k1": "+k", "ii": "-1", "jj": "-1",
         "kk": "-1", "ij": "+k", "jk": "+i", "ki": "+j", "ji": "-k", "kj": "-i", "ik": "-j"}  # fmt: skip


def quaternions() -> Group:
    def times(x: str, y: str) -> int:
        sign, unit = UNITS[x[1] + y[1]]
        return Q8.index(("+" if (x[0] + y[0] + sign).count("-") % 2 == 0 else "-") + unit)

    return Group.of_table([[times(x, y) for y in Q8] for x in Q8], "Q8", Q8)


def by_table(task: Group) -> Group:
    return Group.of_table(task.table.tolist())


GROUPS = [Group("C7"), Group("C8"), Group("D5"), Group("D6"), Group("S2"), Group("S4"), Group("A4"), Group("A5"),
          Group("C2 x S3"), Group("C3 x C3"), quaternions(), by_table(Group("S4")), by_table(Group("C9"))]  # fmt: skip


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("task", GROUPS, ids=lambda task: task.name)
def test_laws_of_representations(task: Group) -> None:
    found = irreps(task)
    for rho in found:
        product = rho.matrices[:, None] @ rho.matrices
        assert (rho.matrices[task.table] - product).abs().max() < 1e-9
        assert (rho.matrices @ rho.matrices.mT - torch.eye(rho.dim, dtype=torch.float64)).abs().max() < 1e-9
        assert float(rho.character.square().mean()) == pytest.approx(rho.multiplicity, abs=1e-9)
        assert len(rho.span) == rho.rank
    table = torch.stack([rho.character for rho in found])
    squares = torch.tensor([float(rho.multiplicity) for rho in found], dtype=torch.float64)
    assert (table @ table.T / task.n - torch.diag(squares)).abs().max() < 1e-9
    assert sum(rho.dim**2 / rho.multiplicity for rho in found) == task.n
    basis = group_basis(found)
    assert (basis @ basis.T - torch.eye(task.n, dtype=torch.float64)).abs().max() < 1e-9
    assert found[0].name == "trivial"
    assert len({rho.name for rho in found}) == len(found)


def test_s5_has_the_laws_and_no_two_alike() -> None:
    task = Group("S5")
    found = irreps(task)
    assert sorted(rho.dim for rho in found) == [1, 1, 4, 4, 5, 5, 6]
    step = task.table[:, 7]
    for rho in found:
        assert (rho.matrices[step] - rho.matrices @ rho.matrices[7]).abs().max() < 1e-9
    basis = group_basis(found)
    assert (basis @ basis.T - torch.eye(120, dtype=torch.float64)).abs().max() < 1e-9
    of_table = irreps(by_table(task))
    mine = sorted([round(x, 6) + 0.0 for x in rho.character.tolist()] for rho in found)
    assert mine == sorted([round(x, 6) + 0.0 for x in rho.character.tolist()] for rho in of_table)


PHI, PSI = (1 + math.sqrt(5)) / 2, (1 - math.sqrt(5)) / 2
PUBLISHED = {
    "S4": (
        ["e", "(1 2)", "(1 2)(3 4)", "(1 2 3)", "(1 2 3 4)"],
        {"trivial": [1, 1, 1, 1, 1], "sign": [1, -1, 1, 1, -1], "(2, 2)": [2, 0, 2, -1, 0],
         "standard": [3, 1, -1, 0, -1], "standard x sign": [3, -1, -1, 0, 1]},
    ),
    "S5": (
        ["e", "(1 2)", "(1 2)(3 4)", "(1 2 3)", "(1 2 3)(4 5)", "(1 2 3 4)", "(1 2 3 4 5)"],
        {"trivial": [1, 1, 1, 1, 1, 1, 1], "sign": [1, -1, 1, 1, -1, -1, 1], "standard": [4, 2, 0, 1, -1, 0, -1],
         "standard x sign": [4, -2, 0, 1, 1, 0, -1], "(3, 2)": [5, 1, 1, -1, 1, -1, 0],
         "(2, 2, 1)": [5, -1, 1, -1, -1, 1, 0], "(3, 1, 1)": [6, 0, -2, 0, 0, 0, 1]},
    ),
    "A5": (
        ["e", "(1 2)(3 4)", "(1 2 3)", "(1 2 3 4 5)", "(1 3 5 2 4)"],
        {"trivial": [1, 1, 1, 1, 1], "standard": [4, 0, 1, -1, -1], "5": [5, 1, -1, 0, 0],
         "3a": [3, -1, 0, PHI, PSI], "3b": [3, -1, 0, PSI, PHI]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("group", PUBLISHED)
def test_characters_are_those_of_published_tables(group: str) -> None:
    task, (elements, table) = Group(group), PUBLISHED[group]
    place = {task.written(k): k for k in range(task.n)}
    rows = torch.tensor([place[x] for x in elements])
    found = {rho.name: rho.character[rows].tolist() for rho in irreps(task)}
    assert set(found) == set(table)
    if group == "A5" and found["3a"][3] < 0:  # which of the two is called so is anybody's choice
        found["3a"], found["3b"] = found["3b"], found["3a"]
    for name, values in table.items():
        assert found[name] == pytest.approx(values, abs=1e-9)


@pytest.mark.parametrize("n", [5, 6, 59])
def test_characters_of_dihedral_groups(n: int) -> None:
    found = {rho.name: rho.character for rho in irreps(Group(f"D{n}"))}
    assert len(found) == (4 if n % 2 == 0 else 2) + (n - 1) // 2
    for k in range(1, (n + 1) // 2):
        turns = torch.tensor([2 * math.cos(2 * math.pi * k * r / n) for r in range(n)], dtype=torch.float64)
        torch.testing.assert_close(found[f"frequency {k}"], torch.cat([turns, torch.zeros(n, dtype=torch.float64)]))


def test_fields_that_real_matrices_cannot_give_are_counted() -> None:
    assert {rho.name: rho.multiplicity for rho in irreps(quaternions())}["4"] == 4
    assert {rho.multiplicity for rho in irreps(Group("C7"))} == {1, 2}
    assert repr(irreps(Group("A4"))[1]) == "Irrep(2, dim 2, complex)"


def test_dimensions_of_symmetric_groups_are_numbers_of_tableaux() -> None:
    assert [rho.dim for rho in irreps(Group("S6"))] == [1, 5, 9, 10, 5, 16, 10, 5, 9, 5, 1]
    assert len(list(partitions(7))) == 15


@pytest.mark.parametrize("n", [7, 8])
def test_cyclic_groups_have_the_fourier_basis(n: int) -> None:
    found, x = irreps(Group(f"C{n}")), random(n, 3)
    torch.testing.assert_close(group_basis(found), fourier_basis(n))
    norms = component_norms(x).square()
    pairs = [norms[:1].sum(), *(part.sum() for part in norms[1:].split(2))]
    torch.testing.assert_close(energies(x, found).sum(dim=1), torch.stack(pairs))


@pytest.mark.parametrize("task", [Group("S4"), Group("A4"), quaternions()], ids=lambda task: task.name)
def test_transforms_can_be_undone(task: Group) -> None:
    found, x, y = irreps(task), random(task.n, 2), random(task.n, seed=1)
    coefficients = transform(x, found)
    assert float(coefficients.square().sum()) == pytest.approx(float(x.square().sum()))
    torch.testing.assert_close(inverse(coefficients, found), x)
    torch.testing.assert_close(sum(part_in(x, [rho]) for rho in found), x)
    matrices = [fourier_matrix(y, rho) for rho in found]
    torch.testing.assert_close(from_fourier_matrices(matrices, found), y)
    convolved = torch.zeros(task.n, dtype=torch.float64)
    for a, b in itertools.product(range(task.n), repeat=2):
        convolved[task.table[a, b]] += x[a, 0] * y[b]
    for rho, matrix in zip(found, matrices, strict=True):
        torch.testing.assert_close(fourier_matrix(convolved, rho), fourier_matrix(x[:, 0], rho) @ matrix)


def test_projections_commute_with_translations() -> None:
    task, x = Group("S4"), random(24, 2)
    for rho in irreps(task):
        for g in (3, 11):
            torch.testing.assert_close(part_in(x[task.table[g]], [rho]), part_in(x, [rho])[task.table[g]])
            torch.testing.assert_close(part_in(x[task.table[:, g]], [rho]), part_in(x, [rho])[task.table[:, g]])


def test_a_representation_is_the_same_in_another_process() -> None:
    made = irreps(Group("S4"))
    sent = pickle.loads(pickle.dumps(made))
    assert sent == made
    assert [made.index(rho) for rho in sent] == list(range(len(made)))
    assert set(sent) == set(made)
    assert len(set(made)) == len(made)
    assert made[1] != replace(made[1], name="another")
    assert made[1] != irreps(Group("S5"))[1], "sign of another group"


def test_a_representation_is_asked_for_by_its_name() -> None:
    assert irrep(Group("S4"), "(2, 2)").dim == 2
    with pytest.raises(ValueError, match=r"C3 has no representation 'omega' over the real numbers; it has .*complex"):
        irrep(Group("C3"), "omega")


@pytest.mark.parametrize(("group", "sizes"), [("S4", [1, 3, 6, 6, 8]), ("A4", [1, 3, 4, 4]), ("D5", [1, 2, 2, 5])])
def test_characters_are_constant_on_conjugacy_classes(group: str, sizes: list[int]) -> None:
    task = Group(group)
    classes = characters.conjugacy_classes(task)
    assert [len(members) for members in classes] == sizes
    assert sorted(g for members in classes for g in members) == list(range(task.n))
    for rho in irreps(task):
        for members in classes:
            assert float(rho.character[list(members)].std(correction=0)) < 1e-9


def test_logits_by_quotient_are_the_characters_that_were_planted() -> None:
    task = Group("S4")
    rho = irrep(task, "standard")
    found = characters.mean_by_quotient(2 * characters.character_cube(rho, task) + 5, task)
    torch.testing.assert_close(found, 2 * rho.character)


def named(task: Group) -> dict[str, Irrep]:
    return {rho.name: rho for rho in irreps(task)}


def test_energy_of_what_is_planted() -> None:
    rho = named(task := Group("S4"))
    x = 3 * rho["standard"].span[:2].T + 4 * rho["sign"].span.T
    assert energy_shares(x, irreps(task)).tolist() == pytest.approx([0, 18 / 50, 0, 0, 32 / 50], abs=1e-12)


def test_similarities_of_planted_cubes_and_their_factors() -> None:
    rho = named(task := Group("S4"))
    chosen = [rho["standard"], rho["(2, 2)"]]
    logits = 2 * characters.character_cube(chosen[0], task) + 3 * characters.character_cube(chosen[1], task)
    found = characters.similarities(logits + 5, task, irreps(task))
    wanted = dict(zip(rho, found.tolist(), strict=True))
    assert wanted["standard"] == pytest.approx(2 / math.sqrt(13))
    assert wanted["(2, 2)"] == pytest.approx(3 / math.sqrt(13))
    assert [r.name for r in characters.key_irreps(found, irreps(task))] == ["standard", "(2, 2)"]
    factors = characters.fitted(logits, task, chosen)
    assert factors.tolist() == pytest.approx([2, 3])
    torch.testing.assert_close(characters.formula(factors, chosen, task), logits)
    assert (logits.argmax(dim=-1) == task.table).all()
    cube = torch.stack([characters.character_cube(r, task).flatten() for r in irreps(task)])
    assert (cube @ cube.T - 24**3 * torch.eye(5, dtype=torch.float64)).abs().max() < 1e-6


def test_a_relu_of_two_signs_holds_all_three_of_them() -> None:
    sign = named(task := Group("S4"))["sign"].character
    neuron = (sign[:, None] + sign).clamp(min=0)[..., None]
    shares = products.pair_shares(neuron, task, irreps(task))
    place = shares.names.index("sign")
    assert [float(x[place]) for x in (shares.a, shares.b, shares.product)] == pytest.approx([1 / 3] * 3)
    assert float(shares.total().sum()) == pytest.approx(1)
    kept = products.product_part(neuron, task, [irreps(task)[place]])
    torch.testing.assert_close(kept[..., 0], sign[task.table] * float((kept[..., 0] * sign[task.table]).mean()))


def test_each_activation_has_shares_of_its_own() -> None:
    task = Group("D5")
    x = random(10, 10, 3)
    every = products.pair_shares(x, task, irreps(task), each=True)
    centred = x - x.mean(dim=(0, 1))
    weights = centred.square().sum(dim=(0, 1)) / centred.square().sum()
    torch.testing.assert_close(every.product @ weights, products.pair_shares(x, task, irreps(task)).product)
    assert len(every.table()) == len(irreps(task))


@pytest.mark.parametrize(("group", "count"), [("C12", 6), ("S4", 30), ("D5", 8), ("A5", 59), ("S5", 156)])
def test_numbers_of_subgroups_are_the_known_ones(group: str, count: int) -> None:
    found = subgroups.subgroups(Group(group))
    assert len(found) == count
    assert all(Group(group).n % len(one) == 0 for one in found)


def test_functions_on_cosets_are_told_from_others_of_the_same_representation() -> None:
    rho = named(task := Group("S4"))["standard"]
    subgroup = next(g for g in subgroups.subgroups(task) if len(g) == 6)
    on_left = subgroups.cosets(subgroup, task, "left")
    on_right = subgroups.cosets(subgroup, task, "right")
    assert on_left.bincount().tolist() == on_right.bincount().tolist() == [6] * 4
    x = torch.stack([on_left.double(), (on_right == 2).double(), rho.span.T @ random(9, seed=3)], dim=1)
    fits = subgroups.coset_fits(x, task)
    assert fits.side == ("left", "right", "")
    assert fits.order.tolist() == [6, 6, 1]
    assert fits.subgroup[0] == subgroup
    with pytest.raises(ValueError, match="side must be .*, got 'both'"):
        subgroups.cosets(subgroup, task, "both")


def test_means_over_cosets_keep_functions_of_cosets_alone() -> None:
    task = Group("S4")
    subgroup = next(g for g in subgroups.subgroups(task) if len(g) == 6)
    coset = subgroups.cosets(subgroup, task, "left")
    first, second = random(4, seed=0)[coset], random(4, seed=1)[coset]
    post = torch.stack([(first[:, None] + second).clamp(min=0), random(24, 24, seed=2)], dim=2)
    sets = coset_means.coset_partitions(torch.stack([first, random(24, seed=3)], dim=1), task)
    assert [len(one.unique()) for one in sets] == [4, 24]
    means = coset_means.coset_means(post, sets, sets)
    torch.testing.assert_close(means, post)
    other = coset_means.coset_means(post, coset_means.shuffled(sets), sets)
    assert not torch.allclose(other[..., 0], post[..., 0])
    torch.testing.assert_close(other[..., 0].mean(), post[..., 0].mean())
    torch.testing.assert_close(other[..., 1], post[..., 1])


def test_kernels() -> None:
    task = Group("S4")
    assert {name: len(subgroups.kernel(rho.character, task)) for name, rho in named(task).items()} == {
        "trivial": 24, "sign": 12, "standard": 1, "standard x sign": 1, "(2, 2)": 4
    }  # fmt: skip


def planted_neurons(task: Group, noise: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Neurons of the cosets of a point's stabiliser, which are off where the product takes i to j; with some noise."""
    moved = torch.tensor([permutation(task.written(g), 4) for g in range(task.n)])
    back, code = moved.argsort(dim=1), torch.tensor([0.0, 1.0, 3.0, 7.0], dtype=torch.float64)
    signs = [(i, j, s) for i in range(4) for j in range(4) for s in (1, -1)]
    first = torch.stack([s * code[moved[:, i]] for i, _, s in signs], dim=1)
    second = torch.stack([-s * code[back[:, j]] for _, j, s in signs], dim=1)
    W_L = torch.stack([-(moved[:, i] == j).double() for i, j, _ in signs])
    return first + noise * random(24, 32), second + noise * random(24, 32, seed=1), W_L


@pytest.mark.parametrize(("noise", "proven"), [(0.0, (1, 1)), (0.003, (0.9, 1)), (0.05, (0, 1)), (30.0, (0, 0.2))])
def test_what_is_proven_is_right(noise: float, proven: tuple[float, float]) -> None:
    task = Group("S4")
    first, second, W_L = planted_neurons(task, noise)
    logits = (first[:, None] + second).clamp(min=0) @ W_L
    bound = product_bound(first, second, W_L, task, least=0.99)
    accuracy = float((logits.argmax(dim=-1) == task.table).double().mean())
    assert proven[0] <= bound.accuracy <= proven[1]
    assert bound.accuracy <= accuracy
    assert (bound.operations < bound.by_trying) == (noise < 1)
    if not noise:
        assert (bound.tables, bound.slack, bound.pairs) == (16, 0, 576)


def test_a_network_that_is_wrong_is_not_proven() -> None:
    task = Group("S4")
    first, second, W_L = planted_neurons(task, 0)
    assert product_bound(first, second, W_L.roll(1, dims=1), task).proven == 0
