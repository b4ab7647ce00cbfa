"""Where gradients are not to be had, what needs them is absent with that reason, and the rest is measured."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
import torch
from explain import planted

from modinterp.explain import explain
from modinterp.explain.labels import FOURIER
from modinterp.runs.store import write_weights

P, FREQS = 23, (3, 7, 10)


class Adds(torch.nn.Module):
    """An embedding, and the logits of an ideal clock."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(P, 2 * len(FREQS))
        self.embed.weight.data = planted.circles(P, FREQS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        a, b = self.embed(tokens[:, :2]).unflatten(2, (-1, 2)).unbind(dim=1)
        cos = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
        sin = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
        return 9 * torch.cat([cos, sin], dim=1) @ self.read

    @property
    def read(self) -> torch.Tensor:
        circles = self.embed.weight.detach().unflatten(1, (-1, 2))
        return torch.cat([circles[..., 0], circles[..., 1]], dim=1).T


class Detached(Adds):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return super().forward(tokens).detach()


class WithoutGrad(Adds):
    @torch.no_grad()
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return super().forward(tokens)


@pytest.mark.parametrize("mode", [nullcontext, torch.no_grad, torch.inference_mode])
def test_a_file_is_explained_in_any_mode(mode: Callable[[], AbstractContextManager], tmp_path: Path) -> None:
    write_weights(tmp_path / "clock.safetensors", planted.clock(P, FREQS), {})
    with mode():
        x = explain(tmp_path / "clock.safetensors", op="add", p=P, draws=99)
    assert x.verdict.label == FOURIER
    assert -1 <= x["gradient_symmetricity"] <= 1


@pytest.mark.parametrize("kind", [Adds, Detached, WithoutGrad])
@pytest.mark.parametrize("mode", [nullcontext, torch.no_grad, torch.inference_mode])
def test_a_module_is_explained_in_any_mode(kind: type[Adds], mode: Callable[[], AbstractContextManager]) -> None:
    network = kind()
    with mode():
        x = explain(network, op="add", p=P, draws=99, hooks={"hook_embed": "embed"})
    assert x["accuracy"] == 1
    assert x["logit_fve"] == pytest.approx(1)
    found = x.row("gradient_symmetricity")
    assert (found.value is None) == (kind is not Adds), found
    assert found.value is not None or found.note


class Writes(Adds):
    """Writes into its tokens, before and after it reads them."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        tokens.clamp_(max=P - 1)
        logits = super().forward(tokens)
        tokens += 1000
        return logits


class Plain(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.relu, self.read = torch.nn.Embedding(P + 1, 8), torch.nn.ReLU(), torch.nn.Linear(8, P)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.read(self.relu(self.embed(tokens).sum(dim=1)))


def test_a_module_that_writes_into_its_tokens_is_explained() -> None:
    assert explain(Writes(), op="add", p=P, draws=99)["accuracy"] == 1


@pytest.mark.parametrize("kind", [Adds, Plain])
def test_a_module_made_in_inference_mode_is_explained(kind: type[torch.nn.Module]) -> None:
    with torch.inference_mode():
        network = kind()
    assert explain(network, op="add", p=P, draws=99).row("gradient_symmetricity").value is not None
    assert next(network.parameters()).is_inference(), "it is left as it was"


@pytest.mark.filterwarnings("ignore")
def test_a_quantised_module_is_explained() -> None:
    network = torch.ao.quantization.quantize_dynamic(Plain(), {torch.nn.Linear}, torch.qint8)
    assert 0 <= explain(network, op="add", p=P, draws=99)["accuracy"] < 0.5


def test_a_module_without_numbers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="the weights are on the device meta"):
        explain(Plain().to("meta"), op="add", p=P)
    monkeypatch.setattr(torch, "get_default_device", lambda: torch.device("meta"))
    with pytest.raises(ValueError, match="torch makes tensors on meta"):
        explain(Plain(), op="add", p=P)
