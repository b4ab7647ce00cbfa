"""Read the heads of a network as waves: scores of a and b, and the values that neurons read through each head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from modinterp.formulas.reading import ALIKE, NeuronReading, along_classes
from modinterp.formulas.softmax_of_waves import Head
from modinterp.formulas.waves import Waves
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.network import NoSuchPart
from modinterp.runs import NotRecorded

OF_ONE = 1e-6  # share of a score's variance that may depend on the other number, in float32 networks
REBUILT = 1e-6  # share of the inputs' variance that heads may miss, when all their scores and values are exact


@dataclass(frozen=True, eq=False)
class HeadReading:
    """The scores and values of a network's heads, each as a function of one number.

    Attributes:
        scores: scores of a and of b minus the score of the last position, `[2, head, residue]`.
        values: input of each neuron from a and from b at full attention, `[2, head, residue, neuron]`.
        last: input of each neuron from the last position at full attention, `[head, neuron]`.
    """

    scores: np.ndarray
    values: np.ndarray
    last: np.ndarray

    @classmethod
    def of(cls, m: CyclicMeasurements, r: NeuronReading) -> HeadReading:
        """Read the heads of a one-layer network with three positions.

        Raises:
            NoSuchPart: the network has another architecture, its scores depend on both numbers, or its neurons have
                other inputs.
        """
        try:
            found = cls._of_weights(m, r)
        except NoSuchPart:
            raise
        except (NotRecorded, AttributeError, KeyError) as error:
            raise NoSuchPart(f"heads and values of {m.name} are not visible") from error
        to_a, to_b, to_last = found.patterns()
        of_a, of_b = found.values.transpose(0, 2, 1, 3)  # [residue, head, neuron]: products of matrices, one a residue
        read = np.moveaxis(to_last, 0, -1) @ found.last + to_a.transpose(1, 2, 0) @ of_a
        read += (to_b.transpose(2, 1, 0) @ of_b).swapaxes(0, 1)
        rest = r.pre - read
        rest = rest - rest.mean(axis=(0, 1))
        if np.square(rest).sum() > REBUILT * np.square(r.pre - r.pre.mean(axis=(0, 1))).sum():
            raise NoSuchPart(f"neurons of {m.name} read more than the values that the heads of one layer mix")
        return found

    @classmethod
    def _of_weights(cls, m: CyclicMeasurements, r: NeuronReading) -> HeadReading:
        if m.n_layers != 1 or not m.has_attention or m.task.n_ctx != 3:
            raise NoSuchPart(f"{m.name} has no heads of one layer over a, b and a last position")
        raw = m.activation("blocks.0.attn.hook_attn_scores").double().cpu().numpy()
        order = np.arange(m.p) * r.sign % m.p
        scores = raw[:, order, :, :2] - raw[:, order, :, 2:]
        of_a, of_b = scores[..., 0].mean(axis=1), scores[..., 1].mean(axis=0)
        off = np.square(scores[..., 0] - of_a[:, None]).sum() + np.square(scores[..., 1] - of_b).sum()
        if off > OF_ONE * np.square(scores - scores.mean(axis=(0, 1))).sum() + 1e-12:
            raise NoSuchPart(f"attention scores of {m.name} depend on both numbers")
        W_V, W_O, W_in = (x.detach().double().cpu().numpy() for x in (m.W_V, m.W_O, m.W_in))
        through = W_V @ W_O @ W_in  # [head, d_model, neuron]
        W_E = m.W_E.double().cpu().numpy()
        names = dict(m.model.named_parameters())
        W_pos = names["pos_embed.W_pos"].detach().double().cpu().numpy() if "pos_embed.W_pos" in names else None
        own = names["embed.W_E"].detach().double().cpu().numpy()[int(m.task.inputs()[0, -1])]
        at = [0.0, 0.0, 0.0] if W_pos is None else list(W_pos)
        values = np.stack([np.einsum("xd,hdn->hxn", W_E + at[0], through),
                           np.einsum("xd,hdn->hxn", W_E[order] + at[1], through)])  # fmt: skip
        return cls(np.stack([of_a.T, of_b.T]), values, np.einsum("d,hdn->hn", own + at[2], through))

    def patterns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the attention of each head to a, to b and to the last position over all pairs, `[head, a, b]` each."""
        of_a, of_b = np.exp(self.scores[0])[:, :, None], np.exp(self.scores[1])[:, None]
        total = of_a + of_b + 1
        return of_a / total, of_b / total, 1 / total

    def heads(self, freqs: tuple[int, ...]) -> tuple[Head, ...]:
        """Return the heads with only the waves of some frequencies in their scores."""
        p, found = self.scores.shape[-1], []
        for of_a, of_b in zip(*self.scores, strict=True):
            first, second = ({k: complex(along_classes(x[None], p, k)[0]) for k in freqs} for x in (of_a, of_b))
            apart = sum(abs(first[k] - second[k]) ** 2 for k in freqs)
            is_alike = apart <= ALIKE * sum(abs(first[k]) ** 2 + abs(second[k]) ** 2 for k in freqs)
            offsets = float(of_a.mean()), float(of_b.mean())
            found.append(Head(offsets, first, None if is_alike else second))
        return tuple(found)

    def inputs(self, r: NeuronReading, freq: int, neurons: np.ndarray) -> dict[str, Waves]:
        """Return the waves of one frequency that some neurons read through each head, with their constants.

        If the values of a and of b have the same wave, they differ by a constant, which is stored as `second of head`.
        """
        found: dict[str, Waves] = {}
        constant = r.pre[..., neurons].mean(axis=(0, 1))
        patterns = self.patterns()
        for h in range(self.scores.shape[1]):
            of_a, of_b = (x[h][:, neurons] for x in self.values)
            z = [along_classes(x.T, r.p, freq) for x in (of_a, of_b)]
            mean_a, mean_b = of_a.mean(axis=0), of_b.mean(axis=0)
            found[f"head {h}"] = Waves.of((z[0] + z[1]) / 2)
            found[f"second of head {h}"] = Waves(mean_b - mean_a)
            found[f"last of head {h}"] = Waves(self.last[h, neurons] - mean_a)
            x = np.arange(r.p)
            wave = np.exp(2j * np.pi * freq * x / r.p)
            mixed = (patterns[0][h] * wave[:, None] + patterns[1][h] * wave).mean()
            constant = constant - ((z[0] + z[1]) / 2 * mixed).real
            constant = constant - patterns[1][h].mean() * (mean_b - mean_a)
            constant = constant - patterns[2][h].mean() * (self.last[h, neurons] - mean_a)
        return {"constant": Waves(constant), **found}
