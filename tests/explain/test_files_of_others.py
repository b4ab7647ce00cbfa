"""Files as other libraries and authors write them: read, or refused for the true reason with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from explain import planted
from torch import Tensor, nn

from modinterp import tasks
from modinterp.explain import explain
from modinterp.explain.labels import DOUBTFUL, FOURIER
from modinterp.models import from_state_dict, to_bridge
from modinterp.models.base_config import ACTIVATIONS
from modinterp.sources import load

P, D, M = 23, 16, 32
WEIGHTS = planted.clock(P, (3, 7))


def random(**shapes: tuple[int, ...]) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return {name.replace("__", "."): torch.randn(shape, generator=generator) for name, shape in shapes.items()}


ONE_LAYER = random(
    embed__W_E=(P + 1, D), pos_embed__W_pos=(3, D), unembed__W_U=(D, P), blocks__0__mlp__W_in=(D, M),
    blocks__0__mlp__b_in=(M,), blocks__0__mlp__W_out=(M, D), blocks__0__mlp__b_out=(D,), blocks__0__attn__W_Q=(2, D, 8),
    blocks__0__attn__W_K=(2, D, 8), blocks__0__attn__W_V=(2, D, 8), blocks__0__attn__W_O=(2, 8, D),
)  # fmt: skip
PAIRS = random(embed__weight=(P, 8), fc1__weight=(M, 16), fc2__weight=(P, M))
MODULE = r"in a script, give the module itself: mi.explain\(module, op=..., p=...\)"
REFUSED: dict[str, tuple[dict[str, Tensor], str]] = {
    "LayerNorm": (ONE_LAYER | random(ln_final__w=(D,), ln_final__b=(D,)), "have a LayerNorm or RMSNorm, .*; " + MODULE),
    "RMSNorm": (ONE_LAYER | random(blocks__0__ln1__w=(D,)), "have a LayerNorm or RMSNorm, .*; " + MODULE),
    "a gate": (ONE_LAYER | random(blocks__0__mlp__W_gate=(D, M)), "have gated neurons, .*; " + MODULE),
    "rotary": (ONE_LAYER | random(blocks__0__attn__rotary_sin=(3, 8)), "have rotary positions, .*; " + MODULE),
    "torch's attention": (PAIRS | random(attn__in_proj_weight=(24, 8)), "come from nn.MultiheadAttention, .*; " + MODULE),
    "attention alone": (
        random(tok_embed__weight=(14, D), pos_embed__weight=(12, D), layers__0__W_Q__weight=(D, D), head__weight=(14, D)),
        "it is not known whether tok_embed is the embedding; the weights are named tok_embed.weight, .*; " + MODULE,
    ),
    "embeddings of other names": (
        random(lembed__weight=(P, 8), rembed__weight=(P, 8), linear__weight=(M, 16), unembed__weight=(P, M)),
        "it is not known whether lembed is the embedding; .*; " + MODULE,
    ),
    "layers side by side": (
        random(embedding__weight=(P, 8), l1r__weight=(M, 8), l1l__weight=(M, 8), l2__weight=(P, M)),
        f"l1l takes 8 numbers, but l1r gives {M}; " + MODULE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_read_is_refused_for_the_true_reason(tmp_path: Path, kind: str) -> None:
    weights, message = REFUSED[kind]
    torch.save(weights, tmp_path / "network.pt")
    with pytest.raises(ValueError, match=message):
        explain(tmp_path / "network.pt", "add", P, draws=99)


def test_a_bridge_says_that_its_heads_are_not_in_its_state_dict(tmp_path: Path) -> None:
    bridge = to_bridge(from_state_dict(WEIGHTS, tasks.addition(P)))
    assert explain(bridge, "add", P, draws=99).verdict.label == FOURIER
    for weights in (bridge.state_dict(), bridge.original_model.state_dict()):  # type: ignore[union-attr,operator]
        torch.save(weights, tmp_path / "network.pt")
        with pytest.raises(
            ValueError, match="from a TransformerBridge, and do not show how many heads the network has; " + MODULE
        ):
            explain(tmp_path / "network.pt", "add", P, draws=99)


@pytest.mark.parametrize("name", ["steps", "bn.num_batches_tracked", "position_ids", "attention_mask"])
def test_counters_and_masks_beside_the_weights_are_left_out(tmp_path: Path, name: str) -> None:
    whole = torch.ones(3, dtype=torch.bool) if name == "attention_mask" else torch.arange(3)
    torch.save(WEIGHTS | {name: whole}, tmp_path / "network.pt")
    assert explain(tmp_path / "network.pt", "add", P, draws=99).verdict.label == FOURIER


def test_a_checkpoint_of_lightning_is_read(tmp_path: Path) -> None:
    weights = {f"net.{name}": w for name, w in WEIGHTS.items()}
    torch.save({"state_dict": weights, "hyper_parameters": {"p": P}, "epoch": 3}, tmp_path / "last.ckpt")
    assert explain(tmp_path / "last.ckpt", "add", P, draws=99).verdict.label == FOURIER


def test_embeddings_that_are_linear_layers_are_read(tmp_path: Path) -> None:
    """Their columns are the vectors of the numbers; see `Linear(p, d)` of one-hot numbers."""
    m, W_in = 4, WEIGHTS["blocks.0.mlp.W_in"]
    circle = planted.circles(P, (3, 7))
    weights = {
        "embed1.weight": circle.T.clone(),
        "embed2.weight": circle.T.clone(),
        "linear1.weight": W_in[m : 3 * m].T.clone(),
        "unembed.weight": (WEIGHTS["blocks.0.mlp.W_out"] @ WEIGHTS["unembed.W_U"]).T.clone(),
    }
    torch.save(weights, tmp_path / "network.pt")
    x = explain(tmp_path / "network.pt", "add", P, draws=99)
    assert (x["accuracy"], x.verdict.label) == (1, FOURIER)


def test_a_program_of_torch_says_what_it_is(tmp_path: Path) -> None:
    network = nn.Sequential(nn.Linear(2 * P, M), nn.ReLU(), nn.Linear(M, P))
    torch.jit.trace(network, torch.zeros(1, 2 * P)).save(tmp_path / "network.pt")  # type: ignore[union-attr]
    with pytest.raises(ValueError, match=r"is a TorchScript program; load it with torch.jit.load and give the module"):
        explain(tmp_path / "network.pt", "add", P)
    loaded = torch.jit.load(tmp_path / "network.pt")
    assert "one-hot pairs in a row" in explain(loaded, "add", P, draws=99).assumed


def test_a_folder_of_transformers_says_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    for opened in (explain, load):
        with pytest.raises(
            ValueError, match=r"is a folder of transformers; load it with .*: mi.explain\(module, ...\)"
        ):
            opened(tmp_path)


@pytest.mark.parametrize("act_fn", ["abs", "silu", "gelu", "square", "softplus"])
def test_other_nonlinearities_are_found_and_explained(tmp_path: Path, act_fn: str) -> None:
    """Neurons f(cos(w a + x) + cos(w b + x)): their part of twice the phase answers."""
    p, freqs, count = 31, (4, 9), 24
    phase = 2 * torch.pi / count * torch.arange(count)
    turn = 2 * torch.pi / p * torch.arange(p)
    size = 2.0
    first = torch.cat([size * (k * turn[:, None] + phase).cos() for k in freqs], dim=1)
    a, b = torch.cartesian_prod(torch.arange(p), torch.arange(p)).T
    hidden = ACTIVATIONS[act_fn](first[a] + first[b])
    wanted = torch.cat([(k * (a + b)[:, None] * 2 * torch.pi / p + 2 * phase).cos() for k in freqs], dim=1)
    sign = torch.sign((hidden * wanted).sum())
    last = torch.cat([(k * turn[:, None] + 2 * phase).cos() for k in freqs], dim=1) * sign
    weights = {"embed.weight": torch.eye(p), "fc1.weight": torch.cat([first, first]).T, "fc2.weight": last}
    torch.save(weights, tmp_path / "network.pt")
    told = explain(tmp_path / "network.pt", "add", p, act_fn=act_fn, draws=99)
    assert told["accuracy"] == 1
    assert told.verdict.label == FOURIER
    x = explain(tmp_path / "network.pt", "add", p, act_fn="none", draws=99)
    assert x.verdict.label == DOUBTFUL
    assert x.instead is not None
    assert x.instead[1]["accuracy"] == 1
    assert x.instead[1].verdict.label == FOURIER
    assert "act_fn=" in x.instead[0]


def test_all_frequencies_of_square_neurons_are_no_table(tmp_path: Path) -> None:
    """The closed form of Gromov 2023 (arXiv 2301.02679): square neurons of one wave each, of every frequency."""
    p, count = 29, 512
    generator = torch.Generator().manual_seed(0)
    k = torch.randint(1, (p + 1) // 2, (count, 1), generator=generator)
    u, v = 2 * torch.pi * torch.rand(2, count, 1, generator=generator)
    turn = 2 * torch.pi / p * torch.arange(p)
    weights = {
        "fc1.weight": torch.cat([(k * turn + u).cos(), (k * turn + v).cos()], dim=1),
        "fc2.weight": 20 * (k * turn + u + v).cos().T / count,
    }
    torch.save(weights, tmp_path / "network.pt")
    x = explain(tmp_path / "network.pt", "add", p, act_fn="square", draws=99)
    assert (x["accuracy"], x.verdict.label, x.verdict.algorithm) == (1, FOURIER, "all frequencies")
