"""Write a page that shows the map, spectrum, weights and effect of each neuron, head and frequency of a network."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from modinterp.analyses.circles.circle import plane
from modinterp.explain.criteria import is_explained
from modinterp.files import short_names
from modinterp.measurements import CyclicMeasurements, NetworkMeasurements
from modinterp.measurements.quantity import number_text
from modinterp.pages.html import rendered
from modinterp.runs import NotRecorded

LEVELS, MOST_BYTES = 32, 4 * 2**20  # of grey in a map; of all maps on the page, of at most 5 MiB
SAMPLE = 4096  # pairs on which the effect of every neuron is measured
_DIGITS = 4


@dataclass(frozen=True)
class Part:
    """One neuron, head or frequency in the browser of a network.

    Attributes:
        name: index of the neuron or head, or the frequency.
        text: a sentence that describes the part.
        spectrum: share of the part's variance at each frequency, from frequency 1 on.
        reads: a title, and a list with one number for each input a: how strongly the part reads a.
        writes: a title, and a list with one number for each answer: the part's contribution to the answer's logit.
        change: change of the loss over all pairs when the part is removed; None if unknown. [nats]
        map: value of the part on every pair (a, b).
        points: True if `reads` and `writes` hold points in a plane instead of numbers.
    """

    name: int
    text: str
    spectrum: list[float]
    reads: tuple[str, list]
    writes: tuple[str, list]
    change: float | None
    map: Float[Tensor, "a b"]
    points: bool = False


def can_be_browsed(m: NetworkMeasurements) -> bool:
    """Return True if the browser can show a network: it adds or subtracts, and its activations are accessible."""
    return isinstance(m, CyclicMeasurements) and is_explained(m) and not m.is_output_only


def kinds(m: CyclicMeasurements) -> dict[str, list[Part]]:
    """Map each kind of part (neurons, heads, frequencies) to the parts of a network."""
    found: dict[str, list[Part]] = {}
    for kind, parts in (("neuron", _neurons), ("head", _heads), ("frequency", _frequencies)):
        try:
            found[kind] = list(parts(m))
        except NotRecorded:
            continue
    return {kind: parts for kind, parts in found.items() if parts}


def _neurons(m: CyclicMeasurements) -> Iterator[Part]:
    if not m.has_neurons:
        return
    maps, writes = m.post.permute(2, 0, 1).double().cpu(), m.W_L.detach().double().cpu()
    changes, reads, spectra = _changes_without_neurons(m), _reads(m), _spectra(maps)
    for n, (fraction, freq) in enumerate(zip(m.neurons.fractions.tolist(), m.neurons.freqs.tolist(), strict=True)):
        active = float((maps[n] > 0).double().mean())
        text = f"{fraction:.1%} of its variance at frequency {int(freq)}; above 0 on {active:.0%} of the pairs"
        own = (
            "what the neuron reads of each number: W_E times the neuron's input weights",
            [] if reads is None else _short(reads[:, n]),
        )
        out = ("what the neuron adds to each answer's logit: the neuron's row of W_L", _short(writes[n]))
        yield Part(n, text, spectra[n], own, out, None if changes is None else float(changes[n]), maps[n])


def _reads(m: CyclicMeasurements) -> Float[Tensor, "a neuron"] | None:
    """Return, for each neuron of the last layer, the product of its input weights with each number's embedding."""
    weights = getattr(getattr(m.model.blocks[-1], "mlp", None), "W_in", None) if hasattr(m.model, "blocks") else None
    if weights is None or not m.has_embedding or weights.shape[0] != m.W_E.shape[1]:
        return None
    return (m.W_E.double() @ weights.detach().double()).cpu()


def _changes_without_neurons(m: CyclicMeasurements) -> Float[Tensor, " neuron"] | None:
    """Return the change of the loss [nats] when each neuron is set to its mean; None if W_L does not give neurons'
    effects.
    """
    labels = m.labels.flatten()
    chosen = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))[:SAMPLE].sort().values
    active, right = m.post.flatten(0, 1), labels[chosen]
    logits, moved = m.logits.flatten(0, 1)[chosen].float(), (active.mean(dim=0) - active[chosen]).float()
    before, weights = float(cross_entropy(logits, right)), m.W_L.detach().float()

    def without(n: int) -> Float[Tensor, "pair output"]:
        return logits + moved[:, n, None] * weights[n]

    strongest = int((active.std(dim=0) * m.W_L.norm(dim=1)).argmax())
    true = m.neuron(strongest).without.logits.flatten(0, 1)[chosen].float()
    if not torch.allclose(without(strongest).log_softmax(-1), true.log_softmax(-1), atol=1e-3, rtol=1e-3):
        return None
    return torch.tensor([float(cross_entropy(without(n), right)) - before for n in range(len(weights))])


def _heads(m: CyclicMeasurements) -> Iterator[Part]:
    if not m.has_attention:
        return
    values = m.circles.token_values if m.n_layers == 1 else None
    for n in range(m.n_heads):
        head = m.head(n)
        low, high = float(head.pattern.min()), float(head.pattern.max())
        periodic = f"{head.explained:.1%} of its variance at frequency {head.block}"
        text = f"attention to a from {low:.2f} to {high:.2f}, {periodic}"
        written = [] if values is None else _short((values[n].double() @ m.W_O[n].detach().double()).norm(dim=1))
        change = head.without.ablation.loss - head.without.before["all"].loss
        reads = ("attention to a, mean over b", _short(head.pattern.mean(dim=1)))
        writes = ("norm of the head's output for each attended number", written)
        yield Part(n, text, _spectra(head.pattern[None].double().cpu())[0], reads, writes, change, head.pattern.cpu())


