"""Many remainders at once: planted orders, positions, spectra and primes must come back as planted."""

from __future__ import annotations

import math

import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from modinterp.activations import logits_on_grid
from modinterp.analyses.embeddings import position_embeddings, primality, singular_vectors
from modinterp.analyses.fourier import neuron_spectra
from modinterp.analyses.fourier.frequencies import active_frequencies, significant_frequencies
from modinterp.analyses.training import generalisation
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.tasks import PrimeRemainders, addition, primes_below

math.nan, INF = float("nan"), float("inf")


def history_of(times: dict[str, tuple[float, float]], epochs: range) -> pd.DataFrame:
    """Accuracies that reach 0.99 at planted epochs, on the training set and on the others."""
    table = {"epoch": list(epochs)}
    for name, (memorised, generalised) in times.items():
        table[f"train_accuracy_{name}"] = [0.99 if e >= memorised else 0.5 for e in epochs]
        table[f"test_accuracy_{name}"] = [1.0 if e >= generalised else 0.98 for e in epochs]
    return pd.DataFrame(table)


def test_planted_epochs_are_read_off() -> None:
    planted = {"mod_2": (100.0, 200.0), "mod_3": (100.0, 900.0), "mod_5": (300.0, INF)}
    history = history_of(planted, range(0, 2000, 100))
    found = generalisation.learning_times(history, tuple(planted))
    assert found.memorised == (100, 100, 300)
    assert found.generalised[:2] == (200, 900)
    assert math.isnan(found.generalised[2])
    assert found.delayed_count() == 1
    assert list(found.table().columns) == ["output", "memorised", "generalised"]
    curves = generalisation.output_curves(history, tuple(planted), "test_accuracy")
    assert curves.shape == (20, 3)
    assert curves[-1].tolist() == [1.0, 1.0, 0.98]
    with pytest.raises(ValueError, match="history must hold"):
        generalisation.learning_times(history, ["mod_7"])


@given(st.permutations(range(8)))
def test_inversions_by_their_definition(order: list[int]) -> None:
    ordered, swaps = list(order), 0
    for end in range(len(order), 1, -1):  # bubble sort
        for i in range(end - 1):
            if ordered[i] > ordered[i + 1]:
                ordered[i], ordered[i + 1], swaps = ordered[i + 1], ordered[i], swaps + 1
    assert generalisation.inversions(order) == swaps


def test_what_was_never_learned_comes_last_and_widens_the_spread() -> None:
    times = generalisation.infinite_if_never([10.0, math.nan, 1000.0])
    assert generalisation.inversions(times) == 1
    spread = generalisation.spread
    assert spread([10, 100, 1000, 10_000, 100_000]) == pytest.approx(2)
    assert spread([10, 100, INF, INF]) == INF
    assert math.isnan(spread([INF, INF, INF]))
    assert math.isnan(spread([]))
    assert spread([50] * 9 + [INF]) == 0


@given(st.sampled_from([5, 7, 11, 13, 31, 113]))
def test_numbers_without_a_zero_are_one_and_the_primes_from_p_on(p: int) -> None:
    by_hand = [n for n in range(p * p) if all(n % q for q in range(2, p) if all(q % d for d in range(2, q)))]
    assert primality.zero_free_numbers(p).tolist() == by_hand
    assert by_hand == [1, *(q for q in primes_below(p * p) if q >= p)]


def test_counts_of_the_source() -> None:
    assert len(primality.multiples([17, 23], 113**2)) == 1275 == 752 + 556 - 33
    assert len(primality.zero_free_numbers(113)) == 1495
    assert [q for q in primes_below(113) if primality.commutative_share(113, q) == 1] == [2, 7]
    for p in (11, 13):
        for q in primes_below(p):
            pairs = [(a + p * b) % q == (b + p * a) % q for a in range(p) for b in range(p)]
            assert primality.commutative_share(p, q) == pytest.approx(sum(pairs) / p**2)


def test_multiples_fall_on_one_ray_and_others_do_not() -> None:
    numbers = primality.multiples([7], 5000)
    assert primality.angular_spread(numbers, 7.0) < 1e-9
    assert primality.angular_spread(numbers, 2 * math.pi) > 1
    points = primality.spiral_points(torch.tensor([3, 10]))
    expected = [[3 * math.cos(3), 3 * math.sin(3)], [10 * math.cos(10), 10 * math.sin(10)]]
    torch.testing.assert_close(points, torch.tensor(expected, dtype=torch.float64))


