"""Waves of neurons, the flow and the kinds of pairs against planted truth and plain loops."""

from __future__ import annotations

import pytest
import torch

from modinterp.measurements import measure_as_published
from modinterp.measurements.network import NoSuchPart
from modinterp.models import ACTIVATIONS, MLPConfig, TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.sources.he.claims.dynamics import first_order
from modinterp.sources.he.claims.features import _frequencies
from modinterp.sources.he.flow import euler, rates, times_to_dominate, warmed_up
from modinterp.sources.he.idealised import evenly_spread, own_cosines, own_logits, pair_logits
from modinterp.sources.he.logit_shape import logit_shape, prefactor_fits
from modinterp.sources.he.neuron_waves import NeuronWaves, angles, phase_test, spectrum, waves_of, wrapped
from modinterp.sources.he.pair_kinds import PairKinds
from modinterp.tasks import addition

P = 11
TASK = addition(P, equals=False)


def polar(size: float, angle: float) -> torch.Tensor:
    return torch.polar(torch.tensor(size, dtype=torch.float64), torch.tensor(angle, dtype=torch.float64))


def network(act_fn: str = "relu") -> tuple[MLPConfig, dict[str, torch.Tensor]]:
    config = MLPConfig.of(TASK, one_hot=True, d_mlp=30, act_fn=act_fn, init="left-facing")
    return config, {name: w.double() for name, w in initial_weights(config, 3).items()}


def test_amplitudes_and_phases_are_those_that_were_planted() -> None:
    alpha, phi = torch.rand(8, 5).double() + 0.1, 6 * torch.rand(8, 5).double() - 3
    rows = (alpha.unsqueeze(2) * (angles(P) + phi.unsqueeze(2)).cos()).sum(dim=1) + 4
    torch.testing.assert_close(spectrum(rows), torch.polar(alpha, phi))
    wave = NeuronWaves(rows, rows, 1)
    torch.testing.assert_close(wave.winner, alpha.argmax(dim=1))
    torch.testing.assert_close(wave.share_read, alpha.amax(dim=1).square() / alpha.square().sum(dim=1))
    torch.testing.assert_close(wave.D.cos(), wave.phi.cos())  # psi = phi
    one = angles(P)[1].cos().unsqueeze(0)
    assert NeuronWaves(one, one, 1).inverse_participation == pytest.approx(1)


@pytest.mark.parametrize("act_fn", ["relu", "square"])
def test_logits_are_those_of_the_network(act_fn: str) -> None:
    config, weights = network(act_fn)
    waves = NeuronWaves.of(hooked(config, weights))
    logits = hooked(config, weights).double()(TASK.inputs())[:, -1].view(P, P, P)
    torch.testing.assert_close(own_logits(waves), logits.detach())
    read, written = own_cosines(waves)
    for n in range(3):
        k = int(waves.winner[n])
        basis = torch.stack([angles(P)[k].cos(), angles(P)[k].sin()], dim=1)
        for rows, found in ((waves.theta, read), (waves.xi, written)):
            fit = basis @ torch.linalg.lstsq(basis, rows[n].unsqueeze(1)).solution
            torch.testing.assert_close(found[n], fit.squeeze(1))


def test_the_flow_is_the_gradient_of_the_loss_at_small_weights() -> None:
    """Of one neuron of squares, by torch's own derivative of the mean cross-entropy."""
    size, k, phi, psi = 1e-4, 2, 0.7, -1.9
    theta = (size * (angles(P)[k] + phi).cos()).requires_grad_()
    xi = (2 * size * (angles(P)[k] + psi).cos()).requires_grad_()
    a, b = TASK.inputs().T
    logits = (theta[a] + theta[b]).square().unsqueeze(1) * xi
    torch.nn.functional.cross_entropy(logits, TASK.answers()).backward()
    assert theta.grad is not None
    assert xi.grad is not None
    of_z, of_w = rates(polar(size, phi), polar(2 * size, psi), P)
    torch.testing.assert_close(-spectrum(theta.grad.unsqueeze(0))[0, k], of_z, rtol=1e-4, atol=0)
    torch.testing.assert_close(-spectrum(xi.grad.unsqueeze(0))[0, k], of_w, rtol=1e-4, atol=0)


def test_steps_of_the_flow_are_the_equations_of_size_and_misalignment() -> None:
    alpha, beta, D, h = 0.03, 0.02, 1.1, 1e-6
    z, w = euler(polar(alpha, D / 2), polar(beta, 0.0), P, torch.tensor([h]).double())
    cos, sin = (f(torch.tensor(D, dtype=torch.float64)) for f in (torch.cos, torch.sin))
    found = torch.stack([z.abs() - alpha, w.abs() - beta, wrapped(2 * z.angle() - w.angle()) - D]) / h
    told = torch.stack([2 * alpha * beta * cos, alpha**2 * cos, -(4 * beta + alpha**2 / beta) * sin]) / P
    torch.testing.assert_close(found, told, rtol=1e-4, atol=1e-9)
    torch.testing.assert_close(warmed_up(0.1, 10, 12).float(), torch.tensor([i / 100 for i in range(10)] + [0.1, 0.1]))


def test_times_grow_with_misalignment_and_agree_with_small_steps() -> None:
    D = torch.tensor([[0.0, 0.5, 1.5, 2.5, 3.0]]).double()
    sizes = torch.full_like(D, 0.02)
    times = times_to_dominate(sizes, sizes, D, P)
    assert bool((times.diff() > 0).all())
    z, w = torch.polar(sizes, D / 2), sizes.to(torch.complex128)
    for place in range(D.shape[1]):
        steps = torch.full((int(times[0, place]),), 1.0)
        reached, _ = euler(z[0, place], w[0, place], P, steps)
        assert float(reached.abs()) == pytest.approx(0.1, rel=0.05)
    stuck = times_to_dominate(sizes, sizes, torch.full_like(D, torch.pi), P)
    assert bool((stuck > times.max()).all())


