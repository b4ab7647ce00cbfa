"""Functions of every kind are called: few inputs at a time, two arguments, other types in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from modinterp.models import Calling, Wrapped
from modinterp.models.calling import evaluating, likeliest_calling
from modinterp.tasks import ModularArithmetic

P = 7
TASK = ModularArithmetic(P)
LOGITS = torch.randn(P, P, P, generator=torch.Generator().manual_seed(0))
WANTED = LOGITS.flatten(0, 1)


def answered(tokens: Tensor) -> Tensor:
    return LOGITS[tokens[:, 0], tokens[:, 1]]


def at_most(size: int, exactly: bool = False) -> Callable[[Tensor], Tensor]:
    def network(tokens: Tensor) -> Tensor:
        if len(tokens) > size or (exactly and len(tokens) != size):
            raise RuntimeError("not so many")
        return answered(tokens)

    return network


def of_float64(x: Tensor) -> Tensor:
    a, b = (x @ torch.arange(P).double()).long().T
    return LOGITS[a, b].double()


def of_numpy(tokens: Any) -> Any:
    if not isinstance(tokens, np.ndarray):
        raise TypeError("an array of numpy, please")
    return LOGITS.numpy()[tokens[:, 0], tokens[:, 1]]


CASES: dict[str, tuple[Callable[..., Any], Calling]] = {
    "20 at most": (at_most(20), Calling(most=16)),
    "8 exactly": (at_most(8, exactly=True), Calling(most=8)),
    "one": (at_most(1), Calling(most=1)),
    "numbers apart": (lambda a, b: LOGITS[a, b], Calling("two arguments")),
    "float64": (of_float64, Calling("one-hot pairs", in_float64=True)),
    "numpy": (of_numpy, Calling(as_numpy=True)),
    "dict": (lambda t: {"loss": torch.tensor(0.0), "scores": answered(t)}, Calling()),
    "named among others": (lambda t: {"hidden": torch.zeros(len(t), 9), "logits": answered(t)}, Calling()),
    "tuple": (lambda t: (torch.tensor(0.0), answered(t)), Calling()),
    "every position": (lambda t: torch.stack([0 * answered(t), answered(t)], dim=1), Calling()),
}


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_function_gives_the_same_logits(case: str) -> None:
    network, wanted = CASES[case]
    assert likeliest_calling(network, TASK.inputs(), P) == wanted
    wrapped = Wrapped(network, TASK)
    torch.testing.assert_close(wrapped(TASK.inputs())[:, 0].float(), WANTED)
    assert str(wanted) in wrapped.cfg.forward_pass


def test_a_module_that_takes_few_at_a_time_is_seen_from_outside() -> None:
    class Few(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(P + 1, P)

        def forward(self, tokens: Tensor) -> Tensor:
            return at_most(10)(tokens) + 0 * self.embed(tokens).sum(dim=1)

    wrapped = Wrapped(Few(), TASK)
    torch.testing.assert_close(wrapped(TASK.inputs())[:, 0], WANTED)
    assert wrapped.cfg.summary == "Few, seen from outside"
    with pytest.raises(ValueError, match="Few accepts only 8 inputs at a time"):
        Wrapped(Few(), TASK, hooks={"hook_embed": "embed"})


def test_what_takes_no_pairs_says_what_it_answered() -> None:
    with pytest.raises(ValueError, match="in none of the known forms; to tokens: expected logits, which are real"):
        Wrapped(lambda tokens: answered(tokens).long(), TASK)
    with pytest.raises(ValueError, match="does not accept all 49 inputs; to tokens: index 6 is out of bounds"):
        Wrapped(lambda tokens: LOGITS[:6][tokens[:, 0], tokens[:, 1]], TASK)
    with pytest.raises(ValueError, match="unknown form of inputs 'words'; known are tokens, "):
        Wrapped(answered, TASK, "words")


def test_modes_are_left_as_they_were() -> None:
    network = nn.Sequential(nn.Dropout(), nn.BatchNorm1d(3)).train()
    network[0].eval()
    with evaluating(network):
        assert not any(m.training for m in network.modules())
    assert [m.training for m in network.modules()] == [True, False, True]
