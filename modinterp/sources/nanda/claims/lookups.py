"""Claims of appendix C.1.3, figures 10 and 11: attention scores depend on each number at one frequency; the sigmoid is
nearly linear.
"""

from __future__ import annotations

import math

import torch

from modinterp.analyses.attention.heads import position_scores
from modinterp.analyses.fourier.frequencies import frequency_shares
from modinterp.analyses.fourier.transforms import component_norms
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import Finding, mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.network import SCORES
from modinterp.sources.nanda.claims.ablations import ACCURACY, LOSS, LOSS_RATIO, intervention
from modinterp.sources.nanda.claims.heads import (
    BY_ROUNDING,
    N_MULTIPLY,
    OPPOSITE,
    PRODUCT_LEAD,
    TWO_IN_MAIN,
    head_roles,
    of_rank,
)
from modinterp.sources.nanda.claims.trainings import by_seed
from modinterp.sources.nanda.runs import MAIN, SEEDS

LARGEST_DIFFERENCE = "largest difference of the two ways to compute the scores"
LOWEST_FVE = "lowest FVE of a line"
N_TABLES = "heads with a share of 0.90"
SHARE_OF_HEAD = "share of head"
RANK_SHARE = tuple(f"share of the head of rank {rank}" for rank in range(1, 5))
PAIR_NORMS = "correlation of the norms of the pair's OV circuits, component by component"


def _lookup(m: CyclicMeasurements) -> dict[str, Value]:
    scores = m.activation(SCORES)[..., 0]
    from_table = m.tables[:, None, :] + position_scores(m.model, m.p)[0]
    queries, keys = m.activation("blocks.0.attn.hook_q"), m.activation("blocks.0.attn.hook_k")[:, :, 0]
    products = (queries * keys).sum(dim=-1)
    return {
        LARGEST_DIFFERENCE: float((scores - from_table).abs().max()),
        "products of queries and keys over the scores": float((products * scores).sum() / scores.square().sum()),
    }


def _table_fve(m: CyclicMeasurements) -> dict[str, Value]:
    shares = sorted(m.roles.score_share, reverse=True)
    ranked = {name: of_rank(shares, rank) for rank, name in enumerate(RANK_SHARE)}
    by_head = {f"{SHARE_OF_HEAD} {head}": share for head, share in enumerate(m.roles.score_share)}
    return {N_TABLES: sum(share >= 0.90 for share in shares), **ranked, **by_head}


def _phase_form() -> dict[str, Value]:
    a = 2 * math.pi * torch.arange(113, dtype=torch.float64) / 113
    differences = []
    for alpha, beta in ((-0.26, -0.14), (0.27, -0.04), (0.0, -1.0), (-1.0, 0.0)):  # those of table 2, and on the axes
        gamma, shift = math.hypot(alpha, beta), math.atan2(-beta, alpha)
        for w in range(1, 57):
            two = alpha * (w * a).cos() + beta * (w * a).sin()
            one = gamma * (w * a + shift).cos()
            differences.append(float(((two[:, None] - two) - (one[:, None] - one)).abs().max()))
    return {LARGEST_DIFFERENCE: max(differences)}


def _linear_sigmoid(m: CyclicMeasurements) -> dict[str, Value]:
    fit = m.sigmoid
    widest = [max(-low, high) for low, high in zip(fit.lowest, fit.highest, strict=True)]
    return {
        LOWEST_FVE: min(fit.explained),
        "heads within 4 nats below 0.95": sum(w <= 4 and e < 0.95 for w, e in zip(widest, fit.explained, strict=True)),
        "largest score difference [nats]": max(widest),
    }


def _amplifier_norms(m: CyclicMeasurements) -> dict[str, Value]:
    first, second = m.roles.pair
    norms = torch.stack([component_norms(m.ov[head]) for head in (first, second)])
    return {PAIR_NORMS: float(torch.corrcoef(norms)[0, 1]) if first != second else math.nan}


TABLE_FVES = (0.9902, 0.9521, 0.991, 0.9242)

