"""A formula put into its network one part at a time, by hooks, and what each part costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from modinterp.formulas.faithfulness import faithfulness
from modinterp.formulas.formula import Formula
from modinterp.formulas.group_formula import GroupFormula
from modinterp.formulas.group_reading import GroupReading
from modinterp.formulas.reading import NeuronReading, turned_b
from modinterp.formulas.waves import ACTIVATIONS
from modinterp.measurements import PairMeasurements


def stages(m: PairMeasurements, r: NeuronReading | GroupReading, formula: Formula | GroupFormula) -> pd.DataFrame:
    """What it costs to put each part of a formula into the network: alone, and on top of the parts before it.

    The neurons of each frequency are replaced by a hook at the neurons. What all neurons write, and what passes them
    by, is replaced in the logits, where both are added up. Losses do not add up, since the answers saturate: the last
    row has the sum of what the parts cost alone beside what all cost together.

    Args:
        formula: one rung with neurons.
    Returns:
        one row a part: `accuracy`, `loss` and `kl` alone, the `effect` on the loss alone [nats], and the same after
        all parts so far.
    """
    answers, network = m.labels[:, 0].cpu().numpy(), r.logits.reshape(-1, m.p)

    def row(name: str, alone: np.ndarray, so_far: np.ndarray) -> dict[str, object]:
        one, all_of = (faithfulness(x.reshape(-1, m.p), network, answers) for x in (alone, so_far))
        return {
            "part": name, "accuracy": one.accuracy, "loss": one.loss, "kl": one.kl, "effect": one.loss - whole.loss,
            "accuracy so far": all_of.accuracy, "loss so far": all_of.loss, "kl so far": all_of.kl,
        }  # fmt: skip

    whole = faithfulness(network, network, answers)
    rows = [row("the network", r.logits, r.logits)]
    own, written = r.act, _written(formula, len(r.W_L))
    neurons = own.copy()
    for freq, values in _by_block(formula):
        some = own.copy()
        for members, act in values:
            some[..., members], neurons[..., members] = act, act
        hooked = _with_neurons(m, r.sign, some)
        rows.append(row(f"inputs of the neurons of {m.basis.block} {freq}", hooked, _with_neurons(m, r.sign, neurons)))
    silent = np.setdiff1d(np.arange(len(r.W_L)), np.array([n for x in formula.clusters for n in x.neurons]))
    change = turned_b(own @ (written - r.W_L), r.sign)
    so_far = _with_neurons(m, r.sign, neurons) + turned_b(neurons @ (written - r.W_L), r.sign)
    name = f"what neurons write; {len(silent)} write nothing"
    rows.append(row(name, r.logits + change, so_far))
    passing = replace(r.empty(), path=formula.path).grid() - turned_b(r.passing(), r.sign)
    rows.append(row("what passes the neurons by", r.logits + passing, so_far + passing))
    together = faithfulness((so_far + passing).reshape(-1, m.p), network, answers)
    total = {"part": "sum of the effects, and all parts", "effect": sum(x["effect"] for x in rows),  # type: ignore[misc]
             "accuracy so far": together.accuracy, "loss so far": together.loss, "kl so far": together.kl}  # fmt: skip
    return pd.DataFrame([*rows, total])


def _by_block(formula: Formula | GroupFormula) -> Iterator[tuple[int | str, list[tuple[list[int], np.ndarray]]]]:
    """Each frequency or representation with its neurons and their activations, `[a, sign b, neuron]`."""
    x, act = np.arange(formula.p), ACTIVATIONS[formula.act_fn]
    found: dict[int | str, list[tuple[list[int], np.ndarray]]] = {}
    for cluster in formula.clusters:
        found.setdefault(cluster.freq, []).append(
            (list(cluster.neurons), act(cluster.input(x[:, None], x[None], formula.p)))
        )
    yield from found.items()


def _written(formula: Formula | GroupFormula, neurons: int) -> np.ndarray:
    """What each neuron of the network writes by a formula, `[neuron, class]`; zeros for those that it leaves out."""
    written = np.zeros((neurons, formula.p))
    for cluster in formula.clusters:
        written[list(cluster.neurons)] = cluster.output(formula.p)
    return written


def _with_neurons(m: PairMeasurements, sign: int, act: np.ndarray) -> np.ndarray:
    """Logits of the network with other neurons, by a hook, `[a, b, class]`."""
    name = f"{m.last_block}.mlp.hook_post"
    arranged = torch.from_numpy(turned_b(act, sign))
    values: Mapping[str, Tensor] = {name: m.basis.put_back(arranged, m.grid[name])}
    return m.logits_after(dict(values)).double().cpu().numpy()
