"""Circles, petals and motions against what was planted."""

from __future__ import annotations

import math

import pytest
import torch

from modinterp.analyses.circles.alignment import (
    circle_accuracies,
    circle_logits,
    distinguishes,
    gains,
    percentile,
    singular_directions,
)
from modinterp.analyses.circles.circle import (
    circle,
    circles,
    convex_hull,
    effective_rank,
    plane,
    plane_angles,
    polar_angles,
    wave_angles,
    winding,
)
from modinterp.analyses.circles.petals import (
    Petal,
    mixture,
    petal_fits,
    petal_frequencies,
    pullback,
    share_at,
)
from modinterp.analyses.circles.rotation import collected_planes, motion
from modinterp.analyses.fourier.transforms import sum_waves


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def wheel(p: int, freq: int) -> torch.Tensor:
    angles = wave_angles(p, freq)
    return torch.stack([angles.cos(), angles.sin()], dim=1)


@pytest.mark.parametrize(("p", "freq"), [(113, 4), (113, 53), (12, 5), (9, 3)])
def test_an_exact_circle(p: int, freq: int) -> None:
    found = circle(3 + 2 * wheel(p, freq), freq)
    assert found.quality == pytest.approx(1)
    assert found.radius == pytest.approx(2)
    assert found.radius_variation == pytest.approx(0, abs=1e-12)
    assert found.angle_fit == pytest.approx(1)
    assert found.aspect == pytest.approx(1)


def test_all_points_of_a_circle_are_corners_of_its_hull_and_few_of_a_disc() -> None:
    assert len(convex_hull(wheel(113, 4))) == 113
    assert len(convex_hull(random(113, 2))) < 30


def test_an_ellipse_keeps_its_frequency() -> None:
    found = circle(wheel(113, 7) @ torch.tensor([[3.0, 0.5], [0.0, 0.3]]).double(), 7)
    assert found.quality == pytest.approx(1)
    assert found.aspect < 0.2
    assert found.radius_variation > 0.3


def test_a_circle_among_others_is_found_in_its_own_plane() -> None:
    p, d = 31, 40
    hidden = {3: random(2, d, seed=1), 11: random(2, d, seed=2)}
    x = sum((wheel(p, k) @ w for k, w in hidden.items()), torch.zeros(p, d).double())
    found = circles(x, (3, 11))
    assert min(c.quality for c in found.values()) > 0.7
    basis = plane(x, 3)
    assert torch.allclose(basis.norm(dim=0), torch.ones(2).double())
    exact = plane_angles(basis, hidden[3].T)
    assert exact.dihedral == pytest.approx(0, abs=1e-4)


def test_a_frequency_without_a_sine_spans_no_plane() -> None:
    with pytest.raises(ValueError, match="frequency 6 of residues mod 12 has only a cosine and no sine"):
        plane(random(12, 4), 6)
    with pytest.raises(ValueError, match="run from 1 to 6"):
        circle(random(12, 2), 7)


@pytest.mark.parametrize("slope", [-1, 0, 1, 2])
@pytest.mark.parametrize("freq", [1, 20, 56])
def test_turns_are_counted_at_any_frequency(slope: int, freq: int) -> None:
    angle = wave_angles(113, freq)
    phases = torch.stack([(slope * angle + 0.3).cos(), (slope * angle + 0.3).sin()], dim=1)
    found = winding(polar_angles(phases), angle)
    assert found.turns == slope
    if slope:
        assert found.explained == pytest.approx(1)


@pytest.mark.parametrize("freq", [1, 20])
def test_an_angle_that_ripples_winds_as_often_wherever_it_is_cut(freq: int) -> None:
    p = 113
    angle = wave_angles(p, freq)
    found, slopes = set(), []
    for cut in range(p):
        from_cut = torch.remainder(angle - angle[cut], 2 * torch.pi)
        one = winding(angle + 0.5 * (2 * angle).sin(), from_cut)
        found.add((one.turns, round(one.explained, 9)))
        order = from_cut.sort().indices
        x, y = from_cut[order], from_cut[order] + 0.5 * (2 * angle[order]).sin()
        slopes.append(float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()))
    assert found == {(1, round((math.pi**2 / 3 * (1 - 1 / p**2)) / (math.pi**2 / 3 * (1 - 1 / p**2) + 0.125), 9))}
    assert max(slopes) > 1.07, "a line fitted to one turn depends on the cut"
    assert sum(slopes) / p == pytest.approx(1)


