"""Test how well a network answers under other hypotheses about attention, neurons, tokens and operation.

All hypotheses are evaluated on one sample of the inputs; all operations are tested on the same logits. The best of
these hypotheses is then evaluated on many more inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.explain.gradient_alignment import alignment
from modinterp.explain.own_answers import of_own_answers
from modinterp.explain.said import OPPOSITE
from modinterp.explain.subject import Subject
from modinterp.explain.trial import Trial, in_words
from modinterp.measurements.score import Score, margin_variation, score
from modinterp.models import FORMS, REFUSALS, Calling, Config, Network, Wrapped, indexed, read_logits
from modinterp.models.base_config import ACTIVATIONS, USUAL
from modinterp.tasks import Group, ModularArithmetic, Task
from modinterp.tasks.modular import OPERATIONS

SAMPLE = 256  # inputs on which everything is tried
CONFIRMING = 16 * SAMPLE  # on which the best are tried again, where the network is right as it was assumed
ALL = 128 * SAMPLE  # on which they are, at most, where it is wrong: every pair of up to 181 numbers
_RATES = torch.linspace(0, 1, 11).tolist()
_NEAR = (-0.6, -0.2, 0.2, 0.6)  # steps from the best rate so far, which is narrowed down in rounds
_ROUNDS, _CLOSE, _ROUND = 5, 0.05, (0.0, 0.5, 1.0)  # the rates that a training uses are named in place of one so close
_NARROWED, _CONFIRMED = 3, 4  # how many of the best get a rate of their own, and are tried again
_FORWARD_PASS = ("attention_rate", "causal", "act_fn", "joined")


@dataclass(frozen=True)
class Hypothesis:
    """One set of assumptions about a network's forward pass and task, with its logits.

    Attributes:
        said: the arguments in which this hypothesis differs from the first assumptions, by name.
        task: the task under this hypothesis.
        logits: function from rows of the task's inputs to logits. Calling `logits` raises the network's own error if
            the network does not take the inputs.
        rate: attention rate of the hypothesis; None for a network without attention, or with hidden weights.
        at_rate: function from an attention rate to a hypothesis that differs from this hypothesis only in the rate.
        weights: the weights behind the logits, in their autograd graph; empty for a network with hidden weights.
    """

    said: Mapping[str, Any]
    task: Task
    logits: Callable[[Int[Tensor, " row"]], Float[Tensor, "row output"]]
    rate: float | None = None
    at_rate: Callable[[float], Hypothesis] | None = None
    weights: tuple[Tensor, ...] = ()


@dataclass(frozen=True)
class _Tried:
    hypothesis: Hypothesis
    op: str
    score: Score
    margin_variation: float
    rows: int
    alignment: float

    @property
    def said(self) -> dict[str, Any]:
        return ({"op": self.op} if self.op else {}) | dict(self.hypothesis.said)

    @property
    def family(self) -> tuple[tuple[str, Any], ...]:
        """All arguments of the hypothesis except the attention rate, as pairs of name and value."""
        return tuple((name, value) for name, value in self.said.items() if name != "attention_rate")

    @property
    def trial(self) -> Trial:
        return Trial(in_words(self.said), self.score, self.margin_variation, self.rows, self.alignment, self.said)


def trials(found: Subject, is_wrong: bool, is_off: bool = False) -> list[Trial]:
    """Score a network under alternative assumptions, best first, with only the best of several attention rates.

    The best hypothesis has the highest accuracy in whole percent. Among hypotheses of equal accuracy, fewer changed
    arguments win, and then more even margins.

    Args:
        found: the network with its task and assumptions.
        is_wrong: True if the network is mostly wrong under the assumptions, so that several changes are combined. If
            `is_wrong` is False, each hypothesis changes one argument of the forward pass.
        is_off: True if the network misses some answers, so that all nonlinearities are tried.
    """
    tried = [
        x
        for hypothesis in _hypotheses(found, is_wrong, is_off)
        for x in _tried(hypothesis, _rows(hypothesis.task, SAMPLE), is_wrong)
    ]
    best = _best_of_each_family(tried)
    narrowed = [(x, _narrowed(x, is_wrong)) for x in best[:_NARROWED] if is_wrong or not x.family]
    assumed = [id(x) for x, found_best in narrowed if found_best is None]
    best = _best_of_each_family([*(y for _, y in narrowed if y), *(x for x in best if id(x) not in assumed)])
    most = ALL if is_wrong else CONFIRMING
    confirmed = [
        y for x in best[:_CONFIRMED] for y in _tried(x.hypothesis, _rows(x.hypothesis.task, most), is_wrong, x.op)
    ]
    found_best = (*sorted(confirmed, key=_simplest_first), *best[_CONFIRMED:])
    others, own = [x.trial for x in found_best], list(of_own_answers(found)) if is_wrong else []
    is_told = bool(others) and round(others[0].score.accuracy, 2) == 1  # by what is said with fewer words
    return [*others, *own] if is_told else [*own, *others]


def as_assumed(found: Subject) -> Trial:
    """Score a file's network under the original assumptions, on the inputs on which the alternative assumptions are
    scored.

    Losses and spreads of margins can only be compared on the same inputs, because one outlying pair may dominate both.
    """
    task, network = found.run.task, found.run.network
    rows, hypothesis = _rows(task, CONFIRMING), _of_config(network, task, network.cfg, {})
    return replace(
        _judged(hypothesis, "", hypothesis.logits(rows).cpu(), task.labels()[:, 0][rows]).trial, assumption="as assumed"
    )


def _likeliest_first(x: _Tried) -> tuple[float, float]:
    """Sort key: accuracy in whole percent, then alignment of the weights with the gradient, or else the loss."""
    off = x.score.loss if math.isnan(x.alignment) else 1 - x.alignment
    return -round(x.score.accuracy, 2), off if math.isfinite(off) else math.inf


def _simplest_first(x: _Tried) -> tuple[float, int, bool, float]:
    is_rare = x.said.get("act_fn", USUAL[0]) not in USUAL  # such as |x|, which answers where squares and ReLU do
    return -round(x.score.accuracy, 2), len(x.said), is_rare, x.margin_variation


def _best_of_each_family(tried: Sequence[_Tried]) -> list[_Tried]:
    """Of the hypotheses that differ only in attention rate, keep the best; sort these, best first."""
    best: dict[tuple[tuple[str, Any], ...], _Tried] = {}
    for x in sorted(tried, key=lambda x: (_likeliest_first(x)[0], len(x.said), _likeliest_first(x)[1])):
        best.setdefault(x.family, x)
    return sorted(best.values(), key=_simplest_first)


def _rows(task: Task, most: int) -> Int[Tensor, " row"]:
    """Return the indices of `most` random inputs of a task, or of all inputs if the task has no more."""
    return torch.randperm(len(task.inputs()), generator=torch.Generator().manual_seed(0))[:most]


def _answers(task: Task, is_wrong: bool) -> dict[str, Callable[[], Int[Tensor, " input"]]]:
    """Return functions that compute the answers of each operation to score: the task's own, whose key is empty, and if
    `is_wrong` those of other operations or of the swapped order.
    """
    found: dict[str, Callable[[], Tensor]] = {"": partial(_first_answer, task)}
    if is_wrong and type(task) is ModularArithmetic:
        found |= {op: partial(_first_answer, replace(task, op=op)) for op in OPERATIONS if op != task.op}
        found["b - a"] = lambda: -_first_answer(replace(task, op="sub")) % task.p
    if is_wrong and isinstance(task, Group):
        found[OPPOSITE] = lambda: task.table.T.flatten()
    return found


def _first_answer(task: Task) -> Int[Tensor, " input"]:
    return task.labels()[:, 0]


def _tried(
    hypothesis: Hypothesis, rows: Int[Tensor, " row"], is_wrong: bool, only: str | None = None
) -> Iterator[_Tried]:
    """Yield a hypothesis for each operation, without the original assumptions and without inputs that the network
    rejects.

    Args:
        only: the one operation to score, where the others would be scored in vain; None for all operations.
    """
    try:
        with torch.set_grad_enabled(not is_wrong):
            logits = hypothesis.logits(rows).cpu()
    except REFUSALS:
        return
    for op, answers in _answers(hypothesis.task, is_wrong).items():
        if only in (None, op) and (op or hypothesis.said):
            yield _judged(hypothesis, op, logits, answers()[rows])


def _judged(hypothesis: Hypothesis, op: str, logits: Tensor, answers: Tensor) -> _Tried:
    trained = alignment(logits, answers, hypothesis.weights) if logits.requires_grad else math.nan
    logits = logits.detach()
    return _Tried(hypothesis, op, score(logits, answers), margin_variation(logits, answers), len(answers), trained)


def _narrowed(x: _Tried, is_wrong: bool) -> _Tried | None:
    """Return a hypothesis with its most likely attention rate on a sample; None if this is the assumed rate."""
    at_rate, rows = x.hypothesis.at_rate, _rows(x.hypothesis.task, SAMPLE)
    if x.hypothesis.rate is None or at_rate is None:
        return x
    known, step = {x.hypothesis.rate: x}, _RATES[1]
    round_rates = [rate for rate in _ROUND if abs(rate - x.hypothesis.rate) < _RATES[1]]
    known.update((rate, y) for rate in round_rates for y in _tried(at_rate(rate), rows, is_wrong, x.op))
    for _ in range(_ROUNDS):
        best = min(known, key=lambda rate: _likeliest_first(known[rate]))
        for rate in (round(best + step * i, 4) for i in _NEAR):
            if 0 <= rate <= 1:
                known.update((rate, y) for y in _tried(at_rate(rate), rows, is_wrong, x.op))
        step *= 0.4
    best = min(known, key=lambda rate: _likeliest_first(known[rate]))
    accuracy, _ = _likeliest_first(known[best])
    if not x.op and any(abs(rate - best) < _CLOSE and not at_rate(rate).said for rate in _ROUND):
        return None
    as_good = [r for r in _ROUND if abs(r - best) < _CLOSE and r in known and _likeliest_first(known[r])[0] <= accuracy]
    return known[as_good[0] if as_good else best]


def _hypotheses(found: Subject, is_wrong: bool, is_off: bool) -> Iterator[Hypothesis]:
    task, network = found.run.task, found.run.network
    if isinstance(network, Wrapped):
        yield from _callings(network, task) if is_wrong else ()
    elif found.reopened is None or not found.is_file:  # its forward pass is known
        yield from [_of_config(network, task, network.cfg, {})] if is_wrong else []
    else:
        for other in _other_tokens(network, task) if is_wrong else [task]:
            try:
                opened = found.reopened(other)
            except ValueError:  # the shapes do not allow it
                continue
            yield from _forward_passes(opened, other, _differences(task, other), is_wrong, is_off)


def _differences(task: Task, other: Task) -> dict[str, Any]:
    names = ("p", "vocabularies", "equals")
    return {name: new for name in names if (new := getattr(other, name, None)) != getattr(task, name, None)}


def _other_tokens(network: Network, task: Task) -> Iterator[Task]:
    """Yield the task with and without "=", and with one or two vocabularies, as far as the tokens allow."""
    yield task
    if isinstance(task, ModularArithmetic):
        for vocabularies, equals in product((1, 2), (False, True)):
            if isinstance(network, Wrapped):
                moduli = {task.p, network.outputs, network.outputs - 1}
            else:
                moduli = {(network.cfg.d_vocab - equals) // vocabularies}
            for p in sorted(p for p in moduli if p > 1):
                other = ModularArithmetic(p, task.op, equals, vocabularies)
                if other != task and (isinstance(network, Wrapped) or other.d_vocab == network.cfg.d_vocab):
                    yield other


def _callings(network: Wrapped, task: Task) -> Iterator[Hypothesis]:
    """Yield hypotheses that call a user's network with other tokens, or in another input form."""
    calling: Calling = network.cfg.calling
    for other in _other_tokens(network, task):
        yield _of_calling(network, other, calling, _differences(task, other))
    for form in FORMS:
        if form != calling.form:
            yield _of_calling(network, task, replace(calling, form=form), {"inputs": form})


