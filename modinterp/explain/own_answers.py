"""Find the operation that a network's answers follow, such as 2a + 3b, or the product in another group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations.blocks import INPUTS, joined, row_blocks
from modinterp.activations.capture import LOGITS
from modinterp.explain.subject import Subject
from modinterp.explain.trial import Trial, in_words
from modinterp.measurements.score import margin_variation, score
from modinterp.tasks import Group, ModularArithmetic, RenamedAddition, Renaming
from modinterp.tasks.polynomials import Polynomial, as_polynomial

_MOSTLY = 0.5  # share of the pairs that a form must give the answers of


def of_own_answers(found: Subject) -> Iterator[Trial]:
    """Yield the operations that a network's answers follow, simplest first; yield nothing if the answers follow
    none.
    """
    task, network = found.run.task, found.run.network
    if not isinstance(task, Group | ModularArithmetic) or isinstance(task, RenamedAddition):
        return
    inputs = task.inputs()
    if len(inputs) > INPUTS:  # a forward pass of all would take many times the memory of the logits
        logits = found.run.activations()[LOGITS].flatten(0, -2)
    else:
        with torch.no_grad():
            logits = network(inputs.to(network.device))[:, -1].cpu()
    answers = _given(logits)
    if isinstance(task, ModularArithmetic):
        yield from _form(task, logits, answers) or _sum_of_polynomials(task, logits, answers)
    yield from _group(task, logits, answers)


def _given(logits: Float[Tensor, "input output"]) -> Int[Tensor, " input"]:
    """Return the class of the largest logit of each input, computed in batches."""
    return joined((logits[some].argmax(dim=-1).cpu() for some in row_blocks(logits.shape)), len(logits))


def _form(
    task: ModularArithmetic, logits: Float[Tensor, "input output"], answers: Int[Tensor, " input"]
) -> list[Trial]:
    """Find the form u a + v b + w that most answers follow, from the largest wave of the answers over all pairs."""
    p = task.p
    turns = torch.polar(torch.ones(p, p), 2 * math.pi / p * answers.view(p, p))
    waves = torch.fft.fft2(turns)
    u, v = divmod(int(waves.abs().argmax()), p)
    w = round(float(waves[u, v].angle()) * p / (2 * math.pi)) % p
    if (u, v, w) in ((1, 1, 0), (1, p - 1, 0)):
        return []
    try:
        renaming = Renaming(p, u, v, w)
    except ValueError:  # a factor without an inverse: the answers are a function of fewer numbers
        return []
    return _trial({"op": str(renaming)}, renaming.own_labels(), logits)


def _trial(said: dict[str, str], answers: Int[Tensor, " input"], logits: Float[Tensor, "input output"]) -> list[Trial]:
    """Return a list with the given operation if most answers are its results; otherwise an empty list."""
    found = score(logits, answers)
    if found.accuracy < _MOSTLY:
        return []
    return [Trial(in_words(said), found, margin_variation(logits, answers), len(answers), said=said)]


def _sum_of_polynomials(
    task: ModularArithmetic, logits: Float[Tensor, "input output"], answers: Int[Tensor, " input"]
) -> list[Trial]:
    """Return the polynomial f(a) + g(b) of degree at most 3 that most answers follow; empty if there is none."""
    answers = answers.view(task.p, task.p)
    of_a = ((answers - answers[:1]) % task.p).mode(dim=1).values
    of_b = ((answers - of_a[:, None]) % task.p).mode(dim=0).values
    fits = [as_polynomial(values, task.p) for values in (of_a, of_b)]
    terms: dict[tuple[int, int], int] = {}
    for fit, powers in zip(fits, ((1, 0), (0, 1)), strict=True):
        if fit is None:
            return []
        for power, c in enumerate(fit):
            key = (powers[0] * power, powers[1] * power)
            terms[key] = (terms.get(key, 0) + c + task.p // 2) % task.p - task.p // 2
    found = Polynomial({powers: c for powers, c in terms.items() if c})
    if not any(a or b for a, b in found.terms):
        return []
    said = {"op": str(found)}
    return _trial(said, replace(task, op=said["op"]).answers(), logits)


def _group(task: Group | ModularArithmetic, logits: Tensor, answers: Int[Tensor, " input"]) -> Iterator[Trial]:
    """Yield another group, or the addition of relabelled numbers, if its results are the network's answers."""
    try:
        Group.of_table(answers.view(task.grid).tolist())
    except ValueError:
        return
    said = "" if isinstance(task, Group) else "op=group, "
    words = f"{said}group=answers, since the network's answers form the table of a group"
    if isinstance(task, Group) and task.is_named and not task.elements:
        words += f" (or {task.group} with its elements in another order, which --elements FILE can give)"
    arguments = {"op": "group", "group": "answers"}
    yield Trial(words, score(logits, answers), margin_variation(logits, answers), len(answers), said=arguments)
