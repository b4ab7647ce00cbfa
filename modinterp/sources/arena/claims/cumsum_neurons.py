"""Claims on the sign of a running sum: neurons amplify means that are close to zero."""

from __future__ import annotations

from math import nan

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.activations import without_neurons
from modinterp.analyses.statistics.lines import correlation
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import each
from modinterp.claims.finding import one_seed
from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.claims.cumsum import NEGATIVE, POSITIVE, ZERO, means_so_far, projections, u
from modinterp.sources.arena.claims.subject import ACCURACY, SEED, judged, seed
from modinterp.sources.arena.runs import CUMSUM

FAR, NEAR = "accuracy without neurons, mean beyond 1", "accuracy without neurons, mean below a quarter"
AGREEING = "share of the neurons that matter and boost the sign that they fire on"
RELU = "smallest correlation with a ReLU of the projection, neurons that matter"
MATTERS, MATTERS_MUCH = 0.001, 0.005  # rise of the loss without a neuron [nats]
LISTED = {0: 1, 1: 1, 3: 1, 4: 1, 2: -1, 7: -1}  # neuron to the sign that the source says that it fires on


def _signs(m: SequenceMeasurements) -> Float[Tensor, " neuron"]:
    """Return the sign of the mean on which each neuron fires."""
    return (u(m).direction @ m.precise.blocks[0].mlp.W_in).sign().detach()


def _boosts(m: SequenceMeasurements) -> Float[Tensor, "neuron output"]:
    """What each neuron adds to each logit, the mean over logits aside."""
    return (m.precise.blocks[0].mlp.W_out @ m.folded.W_U).detach()