CLAIMS = (
    Claim(
        id="nanda.C13.lookup",
        where="appendix C.1.3",
        statement="The attention score of a is a lookup table C[a] plus a number that depends only on the position.",
        source_says="the decomposition is exact",
        measure=_lookup,
        expected={
            LARGEST_DIFFERENCE: at_most(1e-4, "the two ways to compute the scores are equal by algebra, up to rounding")
        },
        reported=("products of queries and keys over the scores",),
        needs=(MAIN,),
        scope="any network",
    ),
    *(
        Claim(
            id=f"nanda.C13.Cj_fve.head{head}",
            where="appendix C.1.3",
            statement=(
                "The lookup table C[a] of a head's attention score is F cos(w a) + G sin(w a) for one "
                f"frequency w. We report the head whose lookup table C has the FVE of rank {head + 1} "
                "among the heads."
            ),
            source_says=f"head {head}: {fve}",
            measure=_table_fve,
            printed={
                N_TABLES: 4,
                RANK_SHARE[head]: sorted(TABLE_FVES, reverse=True)[head],
                f"{SHARE_OF_HEAD} {head}": fve,
            },
            outside={
                f"{SHARE_OF_HEAD} {head}": (
                    "rounding: the paper's number is 0.001 above the number of our main network"
                )
            },
            by_selection=(N_TABLES,),
            expected={
                N_TABLES: at_least(2, "in the paper one frequency holds more than 0.92 of the table of each head")
            },
            needs=(MAIN,),
            finding=Finding(why=BY_ROUNDING),
            changed=by_seed("25 of 29"),
            figure="tables",
        )
        for head, fve in enumerate(TABLE_FVES)
    ),
    Claim(
        id="nanda.C13.phase_form",
        where="appendix C.1.3",
        statement=(
            "The waves alpha cos + beta sin of a, minus the same waves of b, equal a shifted cosine of a minus "
            "the same shifted cosine of b."
        ),
        source_says="the formula is an identity",
        measure=lambda *_: _phase_form(),
        expected={LARGEST_DIFFERENCE: at_most(1e-12, "the only error must be rounding in float64")},
        scope="any network",
    ),
    Claim(
        id="nanda.C13.heads13_opposite",
        where="appendix C.1.3",
        statement=(
            "Two heads whose attention scores have one frequency have opposite coefficients of this frequency's "
            "cosine and sine."
        ),
        source_says="the coefficients of heads 1 and 3 have a correlation of about -1",
        measure=head_roles(OPPOSITE),
        printed={OPPOSITE: -1},
        expected={
            OPPOSITE: at_most(
                -0.95, "the paper says that the coefficients of the two heads are almost exactly opposite"
            )
        },
        needs=(MAIN,),
        figure="tables",
        finding=Finding(
            why=(
                "Wherever the attention scores of two heads have the same frequency, the coefficients of the two "
                "heads' waves are almost exactly opposite (correlation -1.0)."
            )
        ),
        changed=by_seed("29 of 30"),
    ),
    Claim(
        id="nanda.C13.linear_sigmoid",
        where="appendix C.1.3",
        statement="Over the range of the attention scores, the sigmoid is nearly a straight line.",
        source_says="R squared 0.975, over scores of about -5 to 5",
        measure=_linear_sigmoid,
        printed={LOWEST_FVE: 0.975, "largest score difference [nats]": 5},
        expected={
            LOWEST_FVE: at_least(0.80, "the R squared of the line is 0.84 to 0.99 in archived networks"),
            "heads within 4 nats below 0.95": equals(
                0, "the R squared of the line is 0.975 in the paper, for scores of -5 to 5 nats"
            ),
        },
        needs=(MAIN,),
        figure="tables",
        finding=mixed(
            "A straight line explains 0.97 of the sigmoid's variance over the range of the attention scores in "
            "our main network. Where the last position attends to itself late in training (see "
            "A1.self_attention), a head's attention scores have a wide range. Over a wide range of attention "
            "scores, a straight line explains less of the sigmoid's variance."
        ),
        control="also true of another operation",
    ),
    Claim(
        id="nanda.C13.linear_sigmoid_loss",
        where="appendix C.1.3",
        statement="With a straight line in place of the softmax of its attention, the network works equally well.",
        source_says="the loss changes from 2.41e-7 to 2.12e-7, which is 0.88 times as high",
        measure=intervention("sigmoid made linear"),
        printed={LOSS_RATIO: 0.88, LOSS: 2.12e-7},
        expected={
            LOSS_RATIO: at_most(
                10,
                "the ratio of the losses, with lines over without, is 0.88 in the paper and 1.19 in an archived"
                " network",
            ),
            ACCURACY: at_least(0.999, "replacing the softmax must not change the accuracy"),
        },
        behaviour=(ACCURACY,),
        needs=(MAIN,),
        finding=mixed(
            "With a straight line in place of the softmax, the loss is 0.85 times the original loss in our main "
            "network (0.88 in the paper). With a straight line in place of the softmax, the last position gives "
            "no attention to itself. Some networks need the last position's attention to itself (see "
            "A1.self_attention)."
        ),
        figure="interventions",
        control="also true before training",
    ),
    Claim(
        id="nanda.fig10",
        where="appendix C.1.3, figure 10",
        statement="In the Fourier basis almost all of each head's lookup table C_j lies at one frequency.",
        source_says="0.92 to 0.99",
        measure=_table_fve,
        expected={N_TABLES: at_least(2, "in the paper one frequency holds more than 0.92 of the table of each head")},
        by_selection=(N_TABLES,),
        needs=(MAIN,),
        finding=Finding(why=BY_ROUNDING),
        changed=by_seed("25 of 29"),
        figure="tables",
    ),
    Claim(
        id="nanda.fig11",
        where="appendix C.1.3, figure 11",
        statement=(
            "Each head's OV circuit contains only key frequencies, and is strongest at the key frequency of "
            "this head's attention."
        ),
        source_says="none printed",
        measure=lambda m: {
            "lowest share of the key frequencies": min(frequency_shares(ov, m.freqs) for ov in m.ov),
            "heads whose OV is strongest at their own frequency": sum(
                a == b for a, b in zip(m.roles.ov_freqs, m.roles.freqs, strict=True)
            ),
        },
        expected={
            "lowest share of the key frequencies": at_least(
                0.9, "figure 11 shows no frequency other than the key frequencies"
            ),
            "heads whose OV is strongest at their own frequency": at_least(
                2, "in the paper the OV circuits of two heads have most of their norm at this frequency"
            ),
        },
        needs=(MAIN,),
        figure="ov",
    ),
    Claim(
        id="nanda.C13.amplifier_norms",
        where="appendix C.1.3, figure 11",
        statement="The OV circuits of the two heads whose attentions add to 1 have components of almost the same norms.",
        source_says="heads 1 and 3 have almost exactly the same norms",
        measure=each(_amplifier_norms),
        expected={
            PAIR_NORMS: at_least(
                0.95,
                "the paper's norms are almost exactly the same; in five networks that we examined "
                "beforehand the correlation of the norms is 0.96 to 1.00",
            )
        },
        needs=(MAIN,),
        figure="ov",
        finding=mixed(),
    ),
    Claim(
        id="nanda.C13.summary",
        where="appendix C.1.3",
        statement=(
            "In summary, two heads multiply (their output has products of the two inputs), and two heads amplify the "
            "waves of the embedding."
        ),
        source_says="2 and 2",
        measure=head_roles(N_MULTIPLY, PRODUCT_LEAD),
        printed={N_MULTIPLY: 2},
        expected={
            N_MULTIPLY: equals(2, "heads 0 and 2 multiply in the paper"),
            PRODUCT_LEAD: at_least(0, "the paper says that two heads, 0 and 2, add products of the two inputs"),
        },
        needs=SEEDS,
        scope="any seed",
        finding=mixed(f"Two heads output products of the two inputs {TWO_IN_MAIN}."),
        figure="ov",
    ),
)
