"""Define the hyper-parameters that Syrkis & Søgaard 2024 (MIIII) searched (table 1), and the training that each choice
means.
"""

from __future__ import annotations

from dataclasses import replace

from modinterp.runs.search import Choice, Question, Space
from modinterp.sources.miiii.runs import RECIPE, network
from modinterp.tasks import PrimeRemainders
from modinterp.training import RunSpec


def _training(choice: Choice, question: Question) -> RunSpec:
    """Remainders in base p, learned as in the source's own runs but for what is chosen."""
    task = PrimeRemainders(question.p)
    recipe = replace(
        RECIPE,
        epochs=question.epochs,
        residual_dropout=float(choice["dropout"]),  # a table's numbers are numpy's, which torch takes for float64
        grokfast=float(choice["grokfast"]),
        weight_decay=float(choice["weight_decay"]),
        lr=float(choice["lr"]),
        log_every=min(RECIPE.log_every, question.log_every),
        snapshot_every=question.report_every,
        spectra_every=0,
    )
    return RunSpec(task, network(task, int(choice["d_model"]), int(choice["n_heads"])), recipe, question.seed)


SPACE = Space(
    source="miiii",
    choices={
        "dropout": (0, 1 / 2, 1 / 5, 1 / 10),
        "grokfast": (0, 1 / 2, 2),
        "weight_decay": (0, 1 / 10, 1 / 2, 1),
        "d_model": (128, 256),
        "lr": (3e-4, 1e-4),
        "n_heads": (4, 8),
    },
    labels={
        "dropout": "dropout",
        "grokfast": "Grokfast's λ",
        "weight_decay": "weight decay",
        "d_model": "d_model",
        "lr": "learning rate",
        "n_heads": "heads",
    },
    training=_training,
)