def test_angles_between_planes() -> None:
    e = torch.eye(5).double()
    assert plane_angles(e[:, :2], e[:, :2] @ random(2, 2)).dihedral == pytest.approx(0, abs=1e-4)
    shared = plane_angles(e[:, :2], e[:, 1:3])
    assert (shared.first, shared.second) == pytest.approx((0, 90), abs=1e-4)
    assert shared.dihedral == pytest.approx(90)
    tilted = torch.stack([e[0], (e[1] + e[2]) / math.sqrt(2)], dim=1)
    assert plane_angles(e[:, :2], tilted).dihedral == pytest.approx(45)


def test_effective_rank() -> None:
    assert effective_rank(random(20_000, 5)) == pytest.approx(5, abs=0.05)
    assert effective_rank(random(1000, 2) @ random(2, 7)) < 2.001


# petals


@pytest.mark.parametrize(
    ("p", "embedding", "attention"), [(113, 4, 4), (113, 50, 7), (113, 1, 56), (12, 5, 2), (12, 6, 6)]
)
@pytest.mark.parametrize("phase", [0.0, 1.1])
def test_the_spectrum_of_a_petal_is_its_fourier_transform(p: int, embedding: int, attention: int, phase: float) -> None:
    petal = Petal(p, embedding, attention, phase, a=3)
    assert torch.allclose(torch.fft.fft(petal.curve()) / p, petal.spectrum(), atol=1e-12)
    held = {min(m, p - m) for m in (petal.spectrum().abs() > 1e-9).nonzero()[:, 0].tolist()}
    assert held <= petal_frequencies(p, embedding, attention)


def test_crossings() -> None:
    """The attention's frequency times the embedding's less 1, in general; no fine polygon shows others."""
    for embedding, attention in ((1, 3), (2, 1), (3, 1), (4, 1), (2, 3), (2, 5), (3, -2)):
        assert Petal(113, embedding, attention, 0.4).crossings() == abs(attention) * (embedding - 1)
    assert Petal(113, 4, 6, 0.4).crossings() == Petal(113, 2, 3, 0.4).crossings(), "the same curve, twice"
    assert Petal(113, 2, 0).crossings() == Petal(113, 1, 1).crossings() == 0
    petal = Petal(113, 2, 3, 0.4)
    z = petal.curve((torch.arange(4001, dtype=torch.float64) + 0.37) * 113 / 4001)
    d, e = z.roll(-1) - z, (z[None] - z[:, None])
    side, far = (d.conj()[:, None] * e).imag, torch.ones(len(z), len(z), dtype=torch.bool).triu(2)
    apart = side * side.roll(-1, 1) < 0
    met = (apart & apart.T & far).nonzero()
    distinct = [i for i, j in met.tolist() if abs(z[i] - 1) > 0.02 and j - i < len(z) - 1]
    assert len(distinct) == petal.crossings()


def test_a_planted_head_follows_its_petal_and_a_shuffled_one_does_not() -> None:
    p, d, d_head, a, (embedding, attention) = 31, 24, 12, 5, (3, 7)
    W_E = wheel(p, embedding) @ random(2, d)
    W_V = random(1, d, d_head, seed=2)
    alpha = ((1 + wave_angles(p, attention).cos()) / 2)[:, None]
    values = torch.einsum("rm,hmd->hrd", W_E, W_V)
    z = (alpha * values[0, a] + (1 - alpha) * values[0])[:, None]
    planes = {embedding: plane(W_E, embedding)}
    (fit,) = petal_fits(values, z, W_V, alpha, planes, [attention], a)
    assert fit.explained == pytest.approx(1)
    assert fit.at_frequencies == pytest.approx(1)
    shuffled = torch.randperm(p, generator=generator(3))
    (wrong,) = petal_fits(values, z[shuffled], W_V, alpha, planes, [attention], a)
    assert wrong.explained < 0.5
    assert wrong.at_frequencies < 0.8


def test_pulled_back_reads_what_the_plane_reads_where_that_can_be() -> None:
    basis, exact = random(6, 2), torch.linalg.qr(random(6, 6, seed=1)).Q
    reader, residual = pullback(exact, basis)
    assert residual == pytest.approx(0, abs=1e-12)
    assert torch.allclose(exact @ reader, basis)
    assert 0 < pullback(random(6, 3, seed=2), basis)[1] < 1


def test_mixture_and_share() -> None:
    points = wheel(31, 4)
    assert share_at(points + 1, {4}) == pytest.approx(1 / 3)
    assert share_at(points + 1, {0, 4}) == pytest.approx(1)
    assert torch.equal(mixture(torch.zeros(31), points, 5), points)


# motions


