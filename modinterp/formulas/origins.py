"""Find the heads that make the products of waves that neurons read, by fixing each head's attention."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pandas as pd

from modinterp.activations import activations
from modinterp.activations.intervene import replaced
from modinterp.formulas.reading import NeuronReading, along_b, amplitudes, turned_b
from modinterp.formulas.waves import TERMS
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.network import NoSuchPart

KINDS = {"single": ("single",), "twice the frequency": ("double",), "products": ("sum", "difference")}


def origins(m: CyclicMeasurements, r: NeuronReading) -> pd.DataFrame:
    """Return the mean square of the waves that neurons read, by kind, with each head's attention fixed at its mean.

    Use `origins` to see which head makes the products in a formula. If the attention does not depend on the pair,
    neurons read sums of a function of a and a function of b, without products.

    Args:
        r: the data from which the formulas of the network are written.
    Returns:
        table with one row for the network, one for each head, and one for all heads. The columns are `held` (the heads
        with fixed attention), and the mean squares of waves of a and b (`single`), of `twice the frequency`, and of a +
        b and a - b (`products`).
    Raises:
        NoSuchPart: the network has no attention, or has neurons in several layers.
    """
    if not m.has_attention or m.n_layers != 1:
        raise NoSuchPart(f"{m.name} does not have all its heads in one layer, so attention cannot be held fixed")
    name, pre = f"{m.last_block}.attn.hook_pattern", f"{m.last_block}.mlp.hook_pre"
    pattern, model = m.grid[name], m.model.in_float64()
    heads = pattern.shape[2]
    rows = [{"held": "nothing", **_energies(r, r.pre)}]
    for label, some in [*((f"head {head}", [head]) for head in range(heads)), ("all heads", list(range(heads)))]:
        held = pattern.clone()
        held[:, :, some] = pattern[:, :, some].mean(dim=(0, 1), keepdim=True)
        with replaced(model, {name: held}):
            found = activations(model, m.task, [pre], precise=False)[pre]
        fields = m.basis.arranged(found).double().cpu().numpy()
        rows.append({"held": label, **_energies(r, turned_b(fields, m.sign))})
    return pd.DataFrame(rows)


def _energies(r: NeuronReading, fields: np.ndarray) -> dict[str, float]:
    found, sums = dict.fromkeys(KINDS, 0.0), cache(partial(along_b, fields, r.p))
    for freq, neurons in r.members():
        for kind, terms in KINDS.items():
            for multiples in (pair for term in terms for pair in TERMS[term]):
                z = amplitudes(sums, r.p, freq, multiples)[neurons]
                found[kind] += float((np.abs(z) ** 2).sum() / 2 / fields.shape[-1])
    return found
