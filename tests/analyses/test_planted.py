"""An ideal clock, built from known frequencies: every analysis must return what was planted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import torch

from modinterp import models
from modinterp.activations import logits_on_grid
from modinterp.analyses.attention import heads as attention
from modinterp.analyses.fourier import ablations, cosine_sums, neurons, readout, sparsity
from modinterp.analyses.fourier.frequencies import jaccard, key_frequencies
from modinterp.analyses.fourier.transforms import component_norms, components_of, fourier_basis, transform
from modinterp.analyses.training import curves, phases, progress
from modinterp.runs import TrainedRun
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec


@dataclass
class Clock:
    """Neurons that are pure waves of a + b, and a W_L that reads each off for every c."""

    p: int
    freqs: tuple[int, ...]
    alphas: tuple[float, ...]
    per_wave: int = 6

    def __post_init__(self) -> None:
        p, x = self.p, torch.arange(self.p)
        total = (x[:, None] + x) % p
        posts, reads, self.of = [], [], []
        generator = torch.Generator().manual_seed(0)
        for k, alpha in zip(self.freqs, self.alphas, strict=True):
            for component in components_of(k, p):
                wave = fourier_basis(p)[component] / fourier_basis(p)[1, 0]
                gains = torch.rand(self.per_wave, generator=generator, dtype=torch.float64) + 0.5
                posts.append(wave[total][..., None] * gains + 1)
                reads.append(alpha * wave * (gains / gains.square().sum())[:, None])
                self.of += [k] * self.per_wave
        self.post, self.W_L = torch.cat(posts, dim=-1), torch.cat(reads)
        self.logits = (self.post - 1) @ self.W_L
        self.labels = addition(p).labels()


CLOCKS = [Clock(113, (14, 35, 41, 42, 52), (4.4, 4.2, 4.5, 6.7, 6.5)), Clock(29, (1, 14), (9.0, 4.0)),
          Clock(12, (1, 5), (8.0, 3.0))]  # fmt: skip


@pytest.fixture(params=CLOCKS, ids=lambda clock: f"p={clock.p}")
def clock(request: pytest.FixtureRequest) -> Clock:
    return request.param


def test_key_frequencies_are_those_planted(clock: Clock) -> None:
    keys = key_frequencies(clock.W_L)
    assert keys.freqs == clock.freqs
    assert keys.gap == math.inf
    noisy = key_frequencies(clock.W_L + 1e-3 * torch.randn(clock.W_L.shape, generator=torch.Generator().manual_seed(1)))
    assert noisy.freqs == clock.freqs
    assert 5 < noisy.gap < math.inf
    assert keys.table()["key"].sum() == len(clock.freqs)


def test_gap_is_the_ratio_at_the_cut() -> None:
    basis = fourier_basis(41)  # alone, it has every frequency at the same norm, sqrt 2
    W_L = torch.cat([10 * basis[[1, 2]], 6 * basis[[9]], 1.5 * basis[[20]], basis])
    keys = key_frequencies(W_L)
    assert keys.freqs == (1, 5)
    assert keys.gap == pytest.approx(38**0.5 / 4.25**0.5)
    assert key_frequencies(torch.eye(3)).freqs == (1,)
    flat = key_frequencies(torch.eye(41))
    assert flat.gap == pytest.approx(1, abs=1e-6)


def test_readoff_finds_one_wave_along_every_direction(clock: Clock) -> None:
    table = readout.readoff(clock.post, clock.W_L, clock.freqs)
    assert [(r.freq, r.wave) for r in table.rows] == [(k, w) for k in clock.freqs for w in ("cos", "sin")]
    for row in table.rows:
        assert row.explained == pytest.approx(1)
        assert row.two_largest
        assert row.signs_agree
        assert row.imbalance == pytest.approx(0, abs=1e-9)
        alpha = dict(zip(clock.freqs, clock.alphas, strict=True))[row.freq]
        # the projection is alpha times the wave times the length of the wave over c, whose factor is sqrt(p / 2)
        assert row.amplitude == pytest.approx(alpha * math.sqrt(clock.p / 2))
    assert len(table.table()) == 2 * len(clock.freqs)


def test_logit_fit_finds_the_coefficients(clock: Clock) -> None:
    fit = cosine_sums.logit_fit(clock.logits, clock.freqs)
    assert fit.alphas == pytest.approx(clock.alphas)
    for value in (fit.explained, fit.explained_raw, fit.explained_by_row, fit.explained_by_row_and_class):
        assert value == pytest.approx(1)
    torch.testing.assert_close(fit.logits(clock.p), clock.logits)
    torch.testing.assert_close(cosine_sums.ideal_logits(clock.p, clock.freqs, clock.alphas), clock.logits)
    less = cosine_sums.logit_fit(clock.logits, clock.freqs[:1])
    lost = sum(a**2 for a in clock.alphas[1:]) / sum(a**2 for a in clock.alphas)
    assert less.explained == pytest.approx(1 - lost)


def test_rank_is_two_a_frequency(clock: Clock) -> None:
    rank = readout.low_rank(clock.W_L, clock.freqs)
    assert rank.rank == 2 * len(clock.freqs)
    assert rank.leading_share == pytest.approx(1)
    assert rank.drop == pytest.approx(0, abs=1e-6)
    assert rank.residual_energy == pytest.approx(0, abs=1e-12)
    Q = readout.key_directions(clock.W_L, clock.freqs)
    torch.testing.assert_close(clock.W_L.T @ Q @ Q.T, clock.W_L.T)


def test_neurons_are_explained_by_the_frequency_they_were_given(clock: Clock) -> None:
    fits = neurons.neuron_fits(clock.post)
    assert fits.freqs.tolist() == clock.of
    torch.testing.assert_close(fits.fractions, torch.ones(len(clock.of), dtype=torch.float64))
    assert fits.key_frequencies() == clock.freqs
    assert {k: len(v) for k, v in fits.clusters().items()} == dict.fromkeys(clock.freqs, 12)
    assert neurons.localisation(clock.W_L, fits.clusters()) == pytest.approx(dict.fromkeys(clock.freqs, 1.0))
    torch.testing.assert_close(neurons.polynomial_neurons(clock.post, fits), clock.post)
    torch.testing.assert_close(neurons.sum_wave_neurons(clock.post, clock.freqs), clock.post)
    assert fits.shares[clock.freqs[0] - 1, 0] == pytest.approx(1)


def test_neurons_that_are_dead_or_mixed_are_told_apart() -> None:
    x = 2 * torch.pi * torch.arange(23, dtype=torch.float64) / 23
    mixed = (3 * x).cos()[:, None] + (5 * x).cos()
    post = torch.stack([mixed, torch.full((23, 23), 0.7, dtype=torch.float64), torch.zeros(23, 23).double()], dim=-1)
    fits = neurons.neuron_fits(post)
    assert fits.fractions[0].item() == pytest.approx(0.5)
    assert fits.fractions[1:].isnan().all()
    assert fits.freqs[1:].tolist() == [0, 0]
    assert fits.clusters() == {}


def test_restricted_is_the_whole_and_excluded_is_chance(clock: Clock) -> None:
    train = torch.arange(clock.p)
    for terms in ("sums", "products", "polynomial"):
        assert ablations.restricted_loss(clock.logits, clock.labels, clock.freqs, terms) == pytest.approx(
            ablations.loss_on(clock.logits, clock.labels), rel=1e-6, abs=1e-15)  # fmt: skip
        excluded = ablations.excluded_loss(clock.logits, clock.labels, clock.freqs, train, terms)
        assert excluded == pytest.approx(math.log(clock.p))
    each = ablations.loss_without_each(clock.logits, clock.labels)
    others = [k for k in range(1, clock.p // 2 + 1) if k not in clock.freqs]
    before = ablations.loss_on(clock.logits, clock.labels)
    assert each[[k - 1 for k in others]].tolist() == pytest.approx([before] * len(others), rel=1e-5, abs=1e-12)
    assert all(each[k - 1] > before for k in clock.freqs)


def test_part_at_keeps_only_what_it_names() -> None:
    p, x = 17, 2 * torch.pi * torch.arange(17, dtype=torch.float64) / 17
    sums = (3 * (x[:, None] + x)).cos()
    differences, linear = (3 * (x[:, None] - x)).cos(), (3 * x).cos()[:, None].expand(p, p)
    logits = torch.stack([sums, differences, linear, torch.ones(p, p).double()], dim=-1)
    zero = torch.zeros(p, p, dtype=torch.float64)
    for terms, expected in {
        "sums": (sums, zero, zero, zero),
        "products": (sums, differences, zero, zero),
        "polynomial": (sums, differences, linear, zero),
    }.items():
        torch.testing.assert_close(
            ablations.part_at(logits, [3], terms), torch.stack(expected, dim=-1), rtol=0, atol=1e-10
        )
    torch.testing.assert_close(ablations.restricted_logits(logits, [3])[..., 3], torch.ones(p, p).double())


def test_embedding_of_circles_has_a_high_gini() -> None:
    W_E = fourier_basis(113)[[1, 2, 27, 28]].T @ torch.randn(4, 128, dtype=torch.float64)
    assert sparsity.fourier_gini(W_E) == pytest.approx(1 - 4 / 112, abs=0.03)
    assert sparsity.fourier_gini(torch.randn(113, 128, generator=torch.Generator().manual_seed(0))) < 0.1
    assert component_norms(W_E)[5] == pytest.approx(0, abs=1e-10)


def test_head_that_is_a_wave_is_found_with_its_coefficients() -> None:
    p, x = 31, 2 * torch.pi * torch.arange(31, dtype=torch.float64) / 31
    pattern = torch.zeros(p, p, 2, 3, dtype=torch.float64)
    for head, (k, alpha, beta) in enumerate([(4, -0.2, 0.1), (15, 0.15, 0.05)]):
        wave = alpha * (k * x).cos() + beta * (k * x).sin()
        pattern[:, :, head, 0] = 0.5 + wave[:, None] - wave
        pattern[:, :, head, 1] = 0.5 - wave[:, None] + wave
    first, second = attention.head_fits(pattern).heads
    assert (first.freq, first.alpha, first.beta) == (4, pytest.approx(-0.2), pytest.approx(0.1))
    assert (second.freq, second.alpha, second.beta) == (15, pytest.approx(0.15), pytest.approx(0.05))
    assert [first.explained, first.linear_share, first.mean_to_self] == pytest.approx([1, 1, 0])


def test_sigmoid_over_a_narrow_range_is_a_line_of_a_quarter() -> None:
    tables = 0.01 * torch.arange(9, dtype=torch.float64)[:, None]
    to_a = (tables[:, None] - tables).sigmoid()
    pattern = torch.stack([to_a, 1 - to_a, torch.zeros_like(to_a)], dim=-1)
    fit = attention.linear_sigmoid(tables, pattern)
    assert fit.slope == pytest.approx((0.25,), rel=1e-3)
    assert fit.explained == pytest.approx((1,), abs=1e-6)
    assert (fit.lowest, fit.highest) == (pytest.approx((-0.08,)), pytest.approx((0.08,)))
    torch.testing.assert_close(attention.linear_pattern(tables, fit), pattern, rtol=0, atol=1e-5)


def test_heads_that_multiply_and_pairs_that_amplify_are_told_apart() -> None:
    p, d = 29, 16
    x = 2 * torch.pi * torch.arange(p, dtype=torch.float64) / p
    generator = torch.Generator().manual_seed(0)
    wide = fourier_basis(p)[1:].T @ torch.randn(p - 1, d, generator=generator, dtype=torch.float64)
    narrow = fourier_basis(p)[components_of(3, p)].T @ torch.randn(2, d, generator=generator, dtype=torch.float64)
    tables = torch.stack([(3 * x).cos(), (7 * x).sin(), -(7 * x).sin()], dim=1)
    to_a = (tables[:, None] - tables).sigmoid()
    pattern = torch.stack([to_a, 1 - to_a, torch.zeros_like(to_a)], dim=-1)
    ov = torch.stack([narrow, wide, wide])
    out = torch.einsum("abh,ham->abhm", to_a, ov) + torch.einsum("abh,hbm->abhm", 1 - to_a, ov)
    roles = attention.head_roles(tables, ov, pattern, out)
    assert roles.freqs == (3, 7, 7)
    assert roles.multipliers() == (0,)
    assert roles.pair == (1, 2)
    assert roles.pair_correlation == pytest.approx(1)
    assert roles.pair_ov_cosine == pytest.approx(1)
    assert roles.scores_cosine == pytest.approx(-1)
    assert roles.product_share[0] > roles.product_share[1]


def test_margin_of_one_and_of_several() -> None:
    assert cosine_sums.margin(113, [7]) == pytest.approx(1 - math.cos(2 * math.pi / 113))
    assert cosine_sums.margin(113, [14, 35, 41, 42, 52]) == pytest.approx(5 - 2.590, abs=1e-3)
    assert cosine_sums.margin(12, [6]) == 0


def test_jaccard() -> None:
    assert (jaccard([1, 2], [2, 1]), jaccard([1], [2]), jaccard([], [])) == (1, 0, 1)


def history(grok: int) -> pd.DataFrame:
    epochs = np.arange(0, 20_001, 100)
    test = np.where(epochs < grok, 20.0, 20 * np.exp(-(epochs - grok) / 150.0)) + 1e-7
    excluded = np.where(
        epochs < 1000, 5 * np.exp(-epochs / 150.0), np.minimum(8, 6e-3 * np.exp((epochs - 1000) / 400.0))
    )
    return pd.DataFrame({
        "epoch": epochs, "train_loss": 1e-7, "test_loss": test, "excluded_loss_train": excluded,
        "train_accuracy": np.where(epochs >= 300, 1.0, 0.1), "test_accuracy": np.where(epochs >= grok + 700, 1.0, 0.05),
    })  # fmt: skip


def test_phases_are_read_off_a_planted_history() -> None:
    found = phases.phases(history(8000))
    assert found.memorisation_ended == 1000
    assert found.formed == 8200  # 20 exp(-t / 150) is below 10 from t = 104 on
    assert found.cleaned == 8000 + math.ceil(150 * math.log(20 / 1e-7) / 100) * 100
    assert found.plateau == pytest.approx(20)
    grokking = phases.grokking(history(8000), 113)
    assert (grokking.memorised, grokking.grokked, grokking.delayed) == (300, 8700, True)
    assert not phases.grokking(history(0), 113).delayed


def test_the_fall_of_the_test_loss_is_read_off_a_history_alone() -> None:
    epochs = [0, 100, 200, 300, 400, 500, 600]
    history = pd.DataFrame(
        {
            "epoch": epochs,
            "train_loss": [5, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8],
            "test_loss": [5, 12, 12, 12, 5, 0.1, 1e-3],
            "train_accuracy": [0.0, 1, 1, 1, 1, 1, 1],
            "test_accuracy": [0.0, 0, 0, 0, 0.5, 0.99, 1],
        }
    )
    assert phases.fall(history) == phases.Fall(400, 600)
    never = phases.fall(history.iloc[:4])
    assert never.start != never.start
    at_once = phases.fall(history.assign(test_accuracy=history["train_accuracy"]))
    assert at_once.start != at_once.start


def test_phases_of_a_network_that_never_groks_are_not_numbers() -> None:
    assert all(math.isnan(value) for value in vars(phases.phases(history(50_000))).values())


def test_inflections_are_where_the_slope_turns() -> None:
    epochs = np.arange(0, 10_000, 100)
    logarithm = np.where(epochs < 4000, -epochs / 1e4, -0.4 - (epochs - 4000) / 1e3)
    table = pd.DataFrame({"epoch": epochs, "w": np.exp(logarithm)})
    found = phases.inflections(table, "w")
    assert len(found) >= 1
    assert (abs(found - 4000) <= 300).all()
    assert phases.slope(table, "epoch", 1000, 3000) == pytest.approx(1)
    assert math.isnan(phases.slope(table, "epoch", 3000, 3000))


def test_slingshots_are_rises_from_low_to_high() -> None:
    loss = [5, 1e-4, 5e-3, 2e-2, 1e-1, 5e-3, 2e-2, 5e-4, 1.0, 1e-5]
    epochs = pd.Series(range(len(loss)))
    assert curves.slingshots(epochs, pd.Series(loss)).tolist() == [3, 8]
    assert not len(curves.slingshots(epochs, epochs + 1.0))


def test_loss_without_each_on_some_rows_is_the_excluded_loss_of_those() -> None:
    task, rows = addition(11), torch.tensor([3, 5, 70, 120])
    logits = cosine_sums.ideal_logits(11, [2, 4]) + torch.randn(11, 11, 11, generator=torch.Generator().manual_seed(0))
    for terms in ("sums", "products"):
        found = ablations.loss_without_each(logits, task.labels(), terms, rows=rows)
        by_hand = [ablations.excluded_loss(logits, task.labels(), [k], rows, terms) for k in range(1, 6)]
        assert found.tolist() == pytest.approx(by_hand)
    every = ablations.loss_without_each(logits, task.labels(), "sums")
    assert every.tolist() == pytest.approx(
        [ablations.excluded_loss(logits, task.labels(), [k], torch.arange(121)) for k in range(1, 6)]
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_without_each_on_some_rows_are_the_excluded_logits_of_those(sign: int) -> None:
    rows = torch.tensor([3, 5, 70, 120])
    logits = torch.randn(11, 11, 11, generator=torch.Generator().manual_seed(0))
    for freq, found in zip((2, 5), ablations.without_each_on(logits, (2, 5), rows, sign), strict=True):
        torch.testing.assert_close(
            found, ablations.excluded_logits(logits, [freq], sign=sign).flatten(0, 1)[rows], rtol=0, atol=1e-12
        )


def test_an_embedding_can_be_cut_to_some_frequencies() -> None:
    task = addition(11)
    config = models.TransformerConfig.of(task, d_model=8, n_heads=1, d_head=8, d_mlp=8)
    network = models.hooked(config, models.initial_weights(config, seed=0))
    before = network.W_E.detach().clone()
    cut = ablations.restricted_embedding(network, 11, [2, 4]).W_E.detach()
    assert torch.equal(network.W_E, before)
    assert torch.equal(cut[11], before[11])  # "=" is no residue
    ours, theirs = transform(cut[:11]), transform(before[:11])
    kept = [0, *components_of((2, 4), 11)]
    assert torch.allclose(ours[kept], theirs[kept], atol=1e-6)
    ours[kept] = 0
    assert float(ours.abs().max()) < 1e-6


def test_the_measure_without_key_frequencies_finds_the_one_that_is_missed_the_most() -> None:
    task = addition(11)
    config = models.TransformerConfig.of(task, d_model=8, n_heads=1, d_head=8, d_mlp=8)
    spec = RunSpec(task, config, Recipe(epochs=2), seed=0)
    snapshots = {epoch: models.initial_weights(config, seed=epoch) for epoch in (0, 1)}
    networks = {epoch: models.hooked(config, weights) for epoch, weights in snapshots.items()}
    run = TrainedRun("tiny", task, networks[1], spec, snapshots=snapshots)
    found = progress.largest_single_exclusion(networks.items(), task, run.split.train).set_index("epoch")
    assert list(found.index) == [0, 1]
    logits, train = logits_on_grid(run.model, task), run.split.train
    each = [ablations.excluded_loss(logits, task.labels(), [k], train) for k in range(1, 6)]
    assert found.loc[1, "excluded_loss_train"] == pytest.approx(max(each))
    assert found.loc[1, "freq"] == 1 + each.index(max(each))