def _of_calling(network: Wrapped, task: Task, calling: Calling, said: Mapping[str, Any]) -> Hypothesis:
    return Hypothesis(said, task, lambda rows: network.called_otherwise(task, calling)(task.inputs()[rows])[:, -1])


def _forward_passes(
    network: Network, task: Task, said: Mapping[str, Any], is_wrong: bool, is_off: bool
) -> Iterator[Hypothesis]:
    """Yield hypotheses with unchanged weights but another attention, nonlinearity, or use of a bias."""
    config: Config = network.cfg
    for changed in dict.fromkeys(_variants(config, is_wrong, ACTIVATIONS if is_wrong or is_off else USUAL)):
        yield _of_config(network, task, changed, said)
        rates = _RATES if changed.act_fn in ("relu", "gelu") else (0.0, 1.0)
        if config.n_heads and (is_wrong or changed.act_fn == config.act_fn):
            others = (replace(changed, attention_rate=rate) for rate in rates)
            yield from (_of_config(network, task, other, said) for other in others if other != changed)


def _variants(config: Config, is_wrong: bool, others: Iterable[str]) -> Iterator[Config]:
    act_fns = [config.act_fn] if config.attn_only else [config.act_fn, *others]
    changes: dict[str, list[Any]] = {"act_fn": act_fns}
    if not config.n_heads:  # what is summed before W_in or after it differs by how often a bias counts
        is_one = config.joined == "concatenated" or not config.mlp_biases
        changes["joined"] = [config.joined] if is_one else ["sum", "sum after W_in"]
    elif config.n_layers > 1:
        changes["causal"] = [True, False]
    for values in product(*changes.values()):
        changed = replace(config, **dict(zip(changes, values, strict=True)))
        if is_wrong or sum(getattr(changed, name) != getattr(config, name) for name in changes) <= 1:
            yield changed


def _of_config(network: Network, task: Task, config: Config, said: Mapping[str, Any]) -> Hypothesis:
    assumed: Config = network.cfg
    weights = dict(network.named_parameters())
    own = {name: new for name in _FORWARD_PASS if (new := getattr(config, name, None)) != getattr(assumed, name, None)}

    def logits(rows: Int[Tensor, " row"]) -> Float[Tensor, "row output"]:
        inputs = task.inputs()[rows].to(network.device)
        return read_logits(config, weights, indexed(config, inputs, inputs[:, -1].unique()))[:, -1]

    def at_rate(rate: float) -> Hypothesis:
        return _of_config(network, task, replace(config, attention_rate=rate), said)

    rate = getattr(config, "attention_rate", None)
    return Hypothesis(dict(said) | own, task, logits, rate, at_rate, tuple(weights.values()))
