"""The figures and tables of Nanda et al. 2023, drawn from a run of ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import torch

from modinterp.analyses.ablations import restricted_loss
from modinterp.analyses.fourier import component_norms, transform
from modinterp.claims import Evidence, evidence
from modinterp.claims.evidence import PATTERN
from modinterp.claims.nanda.seeds import MORE_SEEDS, TABLE_3, TABLE_4, TEST_LOSSES
from modinterp.claims.nanda.setup import SEEDS
from modinterp.figures import ablations, algorithm, attention, fourier, grids, progress, readout
from modinterp.reproduce import nanda_appendix, pairs
from modinterp.reproduce.drawings import Draw, Drawings, Make, Runs


def _periodic(ev: Evidence, runs: Runs) -> go.Figure:
    norms = ev.spectrum.norm(dim=-1)
    norms[0, 0] = 0
    head, neuron = ev.heads.heads[0], int(ev.neurons.freqs[0])
    names = (
        f"attention of head 0 to a: frequency {head.freq}",
        f"neuron 0: frequency {neuron}",
        "logits: norm over outputs, constant left out",
    )
    return grids.periodic(ev.grid[PATTERN][:, :, 0, 0], ev.post[..., 0], norms, names)


def _per_frequency(ev: Evidence, runs: Runs) -> go.Figure:
    restricted = restricted_loss(ev.logits, ev.labels, ev.freqs, "products")
    return ablations.per_frequency(ev.loss_without_each["products"], ev.ablated("original").loss, restricted, ev.freqs)


def _ov(ev: Evidence, runs: Runs) -> go.Figure:
    norms = torch.stack([component_norms(ov) for ov in ev.ov], dim=1)
    return attention.ov_spectrum(norms, ev.roles.ov_freqs)


def _seeds(runs: Runs) -> dict[str, Evidence]:
    """Those of the further seeds that are there, by the number that the paper gives them."""
    return {f"seed {seed}": evidence(runs[name]) for seed, name in MORE_SEEDS.items() if name in runs}


def _spectra_of_seeds(ev: Evidence, runs: Runs, matrix: str) -> go.Figure:
    found = _seeds(runs)
    norms = {seed: component_norms(own.W_E if matrix == "W_E" else own.W_L.T) for seed, own in found.items()}
    title = f"In every seed {matrix} is sparse in the Fourier basis, at key frequencies of its own"
    return fourier.spectra_of_runs(norms, {seed: own.freqs for seed, own in found.items()}, title)


def _over_training(ev: Evidence, runs: Runs, draw: Callable[..., go.Figure]) -> go.Figure:
    found = _seeds(runs)
    return draw({seed: own.progress for seed, own in found.items()}, {seed: own.phases for seed, own in found.items()})


def _readoff_of_seeds(ev: Evidence, runs: Runs) -> go.Figure:
    return readout.readoff_of_runs({seed: own.readoff for seed, own in _seeds(runs).items()})


def _keys_and_others(ev: Evidence, runs: Runs) -> go.Figure:
    ours = {seed: own.test_losses for seed, own in _seeds(runs).items()}
    return ablations.keys_and_others(ours, {f"seed {seed}": losses for seed, losses in TABLE_4.items()})


def _largest_exclusion(ev: Evidence, runs: Runs) -> go.Figure:
    return progress.largest_exclusion(ev.progress, ev.largest_exclusion)


def _table_3(ev: Evidence, runs: Runs) -> pd.DataFrame:
    """Directions side by side in the order of their frequencies, which are not the same: each network has its own."""
    found, parts = _seeds(runs), []
    for number, printed in TABLE_3.items():
        seed = f"seed {number}"
        tables = {"the paper": printed} | ({"ours": found[seed].readoff} if seed in found else {})
        sides = [table.table().iloc[:, :4].add_prefix(f"{whose}: ") for whose, table in tables.items()]
        both = pd.concat(sides, axis=1)
        both.insert(0, "seed", number)
        parts.append(both)
    return pd.concat(parts, ignore_index=True)


def _table_4(ev: Evidence, runs: Runs) -> pd.DataFrame:
    ours, rows = {seed: own.test_losses for seed, own in _seeds(runs).items()}, []
    for number, printed in TABLE_4.items():
        row: dict[str, float | None] = {"seed": number}
        found = ours.get(f"seed {number}", (None,) * len(TEST_LOSSES))
        for name, theirs, own in zip(TEST_LOSSES, printed, found, strict=True):
            row |= {f"the paper: {name}": theirs, f"ours: {name}": own}
        rows.append(row)
    return pd.DataFrame(rows)


# key of a claim's figure -> (number in the paper, how to draw it)
FIGURES: dict[str, tuple[str, Draw]] = {
    "algorithm": ("Figure 1", lambda ev, _: algorithm.diagram(ev.freqs, ev.logit_fit.alphas, ev.p)),
    "curves": ("Figure 2", partial(pairs.curves, pattern="nanda/mainline*")),
    "spectra": ("Figure 3", pairs.spectra),
    "periodic": ("Figure 4", _periodic),
    "readoff": ("Table 1", lambda ev, _: readout.readoff(ev.readoff)),
    "neurons": ("Figure 5", partial(pairs.cluster, chosen=min)),
    "ablations": ("Figure 6", _per_frequency),
    "progress": ("Figure 7", lambda ev, _: progress.measures(ev.progress, ev.phases)),
    "margins": ("Figure 8", lambda ev, _: readout.margins(ev.p, ev.freqs)),
    "heads": ("Figure 9", partial(pairs.heads, title="Attention from = to a is periodic in a and b in every head")),
    "tables": ("Figure 10", lambda ev, _: attention.lookup_spectrum(transform(ev.tables), ev.roles.freqs)),
    "ov": ("Figure 11", _ov),
    "neurons_1_to_4": ("Figure 12", partial(pairs.neurons, shown=range(1, 5))),
    "restricted_accuracy": ("Figure 13", lambda ev, _: progress.restricted_accuracy(ev.progress)),
    "coefficients": ("Figure 14", lambda ev, _: progress.coefficients(ev.progress, ev.freqs)),
    "single_exclusion": ("Figure 15", lambda ev, _: progress.single_exclusion(ev.progress, ev.freqs)),
    "spectra_W_E": ("Figure 16", partial(_spectra_of_seeds, matrix="W_E")),
    "spectra_W_L": ("Figure 17", partial(_spectra_of_seeds, matrix="W_L")),
    "readoff_seeds": ("Table 3", _readoff_of_seeds),
    "keys_and_others": ("Table 4", _keys_and_others),
    "losses_seeds": ("Figure 18", partial(_over_training, draw=progress.losses)),
    "ginis_seeds": ("Figure 19", partial(_over_training, draw=progress.ginis)),
    "largest_exclusion": ("Footnote 3", _largest_exclusion),
    "interventions": ("Sections 4.4 and A.1", lambda ev, _: ablations.interventions(ev.ablations)),
    **nanda_appendix.FIGURES,
}

TABLES: dict[str, tuple[str, Make]] = {
    "readoff": ("Table 1, measured on this run", lambda ev, _: ev.readoff.table()),
    "heads": ("Table 2, measured on this run", lambda ev, _: ev.heads.table()),
    "readoff_seeds": ("Table 3, the paper's and ours; each network has frequencies of its own", _table_3),
    "keys_and_others": ("Table 4, the paper's and ours [nats]", _table_4),
    "interventions": ("Interventions", lambda ev, _: ev.ablations.table()),
    **nanda_appendix.TABLES,
}

_OF_SEEDS = ("spectra_W_E", "spectra_W_L", "readoff_seeds", "keys_and_others", "losses_seeds", "ginis_seeds")
DRAWINGS = Drawings(SEEDS[0], FIGURES, TABLES, drawn_from=dict.fromkeys(_OF_SEEDS, "nanda/mainline-[1-4]"))
