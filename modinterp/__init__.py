"""Train small networks on algorithmic tasks and take them apart until the algorithm inside is measured.

The package is a library, together with sources that use the library. Data flow from left to right, and a package
imports only packages to its left:

    tasks -> models -> activations -> training -> runs -> analyses -> bases -> interventions -> measurements ->
    claims -> figures -> formulas -> pages -> sources -> explain -> reproduce -> compare -> distill -> publish ->
    commands

A task defines inputs, a model maps inputs to logits, and training makes a run. Analyses turn the activations of a run
into small results, which the measurements of the run store. Claims compare measured results with the statements of a
source, and figures draw the results. A source is a paper together with its training runs, claims and figures, in one
folder. `reproduce` measures a source, and `explain` measures a network of yours::

    import modinterp as mi
    run = mi.load("SOURCE/RUN-0")                      # task, model, history, snapshots; prints as one line
    m = mi.measure(run)                                # each number is computed at first use, and then kept
    m.keys.freqs, m.readoff.table(), m.phases          # key frequencies, neurons along waves, the phases of training
    mi.figures.readout.readoff(m.readoff)              # a plotly figure
    mi.source("SOURCE")["CLAIM"].check(run)            # holds: ...
    mi.explain("model.pt", op="add", p=113)            # the algorithm of a file, a module or a function
    mi.compare([run, "model.pt"])                      # several networks side by side
    mi.film(run)                                       # a page with the curves and the film of a training
    mi.distill(run).curve()                            # size and faithfulness of each formula of a network

Names are imported when they are first used, so `import modinterp` takes no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modinterp.lazy import lazy_names

if TYPE_CHECKING:
    from modinterp import activations, analyses, claims, figures, measurements, models, runs, sources, tasks, training
    from modinterp.activations import patching
    from modinterp.compare import compare
    from modinterp.distill import distill
    from modinterp.explain import explain, measure
    from modinterp.pages.watched import film
    from modinterp.runs import TrainedRun, train
    from modinterp.runs.own_run import run
    from modinterp.runs.recorder import record
    from modinterp.sources import load, source

__version__ = "0.1.0"

_HOMES = {
    "TrainedRun": "modinterp.runs",
    "activations": "modinterp.activations",
    "analyses": "modinterp.analyses",
    "claims": "modinterp.claims",
    "compare": "modinterp.compare",
    "distill": "modinterp.distill",
    "explain": "modinterp.explain",
    "figures": "modinterp.figures",
    "film": "modinterp.pages.watched",
    "load": "modinterp.sources",
    "measure": "modinterp.explain.measuring",
    "measurements": "modinterp.measurements",
    "models": "modinterp.models",
    "patching": "modinterp.activations.patching",
    "record": "modinterp.runs.recorder",
    "runs": "modinterp.runs",
    "source": "modinterp.sources",
    "run": "modinterp.runs.own_run",
    "sources": "modinterp.sources",
    "tasks": "modinterp.tasks",
    "train": "modinterp.runs",
    "training": "modinterp.training",
}

__all__ = [
    "TrainedRun",
    "activations",
    "analyses",
    "claims",
    "compare",
    "distill",
    "explain",
    "figures",
    "film",
    "load",
    "measure",
    "measurements",
    "models",
    "patching",
    "record",
    "run",
    "runs",
    "source",
    "sources",
    "tasks",
    "train",
    "training",
]


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
