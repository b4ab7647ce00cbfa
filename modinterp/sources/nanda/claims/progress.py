"""Claims of section 5 and figure 7: restricted and excluded loss, Gini coefficients and weights during training."""

from __future__ import annotations

import math

import numpy as np
import torch

from modinterp.analyses.fourier.ablations import excluded_loss, loss_on, restricted_loss
from modinterp.analyses.fourier.cosine_sums import ideal_logits
from modinterp.analyses.fourier.sparsity import fourier_gini, gini
from modinterp.analyses.fourier.transforms import component_norms, frequency_norms
from modinterp.analyses.training.phases import first_epoch, slope, value_at
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.nanda.runs import MAIN
from modinterp.tasks import addition

T1, T2, T3 = "t1", "t2", "t3"
AHEAD_OF_TEST = "epochs by which restricted is below 1 before test"
SPLITS = ("all", "train", "test")
FINAL_EXCLUDED = {split: f"final excluded loss, {split}" for split in SPLITS}
FINAL_RESTRICTED = {split: f"final restricted loss, {split}" for split in SPLITS}
SPARSE = {"W_E": "gini_W_E", "W_L": "gini_W_L"}  # matrix to column of the progress measures
GINI_AT_T1 = {matrix: f"Gini of {matrix} at t1" for matrix in SPARSE}
GINI_RISE = {matrix: f"Gini of {matrix}, end less t2" for matrix in SPARSE}
FINAL_GINI = {matrix: f"final Gini of {matrix}" for matrix in (*SPARSE, "W_U")}
BY_FREQUENCY = tuple(f"{FINAL_GINI[matrix]}, by frequency" for matrix in SPARSE)
SPARSE_AT_THE_END = {
    **{
        name: at_most(0.35, "in figure 7 the Gini coefficient is low and nearly constant until cleanup")
        for name in GINI_AT_T1.values()
    },
    **{
        name: at_least(0.15, "in figure 7 the Gini coefficient rises sharply in cleanup") for name in GINI_RISE.values()
    },
    FINAL_GINI["W_L"]: at_least(0.7, "the final Gini coefficient of W_L is 0.79 in table 5"),
}


def _restricted_of_ideal() -> dict[str, Value]:
    task, freqs = addition(29), [3, 7, 11]
    logits = ideal_logits(29, freqs, [9.0, 8.0, 7.0])
    from_ideal = restricted_loss(logits, task.labels(), freqs)
    original = loss_on(logits, task.labels())
    return {"relative difference to the original loss": abs(from_ideal - original) / original}


def _excluded_of_ideal() -> dict[str, Value]:
    task, freqs = addition(29), [3, 7, 11]
    loss = excluded_loss(ideal_logits(29, freqs, [9.0, 8.0, 7.0]), task.labels(), freqs, torch.arange(100))
    return {"difference to ln p": abs(loss - math.log(29))}


def _excluded(m: CyclicMeasurements) -> dict[str, Value]:
    table, t1, t2 = m.progress, m.phases.memorisation_ended, m.phases.formed
    waiting = table["test_loss"][table["epoch"].between(t1, 0.8 * t2)]
    at_t1, at_t2 = (value_at(table, t, "excluded_loss_train") for t in (t1, t2))
    return {
        "excluded loss at t1": at_t1,
        "excluded loss at t2 over at t1": at_t2 / at_t1,
        "decades the test loss moves from t1 to 0.8 t2": (
            float(np.log10(waiting.max() / waiting.min())) if len(waiting) else math.nan
        ),
        T1: t1,
        T2: t2,
        T3: m.phases.cleaned,
        **{name: float(table[f"excluded_loss_{split}"].iloc[-1]) for split, name in FINAL_EXCLUDED.items()},
    }


def epoch_below_1(m: CyclicMeasurements, loss: str) -> float:
    """Return the first epoch with a loss below 1 nat: the train loss in all epochs, other losses after memorisation;
    NaN without such an epoch.

    Args:
        m: measurements of the run.
        loss: name of a column of the progress measures.
    """
    epochs = m.progress["epoch"]
    counted = (epochs > m.phases.memorisation_ended) | (loss == "train_loss")
    return first_epoch(epochs, counted & (m.progress[loss] < 1))


def _restricted(m: CyclicMeasurements) -> dict[str, Value]:
    table, t2 = m.progress, m.phases.formed
    restricted, test = epoch_below_1(m, "restricted_loss_all"), epoch_below_1(m, "test_loss")
    return {
        AHEAD_OF_TEST: test - restricted,
        "restricted over test loss at t2": (
            value_at(table, t2, "restricted_loss_all") / value_at(table, t2, "test_loss")
        ),
        **{name: float(table[f"restricted_loss_{split}"].iloc[-1]) for split, name in FINAL_RESTRICTED.items()},
    }


def sparsity(m: CyclicMeasurements) -> dict[str, Value]:
    """Return the Gini coefficients of the Fourier components of W_E and W_L at the end of memorisation, and their later
    rise.
    """
    table, t1, t2 = m.progress, m.phases.memorisation_ended, m.phases.formed
    end = float(table["epoch"].iloc[-1])
    at_t1, at_t2, at_end = (
        {matrix: value_at(table, epoch, column) for matrix, column in SPARSE.items()} for epoch in (t1, t2, end)
    )
    return {
        **{GINI_AT_T1[matrix]: at for matrix, at in at_t1.items()},
        **{GINI_RISE[matrix]: at - at_t2[matrix] for matrix, at in at_end.items()},
        **{FINAL_GINI[matrix]: at for matrix, at in at_end.items()},
        **{
            name: gini(frequency_norms(component_norms(w)))
            for name, w in zip(BY_FREQUENCY, (m.W_E, m.W_L.T), strict=True)
        },
        FINAL_GINI["W_U"]: fourier_gini(m.model.W_U[:, : m.p].T.detach()),
    }


