"""Log spectra of activations during training: only the strongest waves of each activation are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Float16, Float32, Int, Int32
from torch import Tensor

from modinterp.activations.capture import at_last_position
from modinterp.models import Network
from modinterp.tasks import Task

NEURONS = 16  # of each layer the first so many are logged
STRONGEST = 32  # waves that are logged of each field
_BATCH = 4096  # inputs in a forward pass
_POST, _PATTERN = "mlp.hook_post", "attn.hook_pattern"
_TENSORS = ("epochs", "waves", "lengths", "energies", "means")


def wave_lengths(fields: Float[Tensor, "*field a b"]) -> Float[Tensor, "*field wave_a wave_b"]:
    """Return the amplitude of a field over (a, b) on each wave cos(2 pi (k_a a / p_a + k_b b / p_b) + phase).

    The result `[k_a, k_b]` has k_a from 0 to p_a - 1 and k_b from 0 to p_b // 2. The frequencies k_a and k_a - p_a are
    equivalent. Each wave counts once, so the squares of the amplitudes add up to the sum of squares of the field. The
    entries (k_a, 0) and (p_a - k_a, 0) belong to the same wave; the second entry is 0.

    >>> a = torch.arange(5.0)
    >>> lengths = wave_lengths(torch.cos(2 * torch.pi * (a[:, None] - 2 * a) / 5))
    >>> divmod(int(lengths.argmax()), lengths.shape[1])  # 4 is -1, and (-1, 2) the same wave as (1, -2)
    (4, 2)
    """
    p_a, p_b = fields.shape[-2:]
    k_a, k_b = torch.arange(p_a, device=fields.device)[:, None], torch.arange(p_b // 2 + 1, device=fields.device)
    minus_a, minus_b = -k_a % p_a, -k_b % p_b
    is_real = (k_a == minus_a) & (k_b == minus_b)
    is_second = (k_b == minus_b) & (k_a > minus_a)
    weight = torch.where(is_real, 1, 2).to(fields.dtype).sqrt().masked_fill(is_second, 0.0)
    return torch.fft.rfft2(fields, norm="ortho").abs() * weight


@dataclass(frozen=True)
class Spectra:
    """The strongest waves of some activations over a grid of inputs, at some epochs of a training.

    Attributes:
        names: names of the fields, `blocks.0.mlp.hook_post[3]` for a neuron and `blocks.0.attn.hook_pattern[2, 0]` for
            the attention of head 2 to position 0, both at the last position.
        grid: number of values of a, and number of values of b.
        epochs: the epochs of the entries.
        waves: the strongest waves of each field, strongest first. A wave is stored as its flat index in `wave_lengths`,
            `k_a * (p_b // 2 + 1) + k_b`.
        lengths: the amplitudes of the stored waves, as in `wave_lengths`.
        energies: for each field, the sum of squared deviations from its mean.
        means: the mean of each field.
    """

    names: tuple[str, ...]
    grid: tuple[int, int]
    epochs: Int[Tensor, " step"]
    waves: Int32[Tensor, "step field component"]
    lengths: Float16[Tensor, "step field component"]
    energies: Float32[Tensor, "step field"]
    means: Float32[Tensor, "step field"]

    def __len__(self) -> int:
        return len(self.epochs)

    def full(self) -> Float[Tensor, "step field wave_a wave_b"]:
        """Return the amplitudes of all waves as in `wave_lengths`, in float32; waves that were not logged are 0."""
        shape = (*self.waves.shape[:2], self.grid[0], self.grid[1] // 2 + 1)
        zeros = torch.zeros(*shape[:2], shape[2] * shape[3])
        return zeros.scatter(2, self.waves.long(), self.lengths.float()).view(shape)

    def share_kept(self) -> Float[Tensor, "step field"]:
        """Return the share of each field's energy that its logged waves hold; NaN for a constant field."""
        return self.lengths.double().square().sum(dim=2) / self.energies.double()

    def before(self, epoch: int) -> Spectra:
        """Return the part of the log before an epoch."""
        earlier = self.epochs < epoch
        return Spectra(self.names, self.grid, *(x[earlier] for x in self._tensors().values()))

    def then(self, later: Spectra) -> Spectra:
        """Return this log up to the start of a later log, followed by the later log.

        Raises:
            ValueError: the later log has other fields.
        """
        if (self.names, self.grid) != (later.names, later.grid):
            here, there = (f"{len(s.names)} fields over {s.grid}" for s in (self, later))
            raise ValueError(f"the spectra of {there} cannot continue those of {here}")
        earlier = self.before(int(later.epochs.min()))._tensors().values()
        return Spectra(self.names, self.grid, *map(torch.cat, zip(earlier, later._tensors().values(), strict=True)))

    def _tensors(self) -> dict[str, Tensor]:
        return {name: getattr(self, name) for name in _TENSORS}

    def packed(self) -> tuple[dict[str, Tensor], dict[str, str]]:
        """Return the log as named tensors and a description, which `unpacked` reads; equal logs give equal files."""
        return self._tensors(), {"of": json.dumps({"grid": self.grid, "names": self.names})}

    @classmethod
    def unpacked(cls, tensors: Mapping[str, Tensor], description: Mapping[str, str]) -> Spectra:
        """Rebuild spectra from the tensors and the description that `packed` returned.

        Raises:
            KeyError: a tensor or the description is missing.
        """
        fields = json.loads(description["of"])
        return cls(tuple(fields["names"]), tuple(fields["grid"]), *(tensors[name] for name in _TENSORS))


