"""Figures and tables of appendices C.2.2, C.2.3 and D of Nanda et al. 2023, drawn from those runs that are there."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import torch

from modinterp.analyses.trigrams import direct_path
from modinterp.claims import Evidence, evidence
from modinterp.claims.nanda.fractions import reached
from modinterp.claims.nanda.generality import skip_means
from modinterp.claims.nanda.rows import TABLE_5, TABLE_6, Row, Skip
from modinterp.claims.nanda.sequence_evidence import sequence_evidence
from modinterp.claims.nanda.setup import SEEDS
from modinterp.claims.nanda.trainings import final, recipe_of
from modinterp.figures import sequences, sweeps
from modinterp.figures.theme import EXCLUDED, TEST, TRAIN
from modinterp.reproduce import pairs
from modinterp.reproduce.drawings import Draw, Make, Runs
from modinterp.runs import TrainedRun

SETTINGS = {
    "fraction": "more data",
    "two-layers": "two layers",
    "p53": "mod 53",
    "p109": "mod 109",
    "dropout": "dropout",
}
EXCLUSION = {
    "train_loss": ("train loss", TRAIN),
    "test_loss": ("test loss", TEST),
    "excluded_loss_train": ("excluded loss", EXCLUDED),
}


def _some(runs: Runs, *patterns: str) -> list[TrainedRun]:
    """Those that are there, in the order of the patterns."""
    return [run for pattern in patterns for name, run in runs.items() if fnmatchcase(name, pattern)]


def _sweep(
    ev: Evidence,
    runs: Runs,
    patterns: tuple[str, ...],
    label: Callable[[TrainedRun], tuple[float, str]],
    title: str,
    log_epochs: bool = False,
    beside: tuple[str, ...] = (),
) -> go.Figure | None:
    """A sweep, drawn if any of its own runs is there.

    Args:
        label: of a run, the value of what is swept and its name.
        beside: patterns of runs of other claims that belong to the sweep.
    """
    found = _some(runs, *patterns)
    if not found:
        return None
    groups: dict[tuple[float, str], list[pd.DataFrame]] = {}
    for run in [*found, *_some(runs, *beside)]:
        groups.setdefault(label(run), []).append(run.history)
    ordered = {name: groups[value, name] for value, name in sorted(groups)}
    return sweeps.sweep(ordered, title, log_epochs=log_epochs)


def _fraction(run: TrainedRun) -> tuple[float, str]:
    return recipe_of(run).fraction, f"{recipe_of(run).fraction:.0%}"


def _decay(run: TrainedRun) -> tuple[float, str]:
    return recipe_of(run).weight_decay, f"weight decay {recipe_of(run).weight_decay:g}"


def _rate(run: TrainedRun) -> tuple[float, str]:
    return recipe_of(run).dropout, f"dropout {recipe_of(run).dropout:g}"


def _penalty(run: TrainedRun) -> tuple[float, str]:
    recipe = recipe_of(run)
    return recipe.l1 / (1e6 if recipe.l1_of == "mean" else 1), f"{recipe.l1:g} × the {recipe.l1_of} of |w|"


def _precision(run: TrainedRun) -> tuple[float, str]:
    return -torch.finfo(getattr(torch, recipe_of(run).loss_dtype)).bits, recipe_of(run).loss_dtype


def _thresholds(ev: Evidence, runs: Runs) -> go.Figure | None:
    found = _some(runs, "nanda/fraction-*")
    rows = [
        {"fraction": recipe_of(run).fraction, "split": split, "loss": loss, "epochs": reached(run, split, loss)}
        for run in [*found, *_some(runs, SEEDS[0])] for split in ("train", "test") for loss in (1e-2, 1e-4, 1e-6)
    ]  # fmt: skip
    title = "The more data, the sooner the test loss falls; the train loss hardly cares"
    return sweeps.thresholds(pd.DataFrame(rows).dropna(), title) if found else None


def _exclusion(ev: Evidence, runs: Runs, pattern: str, title: str) -> go.Figure | None:
    tables = {run.name: run.progress for run in _some(runs, pattern) if run.progress is not None}
    return sweeps.measures_of_seeds(tables, EXCLUSION, title) if tables else None


def _digits_each(ev: Evidence, runs: Runs) -> go.Figure | None:
    found = _some(runs, "nanda/digits-endless-*")
    title = "Each digit of a long sum is learned in a sudden drop of its own"
    return sequences.digits([r.history for r in found], found[0].task.output_names, title) if found else None


def _composition(ev: Evidence, runs: Runs) -> go.Figure | None:
    for run in _some(runs, "nanda/repeated-endless-*"):
        found = sequence_evidence(run)
        title = "An induction head and a head of the previous token: without either the other is of no use"
        return sequences.composition(found.previous, found.induction(latest=False), found.losses_without, title)
    return None


def _paths(ev: Evidence, runs: Runs) -> go.Figure | None:
    for run in _some(runs, "nanda/trigram-endless-*"):
        n = run.task.heads[0]
        path = direct_path(run.model, torch.arange(n, 2 * n))
        return sequences.direct_paths(path, "Where the last token attends to the one asked for, the heads copy it")
    return None


def _of_one(percent: float) -> float:
    return round(percent / 100, 4)  # 0.949 of 94.9, not 0.9490000000000001


def _of_row(row: Row, runs: Runs) -> dict[str, tuple[float | str, float | str | None]]:
    """What the paper prints in a row of table 5, and ours; None where there is nothing to measure it on."""
    run = runs.get(row.run)
    found = evidence(run).summary if run and run.has_weights else None
    return {
        "test loss": (row.loss, run and final(run, "test_loss")),
        "Gini of W_E": (row.gini_W_E, found and found.gini_W_E),
        "Gini of W_L": (row.gini_W_L, found and found.gini_W_L),
        "key frequencies": (", ".join(map(str, row.freqs)), found and ", ".join(map(str, found.keys.freqs))),
        "logit FVE": (_of_one(row.logit_fve), found and found.logit_fve),
        "MLP FVE": (_of_one(row.mlp_fve), found and found.mean_fve),
        "its standard deviation": (_of_one(row.mlp_sd), found and found.sd_fve),
    }


def _any_of_table_5(runs: Runs) -> bool:
    return any(row.run in runs for row in TABLE_5)


def _table_5(ev: Evidence, runs: Runs) -> pd.DataFrame | None:
    rows = []
    for row in TABLE_5:
        both = _of_row(row, runs).items()
        sides = {f"{w}: {n}": pair[i] for n, pair in both for i, w in enumerate(("the paper", "ours"))}
        run = runs.get(row.run)
        rows.append(
            {"row": row.key, "our run": row.run} | sides | {"ours: test accuracy": run and final(run, "test_accuracy")}
        )
    return pd.DataFrame(rows) if _any_of_table_5(runs) else None  # fmt: skip


def _summaries(ev: Evidence, runs: Runs) -> go.Figure | None:
    rows = []
    for row in TABLE_5:
        for side, whose in enumerate(("the paper", "ours")):
            values = {name: pair[side] for name, pair in _of_row(row, runs).items()}
            if values["Gini of W_E"] is not None:
                rows.append({"setting": SETTINGS[row.setting], "row": row.key, "whose": whose} | values)
    title = "Weight decay makes the embedding sparse and a few waves nearly all of the logits; dropout does neither"
    return sweeps.summaries(pd.DataFrame(rows), title) if _any_of_table_5(runs) else None


def _number(text: str) -> float:
    return float(text.partition(" ")[0])


def _measurable(row: Skip, runs: Runs) -> list[TrainedRun]:
    """Of the runs of a row of table 6 those that are there with their weights."""
    return [runs[name] for name in row.runs if name in runs and runs[name].has_weights]


def _table_6(ev: Evidence, runs: Runs) -> pd.DataFrame | None:
    rows = []
    for row in TABLE_6:
        there = _measurable(row, runs)
        ours = skip_means(there) if there else {}
        rows.append({
            "setting": row.key, "the paper: loss": row.loss, "ours: loss": ours.get("loss"),
            "the paper: accuracy": _of_one(row.accuracy), "ours: accuracy": ours.get("accuracy"),
            "the paper: ablated loss": row.ablated_loss, "ours: ablated loss": ours.get("ablated loss"),
            "the paper: ablated accuracy": _of_one(row.ablated_accuracy),
            "ours: ablated accuracy": ours.get("ablated accuracy"), "our networks": len(there),
        })  # fmt: skip
    return pd.DataFrame(rows) if any(name in runs for row in TABLE_6 for name in row.runs) else None


def _skips(ev: Evidence, runs: Runs) -> go.Figure | None:
    rows = []
    for row in TABLE_6:
        name, there = row.key.replace("_", " ").replace("0p", "0."), _measurable(row, runs)
        rows.append(
            {
                "setting": name,
                "whose": "the paper",
                "loss": _number(row.loss),
                "ablated loss": _number(row.ablated_loss),
            }
        )
        if there:
            rows.append({"setting": name, "whose": "ours"} | skip_means(there))
    table = pd.DataFrame(rows)
    title = "What goes around the last MLP hardly matters: its mean will do"
    return sweeps.skips(table, title) if "ours" in table["whose"].tolist() else None  # fmt: skip


_FRACTIONS = "The fewer pairs it is trained on, the later it generalises"
FIGURES: dict[str, tuple[str, Draw]] = {
    "fractions": ("Figure 20", partial(_sweep, patterns=("nanda/fraction-*",), label=_fraction, log_epochs=True,
                                       beside=SEEDS[:1], title=_FRACTIONS)),
    "thresholds": ("Figure 21", _thresholds),
    "two_layers": ("Figure 22", partial(pairs.curves, pattern="nanda/two-layers-*",
                                        title="Two layers: they grok to some degree, with slingshots")),
    "two_layers_excluded": ("Figure 23", partial(_exclusion, pattern="nanda/two-layers-*",
                                                 title="Two layers: excluded loss rises before test loss falls")),
    "p53": ("Figure 24", partial(_sweep, patterns=("nanda/p53-*",), label=_decay,
                                 title="Mod 53, by weight decay: thin a network each, bold their mean")),
    "p109": ("Appendix C.2.2", partial(pairs.curves, pattern="nanda/p109-*", title="Mod 109 it groks as mod 113")),
    "p401": ("Figure 25", partial(_sweep, patterns=("nanda/p401-decay-*",), label=_decay, log_epochs=True,
                                  title="Mod 401 test and train loss fall together, whatever the weight decay")),
    "p401_fractions": ("Appendix C.2.2", partial(
        _sweep, patterns=("nanda/p401-fraction-*",), label=_fraction, log_epochs=True,
        title="Mod 401 a tenth of the pairs is too little, a fifth enough to generalise at once")),
    "no_decay": ("Figure 26", partial(_exclusion, pattern="nanda/no-decay-*",
                                      title="Without weight decay excluded loss stays with train loss")),
    "decays": ("Figure 27", partial(_sweep, patterns=("nanda/decay-*",), label=_decay, log_epochs=True, beside=SEEDS,
                                    title="The less weight decay, the later it groks")),
    "dropout": ("Figure 28", partial(_sweep, patterns=("nanda/dropout-*",), label=_rate, log_epochs=True,
                                     title="Dropout in place of weight decay")),
    "l1": ("Figure 28", partial(_sweep, patterns=("nanda/l1-*",), label=_penalty, log_epochs=True,
                                title="A penalty on the absolute weights in place of weight decay")),
    "precision": ("Appendix D.2", partial(_sweep, patterns=("nanda/float*",), label=_precision, beside=SEEDS[:1],
                                          title="A loss of low precision springs up again and again")),
    "digits": ("Figure 29 top", partial(pairs.curves, pattern="nanda/digits-endless-*",
                                        title="Long sums, data without end: train and test loss are one")),
    "digits_each": ("Figure 29 bottom", _digits_each),
    "digits_few": ("Figure 30", partial(pairs.curves, pattern="nanda/digits-700-*",
                                        title="Long sums, 700 of them: train and test loss part, and meet late")),
    "repeated": ("Figure 31", partial(pairs.curves, pattern="nanda/repeated-endless-*",
                                      title="Repeated subsequences, data without end: one sudden drop")),
    "composition": ("Appendix E.2", _composition),
    "repeated_few": ("Figure 32", partial(pairs.curves, pattern="nanda/repeated-512-*",
                                          title="Repeated subsequences, 512 of them: how long the test loss stays up")),
    "trigrams": ("Figure 33", partial(pairs.curves, pattern="nanda/trigram-endless-*",
                                      title="Skip trigrams, data without end: one sudden drop")),
    "trigrams_few": ("Figure 34", partial(pairs.curves, pattern="nanda/trigram-512-*",
                                          title="Skip trigrams, 512 examples: how far train and test loss part")),
    "trigrams_path": ("Appendix D.3", _paths),
    "table5": ("Table 5", _summaries),
    "table6": ("Table 6", _skips),
}  # fmt: skip
TABLES: dict[str, tuple[str, Make]] = {
    "table5": ("Table 5, the paper's and ours; each network has frequencies of its own", _table_5),
    "table6": ("Table 6, the paper's and ours, means over networks", _table_6),
}