def _weights(m: CyclicMeasurements) -> dict[str, Value]:
    t1, t2, t3 = m.phases.memorisation_ended, m.phases.formed, m.phases.cleaned
    squares = "sum_of_squared_weights"
    table = m.progress.assign(norm=m.progress[squares] ** 0.5)
    falling = table[squares][table["epoch"] >= t1]
    fall = falling.iloc[0] - falling.iloc[-1] if len(falling) else math.nan
    return {
        "sum of all rises after t1 over the fall": (
            float(falling.diff().clip(lower=0).sum() / fall) if len(falling) else math.nan
        ),
        "slope t2 to t3 over slope t1 to t2": slope(table, squares, t2, t3) / slope(table, squares, t1, t2),
        "slope t2 to t3 over slope t1 to t2, of the norm": slope(table, "norm", t2, t3) / slope(table, "norm", t1, t2),
    }


CLAIMS = (
    Claim(
        id="nanda.s51.restricted_def",
        where="section 5.1",
        statement=(
            "Restricted loss keeps the constant and the waves of a + b at the key frequencies. For a network "
            "whose logits contain only waves of a + b at the key frequencies, the restricted loss equals the "
            "full loss."
        ),
        source_says="the source states this as a definition",
        measure=lambda *_: _restricted_of_ideal(),
        expected={
            "relative difference to the original loss": at_most(
                1e-9, "the difference of the two losses must be rounding error"
            )
        },
        scope="any network",
    ),
    Claim(
        id="nanda.s51.excluded_def",
        where="section 5.1",
        statement=(
            "Excluded loss removes only the waves of a + b at the key frequencies, on the training pairs. For a "
            "network whose logits contain only waves of a + b at key frequencies, the excluded loss equals the "
            "loss of guessing, ln p."
        ),
        source_says="the source states this as a definition",
        measure=lambda *_: _excluded_of_ideal(),
        expected={"difference to ln p": at_most(1e-9, "the difference of the two losses must be rounding error")},
        scope="any network",
    ),
    Claim(
        id="nanda.fig7.tl",
        where="section 5.2, figure 7 top left",
        statement="Excluded loss falls, then rises while a circuit forms and train and test loss stand still.",
        source_says="memorisation, circuit formation and cleanup end at epochs 1,400, 9,400 and 14,000",
        measure=_excluded,
        printed={T1: 1_400, T2: 9_400, T3: 14_000},
        expected={
            "excluded loss at t1": at_most(
                1e-2,
                "a low excluded loss at the end of memorisation means that the network memorised without the circuit",
            ),
            "excluded loss at t2 over at t1": at_least(
                1e3, "in figure 7 the excluded loss rises by orders of magnitude"
            ),
            "decades the test loss moves from t1 to 0.8 t2": at_most(
                0.3, "in figure 7 the test loss stays within a factor of 2 while the circuit forms"
            ),
        },
        needs=(MAIN,),
        figure="progress",
        finding=mixed(
            "Some networks form their circuit while they still memorise: in these networks the excluded loss has "
            "already risen by the end of memorisation."
        ),
        reported=tuple(FINAL_EXCLUDED.values()),
    ),
    Claim(
        id="nanda.fig7.tr",
        where="section 5.2, figure 7 top right",
        statement="Restricted loss falls before test loss.",
        source_says="none printed",
        measure=_restricted,
        expected={
            AHEAD_OF_TEST: at_least(500, "in figure 7 restricted loss falls thousands of epochs before test loss"),
            "restricted over test loss at t2": at_most(
                0.1,
                "in figure 7 restricted loss is orders of magnitude below test loss when restricted loss has fallen",
            ),
        },
        reported=tuple(FINAL_RESTRICTED.values()),
        needs=(MAIN,),
        figure="progress",
    ),
    Claim(
        id="nanda.fig7.bl",
        where="section 5.2, figure 7 bottom left",
        statement="The Gini coefficients of the Fourier components of W_E and W_L rise sharply in cleanup.",
        source_says="final Gini coefficients of about 0.75 to 0.8 (0.76 and 0.79 in table 5)",
        measure=sparsity,
        printed={FINAL_GINI["W_E"]: 0.76, FINAL_GINI["W_L"]: 0.79, BY_FREQUENCY[0]: 0.76, BY_FREQUENCY[1]: 0.79},
        expected=SPARSE_AT_THE_END,
        needs=(MAIN,),
        figure="progress",
        reported=(FINAL_GINI["W_U"],),
    ),
    Claim(
        id="nanda.fig7.br",
        where="section 5.2, figure 7 bottom right",
        statement="The sum of squared weights falls smoothly while the circuit forms, and faster in cleanup.",
        source_says="none printed",
        measure=_weights,
        expected={
            "sum of all rises after t1 over the fall": at_most(
                0, "the sum of squared weights falls smoothly if it never rises"
            ),
            "slope t2 to t3 over slope t1 to t2": at_least(
                2, "in figure 7 the sum of squared weights falls visibly faster in cleanup"
            ),
        },
        reported=("slope t2 to t3 over slope t1 to t2, of the norm",),
        needs=(MAIN,),
        finding=mixed(
            "The seed and rounding decide how fast the weights shrink. In our main network, the sum of squared "
            "weights falls 1.4 times as fast in cleanup as before cleanup. In some networks the sum of squared "
            "weights falls more than twice as fast in cleanup as before; in others it falls no faster."
        ),
        figure="progress",
    ),
)
