"""Where there is nothing, nothing stands out: NaN is never evidence."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd
import pytest
import torch

from modinterp.analyses.attention.heads import HeadRoles
from modinterp.analyses.circles.alignment import percentile
from modinterp.analyses.circles.circle import plane_angles
from modinterp.analyses.circles.rotation import motion
from modinterp.analyses.circles.symmetry import Irrelevance, distance_irrelevance, gradient_symmetricity
from modinterp.analyses.embeddings.singular_vectors import periodicity
from modinterp.analyses.fourier.cosine_sums import logit_fit
from modinterp.analyses.fourier.frequencies import (
    dominant_frequency,
    frequency_shares,
    key_frequencies,
    significant_frequencies,
)
from modinterp.analyses.fourier.neurons import neuron_fits, term_shares
from modinterp.analyses.fourier.sparsity import fourier_gini
from modinterp.analyses.network.nulls import Null, Nulls, cosine_share, separation, spectrum_nulls
from modinterp.analyses.statistics.explained import fraction_explained_by_column
from modinterp.analyses.statistics.similarity import cosines
from modinterp.analyses.training.curves import largest_drop
from modinterp.explain import explain
from modinterp.explain.criteria import P_VALUE
from modinterp.explain.sentences import clock_or_pizza
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs.store import write_weights
from modinterp.tasks import addition

P = 7
CONSTANT = torch.full((4, P), 0.3)
NOTHING = {"zeros": torch.zeros(4, P), "a constant": CONSTANT, "rows": torch.randn(4, 1).expand(4, P),
           "rounding": CONSTANT + 1e-9 * torch.randn(4, P).double()}  # fmt: skip


@pytest.mark.parametrize("kind", NOTHING)
def test_no_frequency_stands_out_of_what_does_not_vary(kind: str) -> None:
    keys = key_frequencies(NOTHING[kind])
    assert keys.freqs == ()
    assert math.isnan(keys.gap)
    assert significant_frequencies(NOTHING[kind].T) == ()
    freq, share = dominant_frequency(NOTHING[kind].T)
    assert freq == 1  # on every machine
    assert math.isnan(share)
    nulls = spectrum_nulls(NOTHING[kind], 1, [torch.randn(4, P) for _ in range(5)], draws=19)
    assert nulls.p_value("gap of the spectrum") == 1
    assert nulls.p_value("energy of the strongest") == 1


@pytest.mark.parametrize("kind", NOTHING)
def test_a_share_of_nothing_is_none(kind: str) -> None:
    rows = NOTHING[kind].T
    fields = NOTHING[kind][0, 0].expand(P, P, 4) if kind != "rounding" else CONSTANT[0, 0] + 1e-9 * torch.randn(P, P, 4)
    logits = torch.cat([fields, fields], dim=2)[..., :P].contiguous()
    shares = {
        "waves": frequency_shares(rows, [1]),
        "Gini": fourier_gini(rows),
        "strongest energy": separation(rows.T, 1)["energy of the strongest"],
        "cosines": cosine_share(logits, 1),
        "fit": logit_fit(logits, [1]).explained,
        "percentile": percentile(logits, 1, 2),
        "products": term_shares(fields).products,
        "quality": motion(fields[..., :2].contiguous(), 1).quality,
        "irrelevance": distance_irrelevance(logits.round(decimals=6)).correct,
        "columns": fraction_explained_by_column(rows, rows + 1),
    }
    assert {name for name, share in shares.items() if not math.isnan(share)} == set()
    assert periodicity(torch.full((P, 2), float(fields[0, 0, 0]))).shares.isnan().all()
    assert neuron_fits(fields).clusters() == {}
    assert not cosine_share(logits, 1) > 0


def test_a_direction_of_nothing_is_none() -> None:
    nothing, something = torch.zeros(5, 2), torch.randn(5, 2)
    assert math.isnan(plane_angles(nothing, something).dihedral)
    assert math.isnan(plane_angles(something[:, :1].expand(5, 2), something).first)
    assert plane_angles(something * 1e-30, something).dihedral == pytest.approx(0, abs=1e-4)
    assert cosines(torch.zeros(2, 5)).isnan().all()
    assert float(cosines(1e-30 * torch.ones(2, 5))[0, 1]) == pytest.approx(1)
    still = motion(torch.zeros(P, P, 2), 1)
    assert math.isnan(still.orbit_over_radius)
    assert math.isnan(still.revolution_over_radius)


@pytest.mark.parametrize("size", [0, 1e-30])
def test_gradients_of_nothing_are_not_at_right_angles(size: float) -> None:
    """A symmetricity of 0 would be a clock's."""
    task = addition(P)
    config = TransformerConfig.of(task, d_model=8, n_heads=2, d_head=4, d_mlp=6)
    weights = initial_weights(config, 0)
    scaled = {name: w * (size if name == "unembed.W_U" else 1) for name, w in weights.items()}
    whole, symmetricity = (gradient_symmetricity(hooked(config, w), task, 9).any_output for w in (weights, scaled))
    assert math.isnan(symmetricity) if size == 0 else symmetricity == pytest.approx(whole, rel=1e-6)


