"""Explain a user's network; this module holds the function `modinterp.explain`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from modinterp.activations.blocks import not_finite
from modinterp.arguments import check
from modinterp.cluster.cores import within_free_cores
from modinterp.explain.criteria import is_explained
from modinterp.explain.explanation import Explanation
from modinterp.explain.of_positions import explained
from modinterp.explain.subject import Said, subject
from modinterp.explain.trial import Trial
from modinterp.explain.verdict import is_periodic, verdict
from modinterp.explain.warning import warning
from modinterp.measurements import PositionMeasurements
from modinterp.measurements import measure as measurements_of
from modinterp.measurements.cyclic import FEWEST_DRAWS
from modinterp.runs import TrainedRun
from modinterp.runs.own_run import Rows
from modinterp.tasks import Task

MOST_DRAWS = 100_000  # of a null, which take minutes


def explain(
    network: TrainedRun | str | Path | Mapping[str, Tensor] | Callable[..., Any],
    op: str | None = None,
    p: int | None = None,
    *,
    task: Task | None = None,
    equals: bool | None = None,
    vocabularies: int | None = None,
    act_fn: str | None = None,
    attention_rate: float | None = None,
    causal: bool | None = None,
    joined: str | None = None,
    inputs: str | None = None,
    tokens: str | Callable[..., Any] | None = None,
    hooks: Mapping[str, str] | None = None,
    group: str | Path | None = None,
    elements: Sequence[str] = (),
    train: Rows | None = None,
    device: str = "cpu",
    root: str | Path | None = None,
    draws: int = 199,
    out: str | Path | None = None,
) -> Explanation:
    """Explain a network over pairs (a, b) or on sequences, by its own forward pass.

    Modules and functions are called without any change. Embedding, attention and neurons of a module are measured if
    modinterp finds them, or if `hooks` names them. A file does not hold its whole forward pass: arguments state the
    missing parts, and omitted arguments get usual values. If other assumptions fit better, a warning names these, and
    `Explanation.instead` explains the network under these.

    >>> import modinterp as mi
    >>> mi.explain("model.pt", op="add", p=97).verdict.label    # doctest: +SKIP
    'Fourier multiplication'

    Args:
        network: a run; the name of a run, such as `SOURCE/RUN`; a file of weights (`.safetensors`, `.pt`, `.pth`,
            `.ckpt`, `.bin`); a state dict; or a module or function from tokens `[batch, pos]`, or one-hot pairs, to
            logits.
        op: the operation: a key of `modinterp.tasks.modular.OPERATIONS`, such as `add` (the default) or `sub`; or a
            form such as `2a + 3b`, `a^2 + b` or `a + b + c`. For groups, `op` is `group` for the product a b, or `b a`.
            For sequences, `op` is `max`, `min`, `median`, `sort`, `digits`, `cumsum`, `palindrome` or `unique`.
        p: the modulus; by default taken from the task of a run, or from the shapes in a file.
        task: any task in place of `op` and `p`, such as a `Group` or `Ordering("max", n=5, limit=64)`.
        equals: True if the token "=" follows the numbers; by default inferred from shapes, or by calling the network.
        vocabularies: 1 if a and b share their tokens; 2 if the token of b is p + b.
        act_fn: for a file, the nonlinearity of the neurons, a key of `modinterp.models.ACTIVATIONS`; ReLU by default.
        attention_rate, causal, joined: for a file, options of the forward pass; see `modinterp.models.ForwardPass`.
        inputs: for a module or function, the form of its input, a key of `modinterp.models.FORMS`.
        tokens: for a module or function, the layout of its tokens, such as `a op b =` or `a+1 b+1 -> c+1`, or a
            function of a and b, `[batch]` each. By default the usual layouts of tokens are tried.
        hooks: for a module, map from modinterp's hook names to the module's hook points or submodules, such as
            `{"hook_embed": "tok"}` or `{"blocks.0.mlp.hook_post": "fc2:input"}`.
        group: name of a group, such as `S5`, `D59`, `A5` or `C2 x S3`, or a CSV file with its multiplication table. By
            default with op `group`, and with `answers`, the group is found from the network's own answers.
        elements: the elements of a named group, in the order of their tokens; by default as in `Group`.
        train: training inputs of the network, as indices into the task's inputs or as a mask; not needed for a run.
        device: device on which the network runs, such as `cpu`.
        root: folder in which to look for a named run.
        draws: number of random matrices for each null distribution of the spectrum, 99 or more.
        out: folder for the page, the table and the JSON; by default nothing is written.
    Raises:
        FileNotFoundError: no run or file of that name exists.
        OSError: the folder `out` cannot be written.
        ValueError: the file is damaged, would run code or has an unknown layout; operation, modulus and shapes
            contradict each other; the run has no weights; logits are missing or not finite; `draws` is out of range.
    """
    for name, given, kind in (("draws", draws, int), ("p", p, int | None)):
        check(name, given, kind)
    if draws < FEWEST_DRAWS:
        raise ValueError(f"{draws} draws give no p-value that is small enough; give {FEWEST_DRAWS} draws or more")
    if draws > MOST_DRAWS:
        raise ValueError(f"draws must be at most {MOST_DRAWS:,}, got {draws:,}")
    said = Said(op, p, task, equals, vocabularies, act_fn, attention_rate, causal, joined, inputs, tokens, hooks or {},
                None if group is None else str(group), tuple(elements), train)  # fmt: skip
    with within_free_cores():
        return _written(_explained(network, said, device, root, draws), out)


def _written(explanation: Explanation, out: str | Path | None) -> Explanation:
    if out is not None:
        from modinterp.explain.page import write_explanation

        write_explanation(explanation, Path(out))
    return explanation


@torch.inference_mode(False)
@torch.enable_grad()
def _explained(
    network: Any, said: Said, device: str, root: str | Path | None, draws: int, is_other: bool = False
) -> Explanation:
    """Explain a network, with autograd enabled, since some numbers are gradients.

    Args:
        is_other: True if the network was explained before, and these assumptions fit better than the first.
    """
    found = subject(network, said, device, root)
    m = measurements_of(found.run, draws=draws)
    if isinstance(m, PositionMeasurements):
        return explained(found, m)
    if broken := not_finite(m.all_logits):
        raise ValueError(
            f"{found.run.name} gives logits that are not finite for {broken:,} of {len(m.all_logits):,} inputs"
        )
    remarks = warning(found, m, is_periodic(m))
    assumed = "; ".join(filter(None, (found.assumed, remarks.remark)))
    rows = tuple(m.readings()) if is_explained(m) else tuple(m.readings("task"))
    explanation = Explanation(found.run.name, m, rows, verdict(m, remarks.warning), assumed, remarks.warning)
    if remarks.warning is not None and remarks.warning.explains and not is_other:
        explanation.instead = _instead(network, said, remarks.warning.trials[0], device, root, draws)
    return explanation


def _instead(
    network: Any, said: Said, trial: Trial, device: str, root: str | Path | None, draws: int
) -> tuple[str, Explanation] | None:
    """Return arguments that fit a network better, as text, and the explanation with these arguments; None if none fit
    better.
    """
    try:
        other = _explained(network, replace(said, **trial.said), device, root, draws, is_other=True)
    except ValueError:  # such as one that asks for another shape of the weights
        return None
    return trial.typed, other
