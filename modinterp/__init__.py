"""Train small networks on algorithmic tasks and take them apart until the algorithm inside is measured.

Data and imports go one way, left to right:

    tasks -> models -> activations -> training -> runs -> analyses -> claims -> figures -> reproduce -> explain

A task makes inputs, a model maps them, its activations on all inputs are captured, training makes a run, analyses turn
tensors into small results, claims hold results against what a source says, figures draw results, `reproduce` puts a
source's claims and figures into one table and one page, and `explain` does so for anybody's network::

    import modinterp as mi
    run = mi.load("nanda/mainline-0")         # prints as one line
    grid = run.activations()                  # on all inputs; "post" is [a, b, neuron]
    keys = mi.key_frequencies(run.model.W_L)  # frequencies, norms, how clear the gap is
    table = mi.readoff(grid["post", 0], run.model.W_L, keys.freqs)
    table.table()                             # table 1 of Nanda et al.
    mi.claims.nanda["fig5.left"].check(run)   # holds: ...
    mi.explain("model.pt", op="add", p=113)   # what somebody's network does

Names are imported when they are first used, so that `import modinterp` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modinterp.lazy import lazy_names

if TYPE_CHECKING:
    from modinterp import activations, analyses, claims, figures, models, runs, tasks, training
    from modinterp.activations import logits_with, replaced
    from modinterp.analyses.cosine_sums import logit_fit
    from modinterp.analyses.frequencies import key_frequencies
    from modinterp.analyses.neurons import neuron_fits
    from modinterp.analyses.readout import readoff
    from modinterp.explain.explanation import explanation as explain
    from modinterp.runs import TrainedRun, load, train

__version__ = "0.1.0"

_HOMES = {
    "TrainedRun": "modinterp.runs",
    "activations": "modinterp.activations",
    "analyses": "modinterp.analyses",
    "claims": "modinterp.claims",
    "explain": "modinterp.explain",
    "figures": "modinterp.figures",
    "key_frequencies": "modinterp.analyses.frequencies",
    "load": "modinterp.runs",
    "logit_fit": "modinterp.analyses.cosine_sums",
    "logits_with": "modinterp.activations",
    "models": "modinterp.models",
    "neuron_fits": "modinterp.analyses.neurons",
    "readoff": "modinterp.analyses.readout",
    "replaced": "modinterp.activations",
    "runs": "modinterp.runs",
    "tasks": "modinterp.tasks",
    "train": "modinterp.runs",
    "training": "modinterp.training",
}

__all__ = [
    "TrainedRun",
    "activations",
    "analyses",
    "claims",
    "explain",
    "figures",
    "key_frequencies",
    "load",
    "logit_fit",
    "logits_with",
    "models",
    "neuron_fits",
    "readoff",
    "replaced",
    "runs",
    "tasks",
    "train",
    "training",
]


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
