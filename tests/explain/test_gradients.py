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
from modinterp.measurements import measure
from modinterp.runs import load
from modinterp.runs.store import write_weights
from modinterp.tasks import addition

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


class Stubs(Plain):
    """With the places at which a network is quantised and turned back."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.dequant(self.read(self.relu(self.quant(self.embed(tokens).sum(dim=1)))))


def _static() -> torch.nn.Module:
    network = Stubs().eval()
    network.qconfig = torch.ao.quantization.get_default_qconfig("x86")
    network.embed.qconfig = None
    torch.ao.quantization.prepare(network, inplace=True)
    network(torch.randint(0, P, (50, 3)))
    return torch.ao.quantization.convert(network, inplace=True)


FROZEN: dict[str, Callable[[], torch.nn.Module]] = {
    "dynamic": lambda: torch.ao.quantization.quantize_dynamic(Plain(), {torch.nn.Linear}, torch.qint8),
    "static": _static,
    "TorchScript": lambda: torch.jit.freeze(torch.jit.script(Plain().eval())),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", FROZEN)
def test_a_quantised_or_frozen_module_is_explained(kind: str) -> None:
    assert 0 <= explain(FROZEN[kind](), op="add", p=P, draws=99)["accuracy"] < 0.5


def test_a_module_without_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="the weights are on the device meta"):
        explain(Plain().to("meta"), op="add", p=P)
    with torch.device("meta"):
        network = Plain()
        with pytest.raises(ValueError, match="torch's default device is meta"):
            explain(network, op="add", p=P)
    with pytest.raises(ValueError, match="the weights are on the device meta"):
        explain(network, op="add", p=P)


def test_a_file_is_refused_where_torch_makes_tensors_on_meta(tmp_path: Path) -> None:
    write_weights(tmp_path / "clock.safetensors", planted.clock(P, FREQS), {})
    with torch.device("meta"):
        with pytest.raises(ValueError, match="torch's default device is meta"):
            explain(tmp_path / "clock.safetensors", op="add", p=P)
        with pytest.raises(ValueError, match="torch's default device is meta"):
            measure(load(tmp_path / "clock.safetensors", addition(P)))["accuracy"]


@pytest.mark.filterwarnings("ignore")
def test_a_file_of_tensors_without_plain_numbers_says_what_to_do(tmp_path: Path) -> None:
    weights = planted.clock(P, FREQS)
    for words, change in (
        ("holds tensors on the device meta", lambda w: w.to("meta")),
        ("holds quantised tensors", lambda w: torch.quantize_per_tensor(w, 0.01, 0, torch.qint8)),
    ):
        torch.save({**weights, "embed.W_E": change(weights["embed.W_E"])}, tmp_path / "m.pt")
        with pytest.raises(ValueError, match=words):
            explain(tmp_path / "m.pt", op="add", p=P)
