"""The function behind `modinterp.explain` and the command: from anybody's network to its explanation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from modinterp.arguments import check
from modinterp.explain.criteria import is_explained
from modinterp.explain.explanation import Explanation
from modinterp.explain.subject import Said, subject
from modinterp.explain.verdict import is_periodic, verdict
from modinterp.explain.warning import warning
from modinterp.measurements import measure as measurements_of
from modinterp.measurements.cyclic import FEWEST_DRAWS
from modinterp.runs import TrainedRun
from modinterp.runs.own_run import Rows
from modinterp.tasks import Task

MOST_DRAWS = 100_000  # of a null, which take minutes


def explain(
    network: TrainedRun | str | Path | Callable[..., Any],
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
    hooks: Mapping[str, str] | None = None,
    group: str | Path | None = None,
    elements: Sequence[str] = (),
    train: Rows | None = None,
    device: str = "cpu",
    root: str | Path | None = None,
    draws: int = 199,
    out: str | Path | None = None,
) -> Explanation:
    """Explain anybody's network over pairs (a, b), by its own forward pass.

    A module or function is called as it is. Accuracy, frequencies of the logits and the fit by cosines need nothing
    else; embedding, attention and neurons are measured where they are found or named in `hooks`. A file of weights
    says less: what it leaves open is named here, assumed as usual where it is not, stated, and doubted aloud where
    another assumption fits better.

    >>> import modinterp as mi
    >>> mi.explain("model.pt", op="add", p=97).verdict.label    # doctest: +SKIP
    'Fourier multiplication'
    >>> mi.explain(my_network, op="sub", p=59)                   # doctest: +SKIP

    Args:
        network: a run, the name of a run such as `SOURCE/RUN`, a `.safetensors`, `.pt`, `.pth`, `.ckpt` or `.bin` file,
            or a module or function from tokens `[batch, pos]`, or one-hot pairs, to logits.
        op: a key of `modinterp.tasks.modular.OPERATIONS`, such as `add` (the default) or `sub`, or `add3` for the sum
            of three, or `group` for the product of two elements of a group; a run knows.
        p: the modulus; by default taken from the shapes of a file. A run knows.
        task: in place of op and p, any task with one answer whose inputs form a grid, such as a `Group`.
        equals: whether the token "=" follows; by default as the shapes of a file say, or as the network takes it.
        vocabularies: 2 where b has tokens of its own, p + b.
        act_fn: for a file, the nonlinearity of its neurons, a key of `modinterp.models.ACTIVATIONS`; ReLU by default.
        attention_rate, causal, joined: for a file, how its network computes; see `modinterp.models.ForwardPass`.
        inputs: for a module or function, how it is called, a key of `modinterp.models.FORMS`.
        hooks: for a module, our hook names to its hook points or modules, such as `{"hook_embed": "tok"}` or
            `{"blocks.0.mlp.hook_post": "fc2:input"}`.
        group: name of a group, such as `S5`, `D59`, `A5`, `C2 x S3`, or a CSV file with its multiplication table; by
            default with op `group`, or as `answers`, the group whose table the network's own answers are.
        elements: the elements of a named group, in the order of their tokens; by default as in `Group`.
        train: which of the task's inputs it was trained on, their numbers or a mask; a run knows.
        device, root: where a file or run runs, and the folder to look for a named run in (`checkpoints/`).
        draws: how many matrices are drawn for each null of the spectrum, 99 or more.
        out: folder to write the page, the table and the JSON into; nothing is written by default.
    Raises:
        FileNotFoundError: there is no such run or file.
        OSError: the folder `out` cannot be written.
        ValueError: a file that is damaged or would run code, a layout that is not known, an operation, a modulus or a
            shape that contradicts the others; a run without its weights; a function that takes no pairs, or whose
            logits are not finite; so few draws that no p-value could be small enough, or more than would ever end.
    """
    check("draws", draws, int)
    check("p", p, int | None)
    if draws < FEWEST_DRAWS:
        raise ValueError(f"with {draws} draws no p-value can be as small as a verdict asks for; {FEWEST_DRAWS} can")
    if draws > MOST_DRAWS:
        raise ValueError(f"draws must be at most {MOST_DRAWS:,}, got {draws:,}")
    said = Said(op, p, task, equals, vocabularies, act_fn, attention_rate, causal, joined, inputs, hooks or {},
                None if group is None else str(group), tuple(elements), train)  # fmt: skip
    explanation = _explained(network, said, device, root, draws)
    if out is not None:
        from modinterp.explain.page import write_explanation

        write_explanation(explanation, Path(out))
    return explanation


@torch.inference_mode(False)
@torch.enable_grad()
def _explained(network: Any, said: Said, device: str, root: str | Path | None, draws: int) -> Explanation:
    """The explanation, with gradients on wherever it is asked for: some of its numbers are gradients."""
    found = subject(network, said, device, root)
    m = measurements_of(found.run, draws=draws)
    if broken := int((~m.all_logits.isfinite()).any(dim=1).sum()):
        raise ValueError(
            f"{found.run.name} gives logits that are not finite for {broken:,} of {len(m.all_logits):,} inputs"
        )
    remarks = warning(found, m, is_periodic(m))
    assumed = "; ".join(filter(None, (found.assumed, remarks.remark)))
    rows = tuple(m.readings()) if is_explained(m) else tuple(m.readings("task"))
    return Explanation(found.run.name, m, rows, verdict(m, remarks.warning), assumed, remarks.warning)