def _frequencies(m: CyclicMeasurements) -> Iterator[Part]:
    losses, logits, before = m.loss_without_each_block.tolist(), m.logits.double().cpu(), m.own_score.loss
    shares = torch.tensor([norm**2 for norm in m.keys.norms], dtype=torch.float64)
    shares = shares / shares.sum().clamp_min(1e-300)
    angles = 2 * torch.pi * torch.arange(logits.shape[-1], dtype=torch.float64) / m.p
    for k in m.basis.all_blocks:
        reads = _in_its_plane(m.W_E, k) if m.has_embedding else []
        text = (
            f"{float(shares[k - 1]):.1%} of the energy of {m.readout_name}{'; a key frequency' if k in m.freqs else ''}"
        )
        yield Part(
            k, text, shares.tolist(), ("the embedding of each number in the plane of this frequency", reads),
            (f"{m.readout_name} for each answer in the plane of this frequency", _in_its_plane(m.readout_matrix.T, k)),
            losses[k - 1] - before, logits @ (k * angles).cos(), points=True,
        )  # fmt: skip


def _in_its_plane(x: Float[Tensor, "element d"], freq: int) -> list:
    """Return the coordinates of vectors in the plane of a frequency; empty for frequency p / 2, which has no sine."""
    return [] if 2 * freq == len(x) else _short(x.double() @ plane(x, freq))


def _spectra(maps: Float[Tensor, "part a b"]) -> list[list[float]]:
    """Return the share of each map's variance in waves of a, of b, of a + b and of a - b, by frequency."""
    p, shares = maps.shape[-1], []
    u, v = (x.minimum(p - x) for x in torch.meshgrid(torch.arange(p), torch.arange(p), indexing="ij"))
    freq = torch.where((u == 0) | (v == 0) | (u == v), torch.maximum(u, v), 0).flatten()  # 0 for all other waves
    for some in maps.split(64):
        power = torch.fft.fft2(some).abs().square().flatten(1)
        power[:, 0] = 0
        whole = power.sum(dim=1, keepdim=True).clamp_min(1e-300)
        of_freq = torch.zeros(len(power), p // 2 + 1, dtype=power.dtype).index_add_(1, freq, power)
        shares += (of_freq[:, 1:] / whole).tolist()
    return shares


def _short(values: Tensor) -> list:
    """Return a nested list of the values, rounded to `_DIGITS` digits of the largest value."""
    x = values.detach().cpu().double().numpy()
    largest = float(np.abs(x).max()) if x.size else 0.0
    return x.round(_DIGITS - 1 - int(np.floor(np.log10(largest)))).tolist() if largest else x.tolist()


def _levels(field: Float[Tensor, "a b"]) -> bytes:
    """Encode a map as one byte per pair, scaled from the map's smallest to its largest value."""
    low, high = field.aminmax()
    scaled = (field - low) / (high - low).clamp_min(1e-300) * (LEVELS - 1)
    return scaled.round().to(torch.uint8).numpy().tobytes()


def _packed_maps(parts: dict[str, list[Part]]) -> tuple[dict[str, list[str]], int]:
    """Return compressed maps by kind, and the number of neurons left out to limit the size of the page."""
    packed: dict[str, list[str]] = {kind: [""] * len(each) for kind, each in parts.items()}
    left, without = MOST_BYTES, 0
    order = [(kind, n) for kind in ("frequency", "head", "neuron") for n in _most_first(parts.get(kind, []))]
    for kind, n in order:
        text = b64encode(gzip.compress(_levels(parts[kind][n].map), 6, mtime=0)).decode()
        if len(text) > left:
            without += 1
        else:
            packed[kind][n], left = text, left - len(text)
    return packed, without


def _most_first(parts: list[Part]) -> list[int]:
    """Return the indices of the parts, sorted by the change of the loss without each part, largest first."""
    return sorted(range(len(parts)), key=lambda n: -abs(parts[n].change or 0.0))


def browser(name: str, m: CyclicMeasurements) -> str:
    """Return an HTML page of all parts of a network: one self-contained document of at most 5 MiB."""
    parts = kinds(m)
    packed, without = _packed_maps(parts)
    data: dict[str, Any] = {
        "p": m.p, "levels": LEVELS, "loss": m.own_score.loss,
        "kinds": {kind: [_plain(part, packed[kind][n]) for n, part in enumerate(each)] for kind, each in parts.items()},
    }  # fmt: skip
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    content = b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()
    counts = {kind: len(each) for kind, each in parts.items()}
    return rendered(
        "modinterp.explain", "browser.html", name=short_names([name])[0], task=m.task.name, counts=counts,
        content=content, without_map=without, loss=number_text(m.own_score.loss),
        sampled=SAMPLE if m.p**2 > SAMPLE else 0,
    )  # fmt: skip


def _plain(part: Part, packed: str) -> dict[str, Any]:
    low, high = map(float, part.map.aminmax())
    return {
        "name": part.name, "text": part.text, "spectrum": [round(x, 4) for x in part.spectrum], "reads": part.reads,
        "writes": part.writes, "change": part.change, "low": low, "high": high, "map": packed, "points": part.points,
    }  # fmt: skip