@pytest.mark.parametrize(("revolving", "rotating"), [(1, 0), (0, 1), (-1, 1), (1, -1)])
@pytest.mark.parametrize("freq", [2, 30])
@pytest.mark.parametrize("mirrored", [False, True])
def test_planted_motion_comes_back(revolving: int, rotating: int, freq: int, mirrored: bool) -> None:
    p = 61
    angle = wave_angles(p, freq)
    centre = 2 * torch.polar(torch.ones_like(angle), revolving * angle + 0.4)
    z = centre[:, None] + 3 * torch.polar(torch.ones(p, p).double(), rotating * angle[:, None] + angle[None])
    z = z.conj() if mirrored else z
    found = motion(torch.view_as_real(z.resolve_conj()), freq)
    assert found.revolution.turns == pytest.approx(revolving, abs=1e-6)
    assert found.rotation.turns == pytest.approx(rotating, abs=1e-6)
    assert found.orbit == pytest.approx(2)
    assert found.radius == pytest.approx(3)
    assert found.quality == pytest.approx(1)
    assert found.revolution_radius == pytest.approx(2 if revolving else 0, abs=1e-9)


def test_linear_terms_revolve_and_products_rotate() -> None:
    p, freq, d = 31, 5, 20
    a, b = wave_angles(p, freq)[:, None], wave_angles(p, freq)[None]
    linear = torch.stack([a.cos() + b.cos(), a.sin() + b.sin()], dim=-1) @ random(2, d, seed=1)
    product = torch.stack([(a + b).cos(), (a + b).sin()], dim=-1) @ random(2, d, seed=2)
    x = 3 * linear + product
    planes = collected_planes(x, freq)
    assert float(planes.values[4]) < 1e-9 * float(planes.values[0])
    turned = motion(x @ planes.pair(1), freq)
    assert abs(turned.rotation.turns) == pytest.approx(1, abs=0.1)
    alone = motion(product @ collected_planes(product, freq).pair(0), freq)
    assert alone.orbit < 1e-9
    assert abs(alone.rotation.turns) == pytest.approx(1)


# the read-out


def test_circles_that_are_not_perpendicular_add_up_to_what_they_span() -> None:
    p, d = 7, 6
    mlp_out, W_U = random(p, p, d), random(d, p, seed=1)
    planes = {k: torch.linalg.qr(random(d, 2, seed=k)).Q for k in (1, 2)}
    parts = circle_logits(mlp_out, W_U, planes)
    Q = torch.linalg.qr(torch.cat(list(planes.values()), dim=1)).Q
    assert torch.allclose(parts[1] + parts[2], mlp_out @ Q @ Q.T @ W_U)


def test_read_out_counts_right_answers() -> None:
    p = 7
    x = torch.arange(p)
    labels = ((x[:, None] + x) % p).reshape(-1, 1)
    right = torch.nn.functional.one_hot(labels.view(p, p), p).double()
    found = circle_accuracies({1: right, 2: -right / 2}, labels)
    assert found.alone[1] == 1
    assert found.together == 1
    assert found.alone[2] == 0
    assert percentile(right, 2, 3) == 1
    assert percentile(-right, 2, 3) < 0.2


def test_singular_vectors_are_given_to_the_frequency_they_carry() -> None:
    p, d = 13, 5
    waves = torch.cat([sum_waves(p, k) for k in (2, 5)]).movedim(0, -1)  # four neurons
    W_out = torch.diag(torch.tensor([4.0, 3.0, 2.0, 1.0]).double()) @ torch.eye(4, d).double()
    found = singular_directions(W_out, waves, 4)
    assert [direction.freq for direction in found.directions] == [2, 2, 5, 5]
    assert min(direction.share for direction in found.directions) == pytest.approx(1)
    beside = waves + 3 * torch.arange(p).sub(6).double()[:, None, None] * torch.tensor([1.0, 0, 0, 0])
    first, *_ = singular_directions(W_out, beside, 4).directions
    assert (first.freq, first.share) == (2, pytest.approx(1)), "what depends on a alone is no wave of a + b"
    assert first.of_variance < 0.1
    assert found.of_frequency(5) == [2, 3]
    assert gains(W_out, torch.eye(4).double()).tolist() == pytest.approx([4, 3, 2, 1])


@pytest.mark.parametrize("p", range(2, 25))
def test_one_rule_for_every_modulus(p: int) -> None:
    x = torch.arange(p).double()
    for first in range(1, p // 2 + 1):
        for second in range(first, p // 2 + 1):
            total = (2 * torch.pi / p * first * x).cos() + (2 * torch.pi / p * second * x).cos()
            assert distinguishes(p, (first, second)) == (int((total > total[0] - 1e-9).sum()) == 1)