def test_right_remainders_make_a_perfect_test_and_wrong_ones_are_counted() -> None:
    task = PrimeRemainders(13)
    found = primality.primality_test(task.labels(), task.numbers(), 13)
    primes = [q for q in primes_below(169) if q >= 13]
    assert (found.positives, found.primes, found.true_positives) == (len(primes),) * 3
    assert found.precision == found.recall == found.f1 == 1
    missed, false = task.labels(), task.labels()
    missed[task.numbers() == 17, 0] = 0
    false[task.numbers() == 25] = 1
    assert primality.primality_test(missed, task.numbers(), 13).recall == 1 - 1 / len(primes)
    assert primality.primality_test(false, task.numbers(), 13).precision == len(primes) / (len(primes) + 1)
    none = primality.primality_test(torch.zeros_like(missed), task.numbers(), 13)
    assert math.isnan(none.precision)
    assert none.f1 == none.recall == 0


def test_positions_of_planted_likeness() -> None:
    generator = torch.Generator().manual_seed(0)
    first, noise = torch.randn(2, 4000, generator=generator, dtype=torch.float64)
    for planted in (0.95, 0.0, -0.64):
        second = planted * first + math.sqrt(1 - planted**2) * noise
        found = position_embeddings.position_likeness(torch.stack([first, second + 3, noise]))
        assert found.pearson == pytest.approx(planted, abs=0.05)
        assert found.cosine == pytest.approx(float(first @ (second + 3) / first.norm() / (second + 3).norm()))
    with pytest.raises(ValueError, match="two positions"):
        position_embeddings.position_likeness(torch.zeros(1, 5))


