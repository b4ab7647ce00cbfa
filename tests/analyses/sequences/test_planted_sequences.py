"""Analyses of networks that answer at several positions, on networks made so that the answer is known."""

from __future__ import annotations

import pytest
import torch

from modinterp.analyses.sequences.answers import answers
from modinterp.analyses.sequences.attribution import attribution_by_source
from modinterp.analyses.sequences.circuits import (
    composed_copying,
    copying_tables,
    is_copied,
    owners,
    position_score_tables,
    score_tables,
)
from modinterp.analyses.sequences.written_direction import written_direction
from modinterp.models import Transformer, TransformerConfig, folded, hooked, initial_weights

SIZES: dict[str, int | bool | str | None] = {"d_model": 6, "n_heads": 2, "d_head": 6, "d_mlp": None}
PLAIN = TransformerConfig(d_vocab=6, d_vocab_out=6, n_ctx=5, **SIZES)  # type: ignore[arg-type]


def planted() -> Transformer:
    """Head 0 copies tokens 0 to 2, head 1 tokens 3 to 5; queries score the token above them, positions token 0."""
    weights = {name: torch.zeros(shape) for name, shape in PLAIN.shapes().items()}
    eye = torch.eye(6)
    weights |= {"embed.W_E": eye, "unembed.W_U": eye}
    copied = torch.tensor([1.0, 1, 1, -1, -1, -1])
    weights["blocks.0.attn.W_V"] = torch.stack([torch.diag(copied), torch.diag(-copied)])
    weights["blocks.0.attn.W_O"] = 5 * eye.expand(2, 6, 6).clone()
    weights["blocks.0.attn.W_Q"] = 3 * eye.roll(1, dims=1).expand(2, 6, 6).clone()
    weights["blocks.0.attn.W_K"] = eye.expand(2, 6, 6).clone()
    weights["pos_embed.W_pos"] = eye[5].expand(5, 6).clone()
    network = hooked(PLAIN, weights)
    assert isinstance(network, Transformer)
    return network


def test_the_head_that_copies_a_token_owns_it() -> None:
    tables = copying_tables(planted())
    assert is_copied(tables).tolist() == [[True] * 3 + [False] * 3, [False] * 3 + [True] * 3]
    assert owners(tables).tolist() == [0, 0, 0, 1, 1, 1]


def test_scores_are_highest_for_the_token_above_and_those_of_positions_for_token_0() -> None:
    network = planted()
    assert score_tables(network).argmax(dim=-1).tolist() == [[1, 2, 3, 4, 5, 0]] * 2
    torch.testing.assert_close(score_tables(network)[0, 2, 3], torch.tensor(3 / 6**0.5, dtype=torch.float64))
    assert position_score_tables(network).argmax(dim=-1).unique().tolist() == [0]


def test_a_head_of_the_second_layer_copies_what_one_of_the_first_writes() -> None:
    config = TransformerConfig(6, 6, 5, n_layers=2, **SIZES)  # type: ignore[arg-type]
    weights = {name: torch.zeros(shape) for name, shape in config.shapes().items()}
    eye, step = torch.eye(6), torch.eye(6).roll(1, dims=1)
    weights |= {"embed.W_E": eye, "unembed.W_U": eye}
    for layer, (first, second) in enumerate(((eye, step), (2 * eye, step @ step))):
        weights[f"blocks.{layer}.attn.W_V"] = torch.stack([first, second])
        weights[f"blocks.{layer}.attn.W_O"] = eye.expand(2, 6, 6).clone()
    network = hooked(config, weights)
    assert isinstance(network, Transformer)
    found = composed_copying(network)
    for first, second, size, by in ((0, 0, 2, 0), (0, 1, 1, 2), (1, 0, 2, 1), (1, 1, 1, 3)):
        torch.testing.assert_close(found[first, second], size * eye.roll(by, dims=1).double())
    with pytest.raises(ValueError, match="two layers"):
        composed_copying(planted())


@pytest.mark.parametrize("norm", ["LN", None])
def test_sources_direct_path_and_biases_add_up_to_the_logits(norm: str | None) -> None:
    config = TransformerConfig(9, 7, 5, normalization_type=norm, attn_biases=True, unembed_bias=True, **SIZES)  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(0)
    drawn = {n: torch.randn(s, generator=generator, dtype=torch.float64) for n, s in config.shapes().items()}
    network = folded(hooked(config, drawn))
    assert isinstance(network, Transformer)
    inputs = torch.randint(9, (20, 5), generator=generator)
    asking = torch.randint(5, (20,), generator=generator)
    parts = attribution_by_source(network, inputs, asking)
    assert parts.shape == (20, 5, 7)
    assert all(not part[at + 1 :].any() for part, at in zip(parts, asking.tolist(), strict=True))
    rows = torch.arange(20)
    with torch.no_grad():
        logits, cache = network.run_with_cache(inputs)
    direct = cache["blocks.0.hook_resid_pre"][rows, asking] + network.blocks[0].attn.b_O
    scale = cache["ln_final.hook_scale"][rows, asking] if norm else torch.ones(20, 1)
    total = parts.sum(dim=1) + direct @ network.W_U / scale + network.unembed.b_U
    torch.testing.assert_close(total.detach(), logits[rows, asking], rtol=0, atol=1e-10)


def test_attribution_by_source_refuses_deeper_networks() -> None:
    config = TransformerConfig(9, 7, 5, n_layers=2, **SIZES)  # type: ignore[arg-type]
    network = hooked(config, initial_weights(config, 0))
    assert isinstance(network, Transformer)
    with pytest.raises(ValueError, match="one attention layer without an MLP"):
        attribution_by_source(network, torch.zeros(2, 5, dtype=torch.long), torch.zeros(2, dtype=torch.long))


def test_the_written_direction_of_numbers_written_in_proportion() -> None:
    generator = torch.Generator().manual_seed(1)
    along, noise = torch.randn(8, generator=generator), 0.01 * torch.randn(11, 8, generator=generator)
    values = torch.arange(-5.0, 6)
    found = written_direction(values.unsqueeze(1) * along + noise)
    assert found.energy > 0.999
    assert float(found.direction @ along.double() / along.norm()) > 0.999
    torch.testing.assert_close(found.coordinates, values.double() * float(along.norm()), rtol=0, atol=0.05)
    spread = written_direction(torch.eye(8))
    assert spread.energy == pytest.approx(1 / 8)


def test_answers_by_position() -> None:
    logits = torch.zeros(2, 4, 3)
    logits[0, 1, 2] = logits[1, 3, 0] = logits[1, 1, 1] = 9.0
    found = answers(logits, torch.tensor([[2, 0], [2, 0]]), (1, 3))
    assert found.correct[:, 0].tolist() == [True, False]
    assert found.correct[1].tolist() == [False, True]
    assert found.accuracy in (0.5, 0.75)  # of equal logits the first may be named
    assert found.whole_accuracy <= 0.5
    assert float(found.sureness[0, 1]) == pytest.approx(1 / 3)
    assert found.table()["position"].tolist() == [1, 3]
    with pytest.raises(ValueError, match="column for each"):
        answers(logits, torch.tensor([[2, 0], [2, 0]]), (1, 4))
