"""Claims on the two algorithms themselves, clock and pizza, without any trained network."""

from __future__ import annotations

import math
import random

import torch
from torch import Tensor

from modinterp.analyses.circles.formulas import formula_logits
from modinterp.analyses.circles.symmetry import gradient_symmetricity, triples
from modinterp.analyses.fourier.cosine_sums import ideal_logits
from modinterp.analyses.fourier.transforms import sums
from modinterp.analyses.statistics.lines import correlation
from modinterp.claims.band import at_least, at_most, between, equals, near
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.models import MLPConfig, hooked, initial_weights
from modinterp.sources.pizza.runs import P
from modinterp.tasks import addition

SINGLE, SUBSETS = "least accuracy of one circle", "least accuracy of several circles together"
DIFFERENCE = "largest difference of the mean and the formula"
LEAST_FACTOR, LEAST_FACTOR_EVEN = "least size of a logit of one circle", "least size of a logit at p = 58"
OF_SUMS, OF_PRODUCTS = "symmetricity of networks of sums", "symmetricity of a network of products"

FREQS = range(1, P // 2 + 1)


def _accuracy(logits: Tensor) -> float:
    return float((logits.argmax(dim=-1) == sums(P)).double().mean())


def _clock() -> dict[str, Value]:
    draw = random.Random(0)
    subsets = [sorted(draw.sample(list(FREQS), draw.randint(2, 6))) for _ in range(30)]
    return {
        SINGLE: min(_accuracy(formula_logits("clock", P, k)) for k in FREQS),
        SUBSETS: min(_accuracy(ideal_logits(P, freqs)) for freqs in subsets),
    }


def _by_sums(freq: int) -> Tensor:
    """Return the notebook's absolute values of sums of embeddings, turned by half the angle of the answer."""
    angle = 2 * torch.pi * freq * torch.arange(P).double() / P
    x, y = (wave[:, None, None] + wave[:, None] for wave in (angle.cos(), angle.sin()))
    along, across = (angle / 2).cos(), (angle / 2).sin()
    return (x * along + y * across).abs() - (y * along - x * across).abs()


def _identity() -> dict[str, Value]:
    differences = [(_by_sums(k) - formula_logits("two absolute values", P, k)).abs().max() for k in FREQS]
    return {DIFFERENCE: float(torch.stack(differences).max())}


def _least_factor(p: int) -> float:
    """Return the least size of the correct logit of the formula of one circle: it is 1 times the factor of the
    distance.
    """
    return float(formula_logits("pizza", p, 1).gather(-1, sums(p).unsqueeze(-1)).min())


def _products() -> float:
    """Gradient symmetricity of the sum of cosines of w(a + b - c), made by multiplying embeddings on three circles."""
    abc, freqs = triples(P), torch.tensor([3, 13, 16])
    angles = 2 * torch.pi / P * (abc[:, :, None] * freqs % P).double()
    points = torch.stack([angles.cos(), angles.sin()], dim=-1)  # [triple, a b or c, freq, 2]
    a, b = (points[:, i].clone().requires_grad_() for i in range(2))
    cos_c, sin_c = points[:, 2].unbind(dim=-1)
    cos_sum, sin_sum = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1], a[..., 1] * b[..., 0] + a[..., 0] * b[..., 1]
    by_a, by_b = torch.autograd.grad((cos_sum * cos_c + sin_sum * sin_c).sum(), (a, b))
    return float(torch.nn.functional.cosine_similarity(by_a.flatten(1), by_b.flatten(1)).mean())


def _symmetricity() -> dict[str, Value]:
    task = addition(P, equals=False)
    shapes = {"alpha": (1, "sum"), "beta": (2, "sum"), "gamma": (2, "sum after W_in")}
    found = []
    for n_layers, joined in shapes.values():
        config = MLPConfig.of(
            task, d_model=32, d_mlp=32, n_layers=n_layers, joined=joined, mlp_biases=True, init="linear"
        )
        found.append(gradient_symmetricity(hooked(config, initial_weights(config, 0)), task).any_output)
    with torch.enable_grad():
        return {OF_SUMS: found, OF_PRODUCTS: _products()}


CLAIMS = (
    Claim(
        id="pizza.clock.ideal",
        where="section 2.1",
        statement="An algorithm that adds angles and computes cos(w(a + b - c)) solves modular addition.",
        source_says="a theorem",
        measure=_clock,
        expected={
            SINGLE: equals(1, "one circle suffices because 59 is prime"),
            SUBSETS: equals(1, "the cosines of all frequencies are 1 only at the right answer"),
        },
        scope="any network",
        figure="formulas",
    ),
    Claim(
        id="pizza.pizza.identity",
        where="section 3.1",
        statement=(
            "The mean of two points of a circle lies at the angle w(a + b)/2 and has length |cos(w(a - b)/2)|. "
            "Absolute values of sums of embeddings therefore give the pizza's logits, without multiplying the "
            "inputs."
        ),
        source_says="the statement is an identity, which the source's evaluation notebook computes",
        measure=_identity,
        expected={DIFFERENCE: at_most(1e-12, "we allow rounding errors in float64")},
        scope="any network",
        figure="formulas",
    ),
    Claim(
        id="pizza.pizza.ideal",
        where="section 3.1",
        statement=(
            "In a pizza (an algorithm that averages the points of a and b) with a single circle, the logits are "
            "largest at a + b. All logits of a pizza with a single circle vanish if the points of a and b lie "
            "opposite each other."
        ),
        source_says="the statement is a theorem for odd p",
        measure=lambda: {
            SINGLE: min(_accuracy(formula_logits("pizza", P, k)) for k in FREQS),
            LEAST_FACTOR: _least_factor(P),
            LEAST_FACTOR_EVEN: _least_factor(P - 1),
        },
        expected={
            SINGLE: equals(1, "no two residues lie opposite each other where p is odd"),
            LEAST_FACTOR: near(math.sin(math.pi / 118), 1e-9, "the formula for the smallest logit gives sin(pi / 118)"),
            LEAST_FACTOR_EVEN: at_most(
                1e-15, "for even p, the logits of opposite points are 0 up to rounding, so such pairs have no answer"
            ),
        },
        scope="any network",
        figure="formulas",
    ),
    Claim(
        id="pizza.pizza.harmonic",
        where="ours",
        statement="The formula with two absolute values differs from the pizza's formula only by higher harmonics of "
        "odd order.",
        source_says=(
            "the source does not state this; the third harmonic's share, (1/9) / (1/9 + 1/1225 + 1/9801 + ...),"
            " is 0.99139"
        ),
        measure=lambda: {
            "squared correlation": (
                correlation(formula_logits("two absolute values", P, 1), formula_logits("pizza", P, 1)) ** 2
            )
        },
        expected={
            "squared correlation": between(
                0.990, 0.993, "the infinite series gives 0.99139, and the sum for p = 59 gives 0.99134"
            )
        },
        scope="any network",
        figure="formulas",
    ),
    Claim(
        id="pizza.gs.theory",
        where="sections 3.1 and 4.1",
        statement="A network that only reads sums of embeddings has a gradient symmetricity of 1; a clock has a "
        "smaller symmetricity.",
        source_says="the symmetricity is 1.0000 for the linear model beta",
        measure=_symmetricity,
        expected={
            OF_SUMS: at_least(1 - 1e-6, "the gradients with respect to both embeddings are equal"),
            OF_PRODUCTS: at_most(
                0.9, "the gradients with respect to the two embeddings differ by a rotation by w(a - b)"
            ),
        },
        scope="any network",
    ),
)