@pytest.mark.usefixtures("as_for_users")
@pytest.mark.parametrize(("irrelevance", "symmetricity", "said"), [(math.nan, math.nan, "undecided"),
    (math.nan, 0.9, "nearer the pizza"), (0.9, math.nan, "nearer the clock"), (0.9, 0.9, "the two measures disagree")])  # fmt: skip
def test_nan_is_neither_clock_nor_pizza(irrelevance: float, symmetricity: float, said: str) -> None:
    measured = SimpleNamespace(
        irrelevance=Irrelevance(irrelevance, irrelevance), sign=1, has_embedding=True, model=SimpleNamespace(cfg=None),
        reading=lambda key: SimpleNamespace(value=symmetricity))  # fmt: skip
    assert clock_or_pizza(measured)[0] == said


@pytest.mark.parametrize("size", [1e-30, 1e-6, 1.0, 1e6])
def test_the_scale_of_a_matrix_does_not_matter(size: float) -> None:
    W = torch.randn(6, 11, generator=torch.Generator().manual_seed(0))
    assert key_frequencies(W * size).freqs == key_frequencies(W).freqs != ()


def test_a_statistic_or_a_draw_that_is_nan_is_no_evidence() -> None:
    assert Null("n", "s", math.nan, (0.0,) * 99).p_value == 1
    assert Null("n", "s", 1.0, (math.nan,) * 99).p_value == 1
    assert Null("n", "s", 1.0, (0.0,) * 99).p_value == 0.01
    assert math.isnan(Nulls(()).p_value("s"))


def test_a_head_with_an_unknown_share_multiplies_nothing() -> None:
    shares = {"score_share": (1.0, math.nan, 1.0), "ov_share": (math.nan, 1.0, 1.0)}
    roles = HeadRoles((1, 1, 1), ov_freqs=(1, 1, 1), product_share=(), linear_share=(), pair=(0, 0),
                      pair_correlation=math.nan, pair_ov_cosine=math.nan, scores_cosine=math.nan, **shares)  # fmt: skip
    assert roles.multipliers() == (2,)


def test_a_gap_in_a_curve_is_no_drop() -> None:
    drop = largest_drop(pd.Series([0, 10, 20, 30]), pd.Series([4.0, 1.0, math.nan, 0.5]), within=10)
    assert (drop.size, drop.start) == (3.0, 0.0)


@pytest.mark.parametrize("kind", ["zeros", "constants", "1e-30", "one neuron"])
def test_nothing_stands_out_of_a_network_that_does_nothing(tmp_path, kind: str) -> None:
    weights = initial_weights(TransformerConfig.of(addition(P), d_model=8, n_heads=2, d_head=4, d_mlp=6), 0)
    if kind == "one neuron":
        weights["blocks.0.mlp.W_out"][1:] = 0
    else:
        change = {
            "zeros": torch.zeros_like,
            "constants": lambda w: torch.full_like(w, 0.3),
            "1e-30": lambda w: w * 1e-30,
        }
        weights = {name: change[kind](w) for name, w in weights.items()}
    write_weights(tmp_path / "m.safetensors", weights)
    explanation = explain(tmp_path / "m.safetensors", draws=99, out=tmp_path)
    assert explanation.verdict.label == "not solved"
    assert "nan" not in explanation.verdict.words
    assert not next(c for c in explanation.verdict.criteria if c.key == P_VALUE).met
    assert "No frequenc" in explanation.verdict.words