def most_bytes(steps: int, fields: int) -> int:
    """Return an upper bound on the size of a log on disk [bytes].

    Args:
        steps: number of epochs at which spectra are logged.
        fields: number of logged fields, such as neurons.
    """
    return steps * (8 + fields * (6 * STRONGEST + 8)) + 100 * fields + 2000


@torch.no_grad()
def spectra(network: Network, task: Task, epoch: int) -> Spectra:
    """Return the spectra of the first neurons of each layer and of every head's attention, over all inputs, in float32.

    The attention of a head to the last position is left out: it is one minus the attention to the other positions.

    Raises:
        ValueError: the task's inputs form no grid of two numbers.
    """
    if task.grid is None or len(task.grid) != 2:
        raise ValueError(f"the inputs of {task.name} do not form a grid of two numbers")
    grid, by_name = (task.grid[0], task.grid[1]), _fields(network, task)
    fields = torch.stack([x.float() for x in by_name.values()]).unflatten(1, grid)
    lengths = wave_lengths(fields).flatten(1)
    means, lengths[:, 0] = fields.mean(dim=(1, 2)), 0
    strongest = lengths.topk(min(STRONGEST, lengths.shape[1]), dim=1)
    logged: dict[str, Any] = {
        "waves": strongest.indices.int(),
        "lengths": strongest.values.clamp(max=torch.finfo(torch.float16).max).half(),
        "energies": lengths.square().sum(dim=1),
        "means": means,
    }
    return Spectra(tuple(by_name), grid, torch.tensor([epoch]), **{name: x[None].cpu() for name, x in logged.items()})


def _fields(network: Network, task: Task) -> dict[str, Float[Tensor, " input"]]:
    """Return named scalar activations at the last position, one value for each input."""
    parts: dict[str, list[Tensor]] = {}
    for inputs in task.inputs().to(network.device).split(_BATCH):
        _, cache = network.run_with_cache(inputs, names_filter=lambda name: name.endswith((_POST, _PATTERN)))
        for name, x in cache.cache_dict.items():
            last = at_last_position(name, x)
            parts.setdefault(name, []).append(last[:, :NEURONS] if name.endswith(_POST) else last[..., :-1])
    joined = {name: torch.cat(part) for name, part in parts.items()}
    return {
        f"{name}{list(place)}": x[(slice(None), *place)]
        for name, x in joined.items()
        for place in (tuple(map(int, i)) for i in torch.ones(x.shape[1:]).nonzero())
    }
