"""Claims on representations, characters and the algorithm in mathematics, without any network."""

from __future__ import annotations

import torch

from modinterp.analyses.groups.characters import character_cube, formula, similarities
from modinterp.analyses.groups.group_transforms import group_basis
from modinterp.analyses.groups.irreps import irrep, irreps
from modinterp.analyses.groups.products import pair_shares
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.tasks import Group

MAXIMA = "elements at which the character of the {} representation is largest"
DIFFERENCE = "largest difference of the characters and the waves"

_GROUPS = ("C113", "C118", "D59", "D61", "S4", "S5", "A5")
_EXACT = at_most(1e-9, "we allow rounding errors in float64")


def _valid() -> dict[str, Value]:
    errors, products, ratios = [], [], []
    for group in _GROUPS:
        task = Group(group)
        found = irreps(task)
        errors += [
            float((rho.matrices[task.table] - rho.matrices[:, None] @ rho.matrices).abs().max()) for rho in found
        ]
        basis = group_basis(found)
        products.append(float((basis @ basis.T - torch.eye(task.n, dtype=torch.float64)).abs().max()))
        ratios.append(sum(rho.rank for rho in found) / task.n)
    return {
        "largest error of rho(a b) = rho(a) rho(b)": max(errors),
        "largest entry of the joined basis times itself, less 1": max(products),
        "sum of squared dimensions over the order": ratios,
    }


def _orthogonal() -> dict[str, Value]:
    task = Group("S4")
    found = irreps(task)
    cubes = torch.stack([character_cube(rho, task).flatten() for rho in found])
    unit = cubes / cubes.norm(dim=1, keepdim=True)
    planted = 2 * character_cube(found[1], task) + 3 * character_cube(found[2], task)
    squares = similarities(planted, task, found).square().sum()
    return {
        "largest cosine of two cubes": float((unit @ unit.T - torch.eye(len(found), dtype=torch.float64)).abs().max()),
        "sum of squared similarities of a sum of cubes, less 1": abs(float(squares) - 1),
    }


def _maxima() -> dict[str, Value]:
    task = Group("S5")
    found = {rho.name: rho for rho in irreps(task)}
    counts: dict[str, Value] = {
        MAXIMA.format(name): int((rho.character > rho.character.max() - 1e-9).sum())
        for name, rho in found.items()
        if name != "trivial"
    }
    chosen = [found["sign"], found["standard"]]
    logits = formula(torch.ones(2, dtype=torch.float64), chosen, task)
    return counts | {"accuracy of a sum of cubes": float((logits.argmax(dim=-1) == task.table).double().mean())}


def _cyclic() -> dict[str, Value]:
    n, k, task = 113, 14, Group("C113")
    x = torch.arange(n)
    waves = 2 * (2 * torch.pi / n * (k * (x[:, None, None] + x[:, None] - x) % n).double()).cos()
    rho = irrep(task, f"frequency {k}")
    return {DIFFERENCE: float((character_cube(rho, task) - waves).abs().max())}


def _relu() -> dict[str, Value]:
    task = Group("S4")
    found = irreps(task)
    sign = next(rho for rho in found if rho.name == "sign")
    neuron = (sign.character[:, None] + sign.character).clamp(min=0)[..., None]
    shares = pair_shares(neuron, task, [sign])
    return {
        "largest difference of a share to 1/3": max(
            abs(float(x[0]) - 1 / 3) for x in (shares.a, shares.b, shares.product)
        )
    }


CLAIMS = (
    Claim(
        id="groups.irreps.valid",
        where="section 3, appendix D",
        statement="The matrices that the source lists are the irreducible representations of its groups.",
        source_says="this statement is a theorem; for A5 the code has (1 + sqrt 5)/5 where (1 + sqrt 5)/4 is right",
        measure=_valid,
        expected={
            "largest error of rho(a b) = rho(a) rho(b)": _EXACT,
            "largest entry of the joined basis times itself, less 1": _EXACT,
            "sum of squared dimensions over the order": equals(
                1, "by Burnside's theorem the squared dimensions add up to the group's order"
            ),
        },
        scope="any network",
        figure="matrices",
    ),
    Claim(
        id="groups.cubes.orthogonal",
        where="theorem D.10",
        statement=(
            "The cubes (tables of logits of all a, b and c) of different characters are orthogonal, so "
            "squared similarities to the cubes add up."
        ),
        source_says="a theorem",
        measure=_orthogonal,
        expected={
            "largest cosine of two cubes": _EXACT,
            "sum of squared similarities of a sum of cubes, less 1": _EXACT,
        },
        scope="any network",
    ),
    Claim(
        id="groups.gcr.max",
        where="section 4",
        statement=(
            "The character of a b c^-1 is largest where c = a b. For a faithful representation, the character of "
            "a b c^-1 is largest at c = a b only."
        ),
        source_says="a theorem",
        measure=_maxima,
        expected={
            MAXIMA.format(name): equals(
                count,
                "the number of elements of S5 with the largest character is the order of the representation's kernel",
            )
            for name, count in (
                ("standard", 1),
                ("standard x sign", 1),
                ("(2, 2, 1)", 1),
                ("(3, 2)", 1),
                ("(3, 1, 1)", 1),
                ("sign", 60),
            )
        }
        | {
            "accuracy of a sum of cubes": at_least(
                1, "one faithful representation suffices to answer all pairs correctly"
            )
        },
        scope="any network",
    ),
    Claim(
        id="groups.gcr.cyclic",
        where="section 4",
        statement="On a cyclic group, the algorithm based on characters equals the Fourier algorithm of modular "
        "addition.",
        source_says="2 cos(w(a + b - c)) is the character of the rotation by w",
        measure=_cyclic,
        expected={DIFFERENCE: _EXACT},
        scope="any network",
    ),
    Claim(
        id="groups.sign.relu",
        where="section 5.3",
        statement="One ReLU of sign(a) and sign(b) contains sign(a), sign(b) and sign(a b) in equal shares.",
        source_says="in trained neurons sign(a), sign(b) and sign(a b) have shares of 0.3333, 0.3334 and 0.3333",
        measure=_relu,
        expected={"largest difference of a share to 1/3": _EXACT},
        scope="any network",
    ),
)