def test_exchanging_positions_is_exchanging_the_digits_and_leaves_the_network_alone() -> None:
    task = PrimeRemainders(11)
    config = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=32, init="he")
    network = hooked(config, initial_weights(config, 3))
    before = logits_on_grid(network, task)
    swapped = logits_on_grid(position_embeddings.with_positions_swapped(network), task)
    torch.testing.assert_close(swapped, before.transpose(0, 1), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(swapped, before)
    assert torch.equal(logits_on_grid(network, task), before)
    bare = TransformerConfig.of(addition(5), positional=False, d_model=8, n_heads=1, d_head=8, d_mlp=8)
    with pytest.raises(ValueError, match="no position embeddings"):
        position_embeddings.with_positions_swapped(hooked(bare, initial_weights(bare, 0)))


def test_planted_singular_values_are_counted() -> None:
    generator = torch.Generator().manual_seed(1)
    U, V = (torch.linalg.qr(torch.randn(20, 20, generator=generator, dtype=torch.float64)).Q for _ in range(2))
    values = torch.tensor([6.0, 2.0, 1.0, 1.0] + [0.0] * 16, dtype=torch.float64)
    found = singular_vectors.singular_values(U @ values.diag() @ V.T)
    torch.testing.assert_close(found.values, values, atol=1e-10, rtol=0)
    assert [found.count_to_reach(share) for share in (0.5, 0.6, 0.61, 0.9, 1.0)] == [1, 1, 2, 3, 4]
    assert [found.count_to_reach(share, squared=True) for share in (0.5, 0.9, 0.95)] == [1, 2, 2]
    torch.testing.assert_close((found.vectors[:, 0] @ U[:, 0]).abs(), torch.tensor(1.0, dtype=torch.float64))


@pytest.mark.parametrize("p", [11, 12, 31])
def test_planted_waves_are_found_with_their_share(p: int) -> None:
    x = 2 * math.pi * torch.arange(p, dtype=torch.float64) / p
    vectors = torch.stack(
        [(3 * x + 0.4).cos(), (2 * x).sin() + (4 * x).sin(), torch.ones(p, dtype=torch.float64)], dim=1
    )
    vectors[:, 1] += 5
    found = singular_vectors.periodicity(vectors)
    assert int(found.freqs[0]) == 3
    assert int(found.freqs[1]) in (2, 4)
    assert found.shares[:2].tolist() == pytest.approx([1.0, 0.5])
    assert singular_vectors.periodicity(vectors, waves=2).shares[:2].tolist() == pytest.approx([1.0, 1.0])
    assert len(found.table()) == 3
    torch.testing.assert_close(
        singular_vectors.amplitudes(vectors)[2, 0], (torch.tensor(p, dtype=torch.float64) / 2).sqrt()
    )


def test_singular_vectors_of_planted_circles_are_waves_and_random_ones_are_not() -> None:
    p, generator = 53, torch.Generator().manual_seed(0)
    x = 2 * math.pi * torch.arange(p, dtype=torch.float64) / p
    waves = torch.stack([f(k * x) for k in (4, 9) for f in (torch.cos, torch.sin)], dim=1)
    embedding = waves @ torch.randn(4, 64, generator=generator, dtype=torch.float64)
    embedding += 0.01 * torch.randn(p, 64, generator=generator, dtype=torch.float64)
    found = singular_vectors.singular_values(embedding)
    coefficients = singular_vectors.amplitudes(found.vectors[:, :4]).square()
    assert float(coefficients[[3, 8]].sum(dim=0).min()) > 0.99
    assert float(singular_vectors.periodicity(found.vectors[:, :4], waves=2).shares.min()) > 0.99
    norms = singular_vectors.amplitudes(embedding).norm(dim=1)
    assert active_frequencies(norms) == active_frequencies(norms, 2) == significant_frequencies(embedding) == (4, 9)
    assert singular_vectors.random_periodicity(p, 64) < 0.25
    assert singular_vectors.random_periodicity(p, 64) == singular_vectors.random_periodicity(p, 64)


def test_active_frequencies_by_a_loop() -> None:
    norms = torch.rand(40, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    mean = sum(norms.tolist()) / 40
    deviation = math.sqrt(sum((x - mean) ** 2 for x in norms.tolist()) / 40)
    for times in (1, 1.5):
        by_hand = tuple(k for k, x in enumerate(norms.tolist(), start=1) if x > mean + times * deviation)
        assert active_frequencies(norms, times) == by_hand


def field(p: int, *terms: tuple[int, int]) -> torch.Tensor:
    x = 2 * math.pi * torch.arange(p, dtype=torch.float64) / p
    return sum((torch.cos(j * x[:, None] + k * x + 0.3) for j, k in terms), torch.zeros(p, p, dtype=torch.float64))


@pytest.mark.parametrize("p", [11, 14])
def test_magnitudes_are_those_of_a_double_sum(p: int) -> None:
    x = torch.randn(p, p, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = neuron_spectra.magnitudes(x + 7)
    for j, k in ((0, 0), (1, 2), (p - 2, 3), (0, 4)):
        turns = j * torch.arange(p)[:, None] + k * torch.arange(p)
        angle = 2 * math.pi * turns.double() / p
        by_hand = torch.complex((x[..., 0] * angle.cos()).sum(), (x[..., 0] * angle.sin()).sum()).abs()
        expected = 0 if (j, k) == (0, 0) else float(by_hand)
        assert float(found[j, k, 0]) == pytest.approx(expected, abs=1e-9)


def test_a_planted_wave_stands_out_and_noise_does_not() -> None:
    p, generator = 31, torch.Generator().manual_seed(0)
    noise = torch.randn(p, p, generator=generator, dtype=torch.float64)
    fields = torch.stack([field(p, (3, 5)) + 0.01 * noise, noise, torch.zeros(p, p, dtype=torch.float64) + 2], dim=-1)
    for ratios in (neuron_spectra.peak_ratios(fields), neuron_spectra.mixed_peak_ratios(fields)):
        assert ratios[0] > 100
        assert ratios[1] < 5
        assert math.isnan(ratios[2])
    shares = neuron_spectra.strongest_share(fields, 1)
    assert shares[0] > 0.999
    assert shares[1] < 0.05
    assert math.isnan(shares[2])
    shown, freqs = neuron_spectra.signed_spectrum(neuron_spectra.magnitudes(fields)[..., 0])
    peak = divmod(int(shown.argmax()), shown.shape[1])
    assert (abs(freqs[peak[0]]), peak[1]) == (3, 5)
    assert freqs == list(range(-15, 16))


def test_waves_of_one_digit_count_once_and_are_no_products() -> None:
    p = 13
    both = torch.stack([field(p, (2, 0)), field(p, (2, 0), (0, 3)), field(p, (2, 0), (0, 3), (2, 3))], dim=-1)
    assert neuron_spectra.strongest_share(both, 1).tolist() == pytest.approx([1, 1 / 2, 1 / 3])
    assert neuron_spectra.strongest_share(both, 3).tolist() == pytest.approx([1, 1, 1])
    assert neuron_spectra.mixed_peak_ratios(both)[:2].isnan().all()
    alternating = torch.stack([field(14, (3, 7)), field(14, (7, 0)), field(14, (3, 5), (7, 0))], dim=-1)
    # cos(0.3)^2 in every place, beside a wave whose squares have the mean 1/2
    share = math.cos(0.3) ** 2 / (math.cos(0.3) ** 2 + 0.5)
    assert neuron_spectra.strongest_share(alternating, 1).tolist() == pytest.approx([1, 1, share])
