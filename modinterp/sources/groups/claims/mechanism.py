"""Claims on neurons of the S5 MLP: how they work, how they are read out, and losses without representations."""

from __future__ import annotations

import math

import torch

from modinterp.analyses.groups.irrep_readout import group_readoff
from modinterp.analyses.groups.neuron_irreps import neuron_irreps
from modinterp.analyses.groups.products import pair_shares
from modinterp.claims.band import at_least, at_most, between, near
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import mixed
from modinterp.measurements import GroupMeasurements
from modinterp.runs import NotRecorded
from modinterp.sources.groups.claims.conditions import LEARNED
from modinterp.sources.groups.runs import A5_MLP, S5_MLP

RESTRICTED_LOSS = "restricted loss [nats]"
EXCLUDED = "excluded loss over that of guessing"
EXCLUDED_OTHER = "largest relative change of the train loss without another representation"
RESTRICTED_OTHER = "least loss with another representation alone, over that of guessing"


def _live(m: GroupMeasurements) -> torch.Tensor:
    """Neurons whose column of W_a has a squared norm of 1 or more."""
    return next(iter(m.embeddings.values())).double().square().sum(dim=0) >= 1


def _pure(m: GroupMeasurements) -> dict[str, Value]:
    live = _live(m)
    of_a, of_b = (neuron_irreps(x, m.irreps) for x in (m.neuron_inputs["a"], m.neuron_inputs["b"]))
    pure = (of_a.best >= 0.95) & (of_a.own == of_b.own)
    return {
        "live neurons of one representation to 95%, the same of a and b": float(pure[live].double().mean()),
        "live neurons, share of all": float(live.double().mean()),
    }


def _shares(m: GroupMeasurements) -> dict[str, Value]:
    found: dict[str, list[float]] = {}
    own, live = m.neurons["a"].own, _live(m)
    for place, rho in enumerate(m.irreps):
        members = ((own == place) & live).nonzero().flatten()
        if rho.name in ("sign", "standard") and len(members):
            shares = pair_shares(m.post[..., members], m.task, [rho])
            found[rho.name] = [float(x[0]) for x in (shares.a, shares.b, shares.product)]
    if len(found) < 2:
        raise NotRecorded(f"{m.name} has no neurons of both the sign and the standard representation")
    signs = max(abs(x - 1 / 3) for x in found["sign"])
    return {
        "largest difference to 1/3 of a share of the sign neurons": signs,
        "rho(a b) in the standard neurons": found["standard"][2],
    }


def _readoff(m: GroupMeasurements) -> dict[str, Value]:
    large = [rho for rho in m.keys if rho.dim >= 3]
    found = [group_readoff(m.mean_neurons, m.W_L, m.task, rho) for rho in large]
    shares = [one.share for one in found]
    directions = [one.rank / rho.dim**2 for one, rho in zip(found, large, strict=True)]
    return {
        "least share of the map to logits that is tr rho(a b) rho(c^-1)": min(shares, default=math.nan),
        "least share of its d^2 directions that reach the logits": min(directions, default=math.nan),
    }


def _by_irrep(m: GroupMeasurements) -> dict[str, Value]:
    rows = None if m.spec is None else m.split.train
    train = m.loss_of(m.neuron_logits, rows)
    others = [rho for rho in m.irreps[1:] if rho not in m.keys]
    changes = [abs(m.neurons_loss_without((rho,), rows) / train - 1) for rho in others]
    alone = {rho.name: m.loss_of(m.logits_of_products((rho,))) for rho in m.irreps[1:]}
    return {
        EXCLUDED_OTHER: max(changes, default=0.0),
        RESTRICTED_OTHER: min((alone[rho.name] for rho in others), default=math.inf) / math.log(m.p),
        "least loss with one key representation alone [nats]": min(
            (alone[name] for name in m.key_names), default=math.inf
        ),
    }


def _cosets(m: GroupMeasurements) -> dict[str, Value]:
    shares = m.coset_shares["a"], m.coset_shares["b"]
    return {
        "neurons constant on cosets of a subgroup": min(x.share for x in shares),
        "random functions of the same representations on as large ones": max(x.null for x in shares),
    }


