"""Section 4.3 and figure 5: each neuron computes a polynomial of degree two in the waves of one frequency."""

from __future__ import annotations

from modinterp.claims.band import at_least, equals
from modinterp.claims.claim import Claim, Value
from modinterp.claims.evidence import evidence
from modinterp.runs import TrainedRun


def _explained(run: TrainedRun) -> dict[str, Value]:
    fits = evidence(run).neurons
    return {
        "fraction of neurons above 0.85": float(fits.explained.double().mean()),
        "neurons above 0.85": int(fits.explained.sum()),
        "median share": float(fits.fractions.nan_to_num(0).median()),
    }


def _clusters(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    clusters = ev.neurons.clusters()
    members = sum(len(clusters.get(freq, [])) for freq in ev.freqs)
    explained = int(ev.neurons.explained.sum())
    return {
        "lowest share at own frequency": min(ev.localisation.get(freq, float("nan")) for freq in ev.freqs),
        "share of the explained neurons in clusters of key frequencies": members / explained if explained else float("nan"),
        "smallest cluster": min(len(clusters.get(freq, [])) for freq in ev.freqs),
    }  # fmt: skip


def _localised(run: TrainedRun) -> dict[str, Value]:
    shares = list(evidence(run).localisation.values())
    return {
        "lowest share at own frequency": min(shares, default=float("nan")),
        "mean share": sum(shares) / len(shares) if shares else float("nan"),
    }


CLAIMS = (
    Claim(
        "nanda.fig5.left",
        "section 4.3, figure 5 left",
        "Most neurons are explained by the waves of one frequency, up to degree two.",
        "433 of 512 (84.6%) above 0.85",
        _explained,
        {
            "fraction of neurons above 0.85": at_least(
                0.60, "0.846 in the paper; in archived networks 0.79 with a float32 loss, 0.36 with weight decay 0.1"
            ),
            "median share": at_least(0.85, "more than half pass in the paper"),
        },
        figure="neurons",
    ),
    Claim(
        "nanda.fig5.right",
        "section 4.3, figure 5 right",
        "A cluster of neurons of one frequency writes to the logits at that frequency alone.",
        "44 neurons at frequency 14, two non-trivial rows",
        _clusters,
        {
            "lowest share at own frequency": at_least(0.90, "figure 5 shows two rows and nothing else"),
            "share of the explained neurons in clusters of key frequencies": equals(
                1, "the paper's five clusters are all of the 433"
            ),
        },
        figure="neurons",
    ),
    Claim(
        "nanda.s43.localised",
        "section 4.3",
        "Every cluster into which the explained neurons fall writes to the logits at its own frequency alone.",
        "all 5 clusters",
        _localised,
        {"lowest share at own frequency": at_least(0.85, "all five in the paper; small clusters are noisier")},
        figure="neurons",
    ),
)
