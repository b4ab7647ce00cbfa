"""The mainline's network and training as people write them in plain PyTorch, eagerly or under torch.compile."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modinterp.training import RunSpec


class PlainTransformer(nn.Module):
    """One layer of attention and an MLP, from torch's own modules; logits at the last position."""

    def __init__(self, d_vocab: int, d_out: int, n_ctx: int, d_model: int, n_heads: int, d_mlp: int):
        super().__init__()
        self.n_heads = n_heads
        self.embed, self.pos = nn.Embedding(d_vocab, d_model), nn.Parameter(torch.randn(n_ctx, d_model) / d_model**0.5)
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model, bias=False), nn.Linear(d_model, d_model, bias=False)
        self.mlp = nn.Sequential(nn.Linear(d_model, d_mlp), nn.ReLU(), nn.Linear(d_mlp, d_model))
        self.unembed = nn.Linear(d_model, d_out, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits `[input, output]` of tokens `[input, pos]`."""
        x = self.embed(tokens) + self.pos
        q, k, v = (y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for y in self.qkv(x).chunk(3, dim=-1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2))
        return self.unembed((x + self.mlp(x))[:, -1])


def plain_epochs(run: RunSpec, device: torch.device, compiled: bool) -> Callable[[int], object]:
    """Epochs of a run in plain PyTorch: all training pairs, loss in float64, torch's fused AdamW."""
    c, task = run.model, run.task
    network = PlainTransformer(c.d_vocab, c.d_vocab_out, task.n_ctx, c.d_model, c.n_heads, c.d_mlp).to(device)
    rows = run.split.train
    inputs, labels = task.inputs()[rows].to(device), task.labels()[rows, 0].to(device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.0, weight_decay=1.0, betas=(0.9, 0.98), fused=True)

    def loss() -> Tensor:
        return F.cross_entropy(network(inputs).double(), labels)

    loss = torch.compile(loss) if compiled else loss

    def epochs(count: int) -> None:
        for _ in range(count):
            loss().backward()
            optimizer.step()
            optimizer.zero_grad()

    return epochs
