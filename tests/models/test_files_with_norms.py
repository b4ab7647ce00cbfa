"""Files of networks with a LayerNorm, in HookedTransformer's layout, are read for tasks on sequences."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import modinterp as mi
from modinterp.models import TransformerConfig, from_state_dict, hooked, initial_weights
from modinterp.models.convert import ForwardPass
from modinterp.tasks import SortedList, addition

TASK = SortedList(n=3, limit=7, size=40, held_out=20)
SIZES: dict[str, int | bool | str | None] = {"d_model": 12, "n_heads": 2, "d_head": 6, "n_layers": 2, "d_mlp": None,
                                             "attn_biases": True, "unembed_bias": True}  # fmt: skip


def drawn(config: TransformerConfig) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return {name: torch.randn(shape, generator=generator) for name, shape in config.shapes().items()}


@pytest.mark.parametrize("norm", ["LN", "RMS"])
def test_a_file_gives_the_logits_of_its_network(tmp_path: Path, norm: str) -> None:
    config = TransformerConfig.of(TASK, normalization_type=norm, **SIZES)
    weights = drawn(config)
    buffers = {"blocks.0.attn.mask": torch.ones(7, 7).tril().bool(), "blocks.0.attn.IGNORE": torch.tensor(-1e5)}
    torch.save(weights | buffers, tmp_path / "network.pt")
    run = mi.load(tmp_path / "network.pt", task=TASK)
    assert run.network.cfg.shapes() == config.shapes()
    torch.testing.assert_close(run.network(TASK.inputs()), hooked(config, weights)(TASK.inputs()))
    m = mi.measure(run)
    assert m.answered.right.shape == (60, 3)  # what it was trained on is not known
    assert m.head_rises.shape == (2, 2)


def test_a_folded_file_is_read_where_it_is_told_what_it_computes() -> None:
    config = TransformerConfig.of(TASK, normalization_type="LNPre", **SIZES)
    weights = drawn(config)
    told = from_state_dict(weights, TASK, ForwardPass(normalization_type="LNPre"))
    torch.testing.assert_close(told(TASK.inputs()), hooked(config, weights)(TASK.inputs()))
    assert from_state_dict(weights, TASK).cfg.normalization_type is None


def test_normalisations_that_are_missing_or_over_pairs_are_refused() -> None:
    config = TransformerConfig.of(TASK, normalization_type="LN", **SIZES)
    weights = drawn(config)
    del weights["blocks.1.ln1.w"]
    with pytest.raises(ValueError, match=r"missing weights: blocks\.1\.ln1\.w"):
        from_state_dict(weights, TASK)
    pairs = TransformerConfig.of(addition(7), normalization_type="LN", d_model=12, n_heads=2, d_head=6)
    with pytest.raises(ValueError, match="not read from files; in a script, give the module itself"):
        from_state_dict(initial_weights(pairs, 0), addition(7))
