"""Networks with normalisations: how they begin, what their hooks hold, and that folding changes no probability."""

from __future__ import annotations

import pytest
import torch

from modinterp.models import TransformerConfig, folded, hooked, initial_weights
from modinterp.tasks import SortedList

TASK = SortedList(n=4, limit=9, size=40, held_out=5)
SIZES: dict[str, int | bool | str] = {"d_model": 16, "n_heads": 2, "d_head": 8, "n_layers": 2}
BIASED = SIZES | {"attn_biases": True, "unembed_bias": True}


def config(norm: str | None, d_mlp: int | None = 12, biased: bool = True) -> TransformerConfig:
    return TransformerConfig.of(TASK, d_mlp=d_mlp, normalization_type=norm, **BIASED if biased else SIZES)


def random_weights(c: TransformerConfig) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return {n: 0.3 * torch.randn(s, generator=generator, dtype=torch.float64) for n, s in c.shapes().items()}


@pytest.mark.parametrize("norm", ["LN", "LNPre", None])
@pytest.mark.parametrize("d_mlp", [None, 12])
@pytest.mark.parametrize("biased", [True, False])
def test_a_folded_network_has_the_same_probabilities(norm: str | None, d_mlp: int | None, biased: bool) -> None:
    c = config(norm, d_mlp, biased)
    network, inputs = hooked(c, random_weights(c)), TASK.inputs()
    ours = folded(network)
    before, after = (net(inputs).log_softmax(dim=-1) for net in (network, ours))
    torch.testing.assert_close(after, before, rtol=0, atol=1e-11)
    assert ours.W_U.sum(dim=1).abs().max() < 1e-11
    assert (ours.W_E.sum(dim=1).abs().max() < 1e-11) == (norm is not None)
    assert (ours.W_Q.sum(dim=2).abs().max() < 1e-11) == (norm is not None)
    assert ours.cfg.normalization_type == (None if norm is None else "LNPre")


def test_folding_is_that_of_transformer_lens() -> None:
    weight_processing = pytest.importorskip("transformer_lens.weight_processing")
    c = config("LN", None)
    weights = random_weights(c)
    process, ours = weight_processing.ProcessWeights, folded(hooked(c, weights)).state_dict()
    theirs = process.fold_layer_norm({n: w.clone() for n, w in weights.items()}, c)
    theirs = process.center_writing_weights(process.fold_value_biases(theirs, c), c)
    theirs = process.center_unembed(theirs)
    for name, w in ours.items():
        torch.testing.assert_close(w, theirs[name], rtol=0, atol=1e-11, msg=name)


def test_networks_that_cannot_be_folded_are_refused() -> None:
    for c in (config("RMS"), TransformerConfig.of(TASK, attention_rate=0.5, **SIZES)):
        with pytest.raises(ValueError, match="fold"):
            folded(hooked(c, initial_weights(c, 0)))


def test_normalisations_begin_as_the_identity_and_draw_nothing() -> None:
    plain, normalised = initial_weights(config(None), 3), initial_weights(config("LN"), 3)
    assert all(torch.equal(w, normalised[name]) for name, w in plain.items())
    own = {name: w for name, w in normalised.items() if name not in plain}
    assert len(own) == 2 * (2 * 2 + 1)
    assert all(torch.equal(w, torch.full_like(w, float(name.endswith(".w")))) for name, w in own.items())


def test_what_the_attention_reads_has_mean_0_and_mean_square_1() -> None:
    c = config("LNPre")
    _, cache = hooked(c, random_weights(c)).run_with_cache(TASK.inputs()[:5])
    read = cache["blocks.1.ln1.hook_normalized"]
    assert cache["ln_final.hook_scale"].shape == (5, TASK.n_ctx, 1)
    assert read.mean(dim=-1).abs().max() < 1e-12
    torch.testing.assert_close(read.square().mean(dim=-1), torch.ones(5, TASK.n_ctx).double(), rtol=0, atol=1e-3)