FROM_999 = Change(
    date="2026-11-23",
    what="the share of its variance between cosets from which a neuron counts as constant on them",
    before="0.95: this proves 0.3% and 99.9% of the pairs of two A5 MLPs, in 2.5 times fewer operations",
    now="0.999: this proves all pairs, in 1.4 and 2.0 times fewer operations",
    why=(
        "We chose the share after seeing these numbers, on these networks. The choice changes no tolerance. A "
        "neuron below the share is computed element by element, which takes more operations; the proof is valid "
        "at every choice. For the authors' S5 network 0.9 and 0.9999 both prove all pairs, in 3.6 times fewer "
        "operations."
    ),
)

CLAIMS = (
    Claim(
        id="groups.s5.neurons",
        where="section 5.3",
        statement="Each neuron serves a single representation on both inputs; some neurons are off.",
        source_says="103 standard, 10 sign, 15 off in the demo; least share 1 - 2e-8 in a released network",
        measure=each(_pure),
        given=LEARNED,
        expected={
            "live neurons of one representation to 95%, the same of a and b": at_least(
                0.95, "all live neurons in a released network"
            ),
            "live neurons, share of all": at_least(
                0.5,
                "113 and 123 of 128 neurons are live in two released networks; otherwise the result is about "
                "few neurons",
            ),
        },
        needs=S5_MLP,
        scope="any seed",
        figure="clusters",
        changed=(
            Change(
                date="2026-11-25",
                what="whether a neuron must be live to count",
                before="no: an untrained network has no neuron for which the statement could be false",
                now="half of the neurons must be live: nearly all are in our networks, and none before training; "
                "held before and after",
                why="the claim should distinguish a trained network from an untrained one",
            ),
        ),
    ),
    Claim(
        id="groups.s5.neurons.shares",
        where="section 5.3",
        statement="Within a cluster rho(a), rho(b) and rho(a b) have typical shares of the activations.",
        source_says="shares for sign: 1/3 each; for standard 0.369, 0.405 and 0.114, in the demo",
        measure=each(_shares),
        given=LEARNED,
        expected={
            "largest difference to 1/3 of a share of the sign neurons": at_most(
                0.02, "shares of 0.3333, 0.3334 and 0.3333 in the demo"
            ),
            "rho(a b) in the standard neurons": between(
                0.08, 0.15, "the share of rho(a b) is 0.114 and 0.115 in two released networks"
            ),
        },
        needs=S5_MLP,
        scope="any seed",
        control="without control",
        figure="clusters",
        finding=mixed(),
    ),
    Claim(
        id="groups.s5.readoff",
        where="section 5.4",
        statement="The map from rho(a b) in the neurons to the logits is the character tr rho(a b) rho(c^-1).",
        source_says="0.9915 for standard and 0.9831 for (2, 2, 1) in a released network",
        measure=each(_readoff),
        given=LEARNED,
        expected={
            "least share of the map to logits that is tr rho(a b) rho(c^-1)": at_least(
                0.95, "0.9831 and 0.9915 in a released network"
            )
        },
        reported=("least share of its d^2 directions that reach the logits",),
        needs=S5_MLP,
        scope="any seed",
        finding=mixed(
            "The statement holds for every standard and standard x sign representation. One network also learns "
            "(2, 2, 1). Only 12 of the 25 directions of (2, 2, 1) reach the logits, from neurons on cosets. Its "
            "contribution helps, but is not the character. In the released network of seed 5 the statement holds "
            "for both representations, 0.991 and 0.984 with orthogonal matrices."
        ),
        control="without control",
        figure="matrices",
    ),
    Claim(
        id="groups.s5.restricted",
        where="section 5.5",
        statement="With only rho(a b) of the key representations left, the loss falls below that of the whole network.",
        source_says="7.08e-7 against 2.38e-6 in the mainline",
        measure=each(
            lambda m: {
                "restricted over all-pairs loss": m.neurons_restricted_loss / m.loss_of(m.logits),
                "accuracy with rho(a b) of key representations alone": m.neurons_restricted_accuracy,
                RESTRICTED_LOSS: m.neurons_restricted_loss,
            }
        ),
        given=LEARNED,
        expected={
            "restricted over all-pairs loss": at_most(0.9, "0.30 in the mainline"),
            "accuracy with rho(a b) of key representations alone": at_least(0.999, "1.0 in a released network"),
        },
        behaviour=("accuracy with rho(a b) of key representations alone",),
        reported=(RESTRICTED_LOSS,),
        needs=S5_MLP,
        scope="any seed",
        figure="losses",
        changed=(
            Change(
                date="2026-11-25",
                what="the tolerance of the restricted loss, relative to that of the whole network",
                before="at most 1, which an untrained network just meets: 0.9998",
                now="at most 0.9: 0.03 in seed 1; held with the old and the new tolerance",
                why="before training both losses equal that of guessing, and the claim should fail",
            ),
        ),
        control="also true of random labels",
    ),
    Claim(
        id="groups.s5.excluded",
        where="section 5.5",
        statement="Without rho(a b) of the key representations the network fails even on its training data.",
        source_says="7.59 in the mainline, 7.3 to 17.4 in 50 seeds; guessing has 4.787",
        measure=each(lambda m: {EXCLUDED: m.neurons_excluded_loss / math.log(m.p)}),
        given=LEARNED,
        expected={EXCLUDED: at_least(1.1, "the loss is above that of guessing: 1.5 times is the least of 50 seeds")},
        reported=("excluded_loss",),
        needs=S5_MLP,
        scope="any seed",
        figure="losses",
        changed=(
            Change(
                date="2026-11-25",
                what="the tolerance of the excluded loss, in units of the loss of guessing",
                before="at least 1, which an untrained network just meets: 1.00005",
                now="at least 1.1: 2.4 in seed 1; held with the old and the new tolerance",
                why="an untrained network has learned nothing that could be excluded, so the claim should fail",
            ),
        ),
        control="also true of random labels",
    ),
    Claim(
        id="groups.s5.by_irrep",
        where="section 5.5",
        statement="If representations are removed one by one, only key representations matter.",
        source_says="loss without standard 7.27, without sign 6.0e-4, without others unchanged; with standard alone "
        "1.05e-4, sign alone 4.10, others alone 4.72",
        measure=each(_by_irrep),
        given=LEARNED,
        expected={
            EXCLUDED_OTHER: at_most(0.2, "the loss does not change in the mainline"),
            RESTRICTED_OTHER: at_least(0.9, "a loss of 4.72 in the mainline; guessing has 4.787"),
            "least loss with one key representation alone [nats]": at_most(0.1, "1.05e-4 in the mainline"),
        },
        needs=S5_MLP,
        scope="any seed",
        figure="losses",
    ),
    Claim(
        id="groups.s5.cosets",
        where="not in the paper; Stander et al. 2023 read such networks so",
        statement=(
            "Each neuron is constant on the cosets of a subgroup, although the neuron's representation does not "
            "force this."
        ),
        source_says="120 of 120 neurons in a released network: 54 on S4, 66 on a subgroup of order 20 (our count)",
        measure=each(_cosets),
        given=LEARNED,
        expected={
            "neurons constant on cosets of a subgroup": near(
                1, 0.1, "all neurons of a released network, seen before we set the tolerance; our networks are the test"
            ),
            "random functions of the same representations on as large ones": at_most(
                0.1,
                "random functions must rarely be constant, or constant neurons show nothing; none in samples "
                "for a released network",
            ),
        },
        needs=S5_MLP,
        scope="any seed",
        figure="clusters",
    ),
    Claim(
        id="groups.proof",
        where="not in the paper; Wu et al. 2024 bound such networks",
        statement=(
            "A proof from neurons that are constant on cosets shows most answers to be right, in fewer operations "
            "than trying all pairs."
        ),
        source_says="95% for half of the S5 networks (of Wu et al., from memory)",
        measure=each(
            lambda m: {
                "share of all pairs proven to be answered rightly": m.bound.accuracy,
                "operations of trying all pairs over those of the proof": m.bound.by_trying / m.bound.operations,
            }
        ),
        given=LEARNED,
        expected={
            "share of all pairs proven to be answered rightly": at_least(0.95, "the literature's bound"),
            "operations of trying all pairs over those of the proof": at_least(
                1.01, "with as many operations, trying all pairs would be the simpler proof"
            ),
        },
        needs=(*A5_MLP, *S5_MLP),
        scope="any seed",
        changed=(FROM_999,),
    ),
)