def _without_mlp(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    with without_neurons(m.precise, 0) as network:
        found = m.answers_to(m.sampled, network)
    wrong = ~found.correct
    return {
        ACCURACY: found.accuracy,
        "loss without neurons": found.loss,
        "share of the errors that answer zero": float((found.given[wrong] == ZERO).double().mean()),
    }


def _near_zero(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    with without_neurons(m.precise, 0) as network:
        correct = m.answers_to(m.sampled, network).correct.double()
    size = means_so_far(m)[0].abs()
    return {
        FAR: float(correct[size > 1].mean()),
        NEAR: float(correct[(size > 0) & (size < 0.25)].mean()),
    }


def _signs_agree(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    boosts = _boosts(m)
    agree = (boosts[:, POSITIVE] - boosts[:, NEGATIVE]).sign() == _signs(m)
    return {AGREEING: float(agree[m.neuron_rises > MATTERS].double().mean())}


def _signs_listed(m: SequenceMeasurements) -> dict[str, float]:
    signs = _signs(judged(m))
    return {
        "neurons with the sign that the source lists": sum(
            float(signs[neuron]) == sign for neuron, sign in LISTED.items()
        ),
        SEED: seed(m),
    }


def _order(m: SequenceMeasurements) -> dict[str, float]:
    rises = judged(m).neuron_rises
    return {
        "neurons 2, 7 and 4 matter most, in this order": float(
            rises.argsort(descending=True)[:3].tolist() == [2, 7, 4]
        ),
        "largest rise of the loss without neuron 5 or 6": float(rises[[5, 6]].max()),
        SEED: seed(m),
    }


def _boost_zero(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    boosts, matter = _boosts(m)[:, ZERO], m.neuron_rises > MATTERS_MUCH
    some = boosts[matter] if matter.any() else boosts  # as in a network that did not learn, which is a control
    return {"smallest boost of zero by a neuron that matters": float(some.min())}


def _relu(m: SequenceMeasurements) -> dict[str, float]:
    m = judged(m)
    hook = "blocks.0.mlp.hook_post"
    with torch.no_grad():
        _, cache = m.precise.run_with_cache(m.sampled.inputs, names_filter=[hook])
    along, signs = projections(m), _signs(m)
    matter = (m.neuron_rises > MATTERS).nonzero()[:, 0].tolist()
    found = [correlation(cache[hook][..., n], (signs[n] * along).relu()) for n in matter]
    return {RELU: min(found, default=nan)}


CLAIMS = (
    Claim(
        id="arena.cumsum.without_mlp",
        where="November, ablation of the MLP",
        statement=(
            "Without the MLP's neurons the network gets more than half of the answers right. Where the "
            "network without the MLP's neurons is wrong, it answers 'zero'."
        ),
        source_says="without the MLP, the network with centred weights has a loss of .536",
        measure=each(_without_mlp),
        expected={
            ACCURACY: between(0.5, 0.9, "more than half of the answers should be right without neurons"),
            "share of the errors that answer zero": at_least(
                0.95, "the source says that without neurons every wrong answer is 'zero'"
            ),
        },
        behaviour=(ACCURACY,),
        reported=("loss without neurons",),
        needs=CUMSUM,
        scope="any seed",
    ),
    Claim(
        id="arena.cumsum.near_zero",
        where="November, ablation of the MLP",
        statement="The network needs the MLP only where the mean of the numbers is small.",
        source_says="the source shows this in a figure",
        measure=each(_near_zero),
        expected={
            FAR: at_least(0.98, "without the MLP, accuracy should stay high where the mean is large"),
            NEAR: at_most(0.4, "without the MLP, accuracy should be low where the mean is small"),
        },
        needs=CUMSUM,
        scope="any seed",
        figure="cumsum_without",
    ),
    Claim(
        id="arena.cumsum.signs",
        where="November, neurons",
        statement="A neuron fires on one sign of the mean of the numbers, and raises the logit of this sign.",
        source_says="the source says this of six neurons",
        measure=each(_signs_agree),
        expected={
            AGREEING: equals(
                1, "the source says that each important neuron raises the logit of the sign on which the neuron fires"
            )
        },
        needs=CUMSUM,
        scope="any seed",
        control="also true before training",
        figure="cumsum_neurons",
    ),
    Claim(
        id="arena.cumsum.signs_listed",
        where="November, neurons",
        statement="Neurons 0, 1, 3 and 4 fire on positive means; neurons 2 and 7 fire on negative means.",
        source_says="neurons 0, 1, 3, 4 fire on positive means; 2, 7 on negative",
        measure=each(_signs_listed),
        expected={
            "neurons with the sign that the source lists": equals(
                6, "our neurons should fire on the signs that the source lists"
            )
        },
        given={
            SEED: equals(
                42, "the numbers of neurons are arbitrary, so the claim is only about networks with the authors' seed"
            )
        },
        needs=CUMSUM[:1],
        finding=one_seed(
            "In our network each of the six neurons fires on the sign opposite to the source's list, as in "
            "the source's own figure. In our network neurons 2 and 7 fire on positive means."
        ),
        figure="cumsum_neurons",
    ),
    Claim(
        id="arena.cumsum.neurons",
        where="November, ablation of neurons",
        statement=(
            "Removing neuron 2 raises the loss most, then neurons 7 and 4; removing neurons 5 and 6 does not "
            "raise the loss."
        ),
        source_says="losses rise by .0185, .0163, .0951, .0200, .0311, .0002, .0000 and .0465 without neurons 0 to 7",
        measure=each(_order),
        expected={
            "neurons 2, 7 and 4 matter most, in this order": equals(
                1, "removing neurons 2, 7 and 4 raises the loss most in the source"
            ),
            "largest rise of the loss without neuron 5 or 6": at_most(
                0.001, "in the source the loss rises by 0.0002 without neuron 5 and by 0.0000 without neuron 6"
            ),
        },
        given={
            SEED: equals(
                42, "the numbers of neurons are arbitrary, so the claim is only about networks with the authors' seed"
            )
        },
        needs=CUMSUM[:1],
        figure="cumsum_neurons",
    ),
    Claim(
        id="arena.cumsum.boost_zero",
        where="November, ablation of neurons",
        statement="The neurons whose removal raises the loss also raise the logit of the answer zero.",
        source_says="the source shows by how much each neuron raises the logit of zero",
        measure=each(_boost_zero),
        expected={
            "smallest boost of zero by a neuron that matters": at_least(
                0, "the source says that every neuron that matters raises the logit of zero"
            )
        },
        needs=CUMSUM,
        scope="any seed",
        figure="cumsum_neurons",
    ),
    Claim(
        id="arena.cumsum.relu",
        where="not in the source",
        statement=(
            "Each neuron is a ReLU of the mean of the numbers, or of minus this mean, with a threshold near zero."
        ),
        source_says="not stated",
        measure=each(_relu),
        expected={
            RELU: at_least(
                0.98, "the neuron's activation should equal a ReLU of the projection on the mean's direction"
            )
        },
        needs=CUMSUM,
        scope="any seed",
    ),
)
