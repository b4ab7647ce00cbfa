"""Replace parts of a network by a formula, one part at a time, and measure the cost of each part."""

from __future__ import annotations

from collections.abc import Iterator
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
    """Return the loss when each part of a formula replaces the same part of the network, alone and after earlier parts.

    If the formula has heads, a hook at the pattern replaces the attention of each head. A hook at the neurons replaces
    the neurons of each frequency. The output of all neurons, and the path around them, are replaced in the logits,
    where both are added. Losses do not add up, because the softmax saturates. The last row of the table compares the
    sum of the single costs with the cost of all parts together.

    Args:
        formula: a formula with neurons.
    Returns:
        table with one row per part: `accuracy`, `loss`, `kl` and `effect` on the loss [nats] for this part alone, and
            the same numbers after all parts so far.
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
    hooks = {}
    for name, alone, hooks in _by_head(m, r, formula):
        rows.append(row(name, _hooked(m, alone), _hooked(m, hooks)))
    neurons = own.copy()
    for freq, values in _by_block(formula):
        some = own.copy()
        for members, act in values:
            some[..., members], neurons[..., members] = act, act
        so_far = _hooked(m, hooks | _neurons(m, r.sign, neurons))
        name = f"inputs of the neurons of {m.basis.block} {freq}"
        rows.append(row(name, _hooked(m, _neurons(m, r.sign, some)), so_far))
    silent = np.setdiff1d(np.arange(len(r.W_L)), np.array([n for x in formula.clusters for n in x.neurons]))
    change = turned_b(own @ (written - r.W_L), r.sign)
    so_far = _hooked(m, hooks | _neurons(m, r.sign, neurons)) + turned_b(neurons @ (written - r.W_L), r.sign)
    name = f"outputs of the neurons; {len(silent)} neurons write nothing"
    rows.append(row(name, r.logits + change, so_far))
    passing = replace(r.empty(), path=formula.path).grid() - turned_b(r.passing(), r.sign)
    every = formula.grid()
    rows.append(row("contribution of the skip around the neurons", r.logits + passing, every))
    together = faithfulness(every.reshape(-1, m.p), network, answers)
    total = {"part": "sum of the effects, and all parts", "effect": sum(x["effect"] for x in rows),  # type: ignore[misc]
             "accuracy so far": together.accuracy, "loss so far": together.loss, "kl so far": together.kl}  # fmt: skip
    return pd.DataFrame([*rows, total])


Hooks = dict[str, Tensor]


def _by_head(
    m: PairMeasurements, r: NeuronReading | GroupReading, formula: Formula | GroupFormula
) -> Iterator[tuple[str, Hooks, Hooks]]:
    """Yield each head's name, the network's attention with this head replaced by the formula, and with all heads so far
    replaced.
    """
    if not isinstance(formula, Formula):
        return
    hook, x = f"{m.last_block}.attn.hook_pattern", np.arange(m.p)
    so_far = m.activation(hook).double().cpu().numpy().copy() if formula.heads else np.zeros(0)
    for number, head in enumerate(formula.heads):
        alone = m.activation(hook).double().cpu().numpy().copy()
        pattern = [turned_b(y, r.sign) for y in head.pattern(x[:, None], x[None], m.p)]
        for grid in (alone, so_far):
            grid[:, :, number] = np.stack(pattern, axis=-1)
        yield f"attention of head {number}", {hook: _put_back(m, hook, alone)}, {hook: _put_back(m, hook, so_far)}


def _by_block(formula: Formula | GroupFormula) -> Iterator[tuple[int | str, list[tuple[list[int], np.ndarray]]]]:
    """Yield each frequency or representation with its neurons and the neurons' activations, `[a, sign b, neuron]`."""
    x, act = np.arange(formula.p), ACTIVATIONS[formula.act_fn]
    found: dict[int | str, list[tuple[list[int], np.ndarray]]] = {}
    for cluster in formula.clusters:
        found.setdefault(cluster.freq, []).append(
            (list(cluster.neurons), act(cluster.input(x[:, None], x[None], formula.p)))
        )
    yield from found.items()


def _written(formula: Formula | GroupFormula, neurons: int) -> np.ndarray:
    """Return the output of each neuron by a formula, `[neuron, class]`; neurons outside the formula have zeros."""
    written = np.zeros((neurons, formula.p))
    for cluster in formula.clusters:
        written[list(cluster.neurons)] = cluster.output(formula.p)
    return written


def _neurons(m: PairMeasurements, sign: int, act: np.ndarray) -> Hooks:
    """Convert neurons `[a, sign b, neuron]` to values for a hook."""
    name = f"{m.last_block}.mlp.hook_post"
    return {name: _put_back(m, name, turned_b(act, sign))}


def _put_back(m: PairMeasurements, hook: str, grid: np.ndarray) -> Tensor:
    return m.basis.put_back(torch.from_numpy(grid), m.grid[hook])


def _hooked(m: PairMeasurements, hooks: Hooks) -> np.ndarray:
    """Return the logits of the network with replaced values at some hooks, `[a, b, class]`."""
    return m.logits_after(dict(hooks)).double().cpu().numpy()