def test_times_are_those_of_small_steps_from_any_start() -> None:
    generator = torch.Generator().manual_seed(0)
    alpha, beta = (0.02 + torch.rand(20, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    D = torch.pi * (2 * torch.rand(20, 3, generator=generator, dtype=torch.float64) - 1)
    D[0, 0], D[1], alpha[1] = 0, torch.pi, 2  # from D = pi through beta = 0
    alpha[2, 0], beta[2, 0], D[2, 0] = 0.1, 1, torch.pi  # which ends in the saddle
    times = times_to_dominate(alpha, beta, D, P)
    assert times[2, 0].isinf()
    assert bool(times.flatten().sort().values[:-1].isfinite().all())
    z, w, size = torch.polar(alpha, D / 2), beta.to(torch.complex128), times.nan_to_num(posinf=0) / 40_000
    for _ in range(40_000):
        of_z, of_w = rates(z, w, P)
        half_z, half_w = rates(z + size / 2 * of_z, w + size / 2 * of_w, P)
        z, w = z + size * half_z, w + size * half_w
    torch.testing.assert_close(
        z.abs()[times.isfinite()], (5 * alpha.max()).expand(int(times.isfinite().sum())), rtol=1e-5, atol=0
    )


def test_phases_that_are_spread_evenly_have_no_resultant_and_independent_ones_have_one() -> None:
    winner = torch.arange(40) % 4
    even = torch.polar(torch.ones(10), 2 * torch.pi / 10 * torch.arange(10)).angle().repeat_interleave(4).double()
    assert phase_test(winner, even, 1) < 1e-9
    assert phase_test(winner, torch.zeros(40).double(), 2) == pytest.approx(10)
    generator = torch.Generator().manual_seed(0)
    drawn = [phase_test(winner, 7 * torch.rand(40, generator=generator).double() * 2 * torch.pi, 2) for _ in range(200)]
    assert sum(drawn) / 200 == pytest.approx(1, abs=0.15)


def test_the_shape_of_planted_logits_comes_back() -> None:
    x, y, j = (torch.arange(P).view(shape) for shape in ((P, 1, 1), (1, P, 1), (1, 1, P)))
    peak, ghosts = (x + y - j) % P == 0, ((2 * x - j) % P == 0) | ((2 * y - j) % P == 0)
    dips = ((3 * x - y - j) % P == 0) | ((3 * y - x - j) % P == 0)
    logits = 5 * peak + 2 * ghosts - 0.5 * dips + torch.rand(P, P, 1)
    shape = logit_shape(logits.double())
    assert (shape.peak, shape.ghost, shape.dip) == pytest.approx((5, 0.4, -0.1))
    assert shape.explained == pytest.approx(1)
    fits = prefactor_fits(pair_logits(*evenly_spread(P, 8), ACTIVATIONS["square"]))
    assert max(fits, key=lambda name: fits[name]) == "cos^2"
    assert fits["cos^2"] == pytest.approx(1)


def test_kinds_of_pairs_are_those_of_a_loop() -> None:
    split = TASK.split(0.6, 1, "torch")
    seen = {divmod(row, P) for row in split.train.tolist()}
    kinds = PairKinds.of(split, P)
    for x in range(P):
        for y in range(P):
            there, mirrored = (x, y) in seen, (y, x) in seen
            name = {(True, True): "common", (True, False): "rare", (False, True): "mirrored"}.get((there, mirrored))
            name = name or ("diagonal" if x == y else "unseen")
            name = "seen_diagonal" if there and x == y else name
            assert {key for key, where in vars(kinds).items() if where[x, y]} == {name}


def test_the_first_order_of_a_relu_neuron_is_its_gradient() -> None:
    """Up to the sign and a factor, by torch's own derivative at uniform probabilities."""
    of_theta, of_xi = first_order(P, k=1, grid=5)
    n = 3
    phi = 2 * torch.pi / 5 * n
    theta, xi = ((angles(P)[0] + phase).cos().requires_grad_() for phase in (phi, 2 * phi))
    a, b = TASK.inputs().T
    logits = (theta[a] + theta[b]).relu().unsqueeze(1) * xi
    centred = logits - logits.mean(dim=1, keepdim=True)
    centred.gather(1, TASK.labels()).sum().backward()
    for grad, found in ((theta.grad, of_theta[n]), (xi.grad, of_xi[n])):
        assert grad is not None
        ours, theirs = spectrum(found.unsqueeze(0)), spectrum(grad.unsqueeze(0))
        torch.testing.assert_close(ours / ours[0, 0], theirs / theirs[0, 0], rtol=1e-6, atol=1e-6)


def test_equal_use_is_judged_by_the_chi_square_distribution() -> None:
    config, weights = network()
    m = measure_as_published(TrainedRun("mine", TASK, hooked(config, weights)))
    counts = waves_of(m).counts.double()
    chi2 = float((counts - counts.mean()).square().sum() / counts.mean())
    draws = torch.distributions.Chi2(torch.tensor(len(counts) - 1.0)).sample((100_000,))
    assert _frequencies(m)["p-value of equal use"] == pytest.approx(float((draws >= chi2).double().mean()), abs=0.01)


def test_a_transformer_is_no_network_of_this_shape() -> None:
    config = TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=8)
    m = measure_as_published(TrainedRun("mine", TASK, hooked(config, initial_weights(config, 0))))
    with pytest.raises(NoSuchPart, match="sum of two tokens"):
        waves_of(m)
