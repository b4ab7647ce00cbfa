"""Claims of section 4.3 and figure 5: each neuron computes a polynomial of degree two in the waves of one frequency."""

from __future__ import annotations

from modinterp.claims.band import at_least, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.nanda.runs import MAIN

AT_14 = "neurons of the cluster at frequency 14"
LOWEST_SHARE = "lowest share at own frequency"


def _explained(m: CyclicMeasurements) -> dict[str, Value]:
    fits, about_zero = m.neurons, m.post.double().square().mean(dim=(0, 1))
    of_mean = m.post.double().mean(dim=(0, 1)).square() / about_zero
    with_mean = of_mean + (1 - of_mean) * fits.fractions
    return {
        "neurons above 0.85, their mean counted": int((with_mean > 0.85).sum()),
        "neurons above 0.85": int(fits.explained.sum()),
    }


def _clusters(m: CyclicMeasurements) -> dict[str, Value]:
    clusters = m.neurons.clusters()
    members = sum(len(clusters.get(freq, [])) for freq in m.freqs)
    explained = int(m.neurons.explained.sum())
    return {
        LOWEST_SHARE: min(m.localisation.get(freq, float("nan")) for freq in m.freqs),
        "share of the explained neurons in clusters of key frequencies": (
            members / explained if explained else float("nan")
        ),
        AT_14: len(clusters[14]) if 14 in clusters else float("nan"),
    }


CLAIMS = (
    Claim(
        id="nanda.fig5.left",
        where="section 4.3, figure 5 left",
        statement=(
            "For most neurons, waves of one frequency and their products, up to degree two, explain the neuron's "
            "activations."
        ),
        source_says="433 of 512 neurons (84.6%) have a share above 0.85",
        measure=_explained,
        printed={
            "neurons_explained": 433 / 512,
            "neurons above 0.85": 433,
            "neurons above 0.85, their mean counted": 433,
        },
        expected={
            "neurons_explained": at_least(
                0.60,
                "the share of explained neurons is 0.846 in the paper; in archived networks it is 0.79 with"
                " a float32 loss, and 0.36 with a weight decay of 0.1",
            ),
            "neurons_median": at_least(
                0.85, "more than half of the paper's neurons have a share above 0.85, so the median neuron does"
            ),
        },
        needs=(MAIN,),
        figure="neurons",
    ),
    Claim(
        id="nanda.fig5.right",
        where="section 4.3, figure 5 right",
        statement="A cluster of neurons of one frequency writes to the logits at that frequency alone.",
        source_says="44 neurons at frequency 14; figure 5 has two rows that are not near zero",
        measure=_clusters,
        printed={AT_14: 44},
        outside={
            AT_14: (
                "the number of neurons at frequency 14 depends on rounding: 49 in our main network, more in "
                "other numerical replicates"
            )
        },
        expected={
            LOWEST_SHARE: at_least(0.90, "in figure 5 only the cosine and the sine of frequency 14 differ from zero"),
            "share of the explained neurons in clusters of key frequencies": equals(
                1, "the paper's five clusters contain all 433 explained neurons"
            ),
        },
        needs=(MAIN,),
        finding=mixed(),
        figure="neurons",
        control="without control",
    ),
    Claim(
        id="nanda.s43.localised",
        where="section 4.3",
        statement="Every cluster of explained neurons writes to the logits at the cluster's own frequency alone.",
        source_says="all 5 clusters",
        measure=lambda m: {LOWEST_SHARE: min(m.localisation.values(), default=float("nan"))},
        expected={
            LOWEST_SHARE: at_least(
                0.85, "all five clusters in the paper write to one frequency; small clusters are noisier"
            )
        },
        needs=(MAIN,),
        figure="neurons",
        control="without control",
        finding=mixed(),
    ),
)
