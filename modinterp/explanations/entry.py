"""The function behind `modinterp.explain` and the command: from anybody's network to its explanation."""

from __future__ import annotations

from pathlib import Path

from modinterp.explanations import sections
from modinterp.explanations.explanation import Explanation
from modinterp.explanations.measurements import StrangerMeasurements
from modinterp.explanations.subject import subject
from modinterp.explanations.verdict import FEWEST_DRAWS, verdict
from modinterp.runs import TrainedRun


def explain(
    network: TrainedRun | str | Path,
    op: str | None = None,
    p: int | None = None,
    *,
    act_fn: str = "relu",
    device: str = "cpu",
    root: str | Path | None = None,
    draws: int = 199,
    out: str | Path | None = None,
) -> Explanation:
    """Explain anybody's network over pairs (a, b) that was trained on a + b or a - b mod p.

    >>> import modinterp as mi
    >>> mi.explain("model.pt", op="add", p=97).verdict.label    # doctest: +SKIP
    'Fourier multiplication'

    Args:
        network: a run, the name of a run such as `SOURCE/RUN`, or a `.safetensors`, `.pt` or `.pth` file.
        op: `add` (the default for a file) or `sub`; a run knows.
        p: the modulus; by default taken from the shapes of a file. A run knows.
        act_fn: for a file, the nonlinearity of its neurons: `relu`, `gelu` or `none`.
        device: where the network runs.
        root: folder to look for a named run in; `checkpoints/` by default.
        draws: how many matrices are drawn for each null of the spectrum, 99 or more.
        out: folder to write the page, the table and the JSON into; nothing is written by default.
    Raises:
        FileNotFoundError: there is no such run or file.
        OSError: the folder `out` cannot be written.
        ValueError: a file that is damaged or would run code, a layout that is not known, an operation, a modulus or a
            shape that contradicts the others; a run without its weights; so few draws that no p-value could be as
            small as a verdict asks for.
    """
    if draws < FEWEST_DRAWS:
        raise ValueError(f"with {draws} draws no p-value can be as small as a verdict asks for; {FEWEST_DRAWS} can")
    run = subject(network, op, p, act_fn, device, root)
    measurements = StrangerMeasurements(run, draws)
    explanation = Explanation(run.name, measurements, tuple(sections.rows(measurements)), verdict(measurements))
    if out is not None:
        from modinterp.explanations.page import write_explanation

        write_explanation(explanation, Path(out))
    return explanation
