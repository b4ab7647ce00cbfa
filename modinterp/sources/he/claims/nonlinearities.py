"""Claims on the paper's observation 4: a trained network keeps its answers with some other nonlinearities."""

from __future__ import annotations

import torch

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.models import ACTIVATIONS
from modinterp.sources.he.claims.features import WIDE
from modinterp.sources.he.idealised import Sigma, accuracy, pair_logits
from modinterp.sources.he.neuron_waves import waves_of
from modinterp.sources.he.runs import named

EVEN, ODD, MIXED, EIGHTH = (
    "accuracy with |x| or x^2, lower",
    "accuracy with x or x^3, higher",
    "accuracy with log(1 + e^2x) or e^x, lower",
    "accuracy with x^8",
)


def _swap(m: CyclicMeasurements) -> dict[str, Value]:
    waves = waves_of(m)

    def with_sigma(sigma: Sigma) -> float:
        return accuracy(pair_logits(waves.theta, waves.xi, sigma))

    return {
        EVEN: min(with_sigma(torch.abs), with_sigma(ACTIVATIONS["square"])),
        ODD: max(with_sigma(ACTIVATIONS["none"]), with_sigma(ACTIVATIONS["cube"])),
        MIXED: min(with_sigma(lambda x: torch.nn.functional.softplus(2 * x)), with_sigma(torch.exp)),
        EIGHTH: with_sigma(lambda x: x.pow(8)),
    }


CLAIMS = (
    Claim(
        id="he.obs4.swap",
        where="observation 4",
        statement=(
            "If ReLU is replaced after training, the network still answers correctly with any even nonlinearity, and "
            "with no odd nonlinearity."
        ),
        source_says="the accuracy is 1.0 with |x|, x^2, x^4 and x^8, and .0416 and .0359 with x and x^3",
        measure=each(_swap),
        expected={
            EVEN: at_least(0.999, "the source's accuracy with these nonlinearities is 1.0"),
            ODD: at_most(0.1, "the source's accuracies with odd nonlinearities are .0416 and .0359"),
        },
        reported=(EIGHTH,),
        needs=(*named("std", "sgd", "grok"), WIDE),
        scope="any seed",
    ),
    Claim(
        id="he.obs4.swap_mixed",
        where="observation 4",
        statement="If ReLU is replaced after training, the network still answers correctly with any nonlinearity "
        "that has an even part.",
        source_says="the accuracy is 1.0 with log(1 + exp 2x) and with exp x",
        measure=each(_swap),
        expected={MIXED: between(0.999, 1, "the source's accuracy with these nonlinearities is 1.0")},
        reported=(EVEN,),
        needs=(*named("std", "sgd", "grok"), WIDE),
        scope="any seed",
        finding=mixed(
            "With log(1 + exp 2x) and exp x in place of ReLU, the accuracy is 1.0 in the networks named "
            "std, .40 to .92 in those named sgd, and .91 to .95 in those named grok."
        ),
    ),
)
