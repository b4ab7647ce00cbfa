"""Claims on the logits: their shape, how neurons vote, and how well single cosines approximate the neurons."""

from __future__ import annotations

import torch
from torch import Tensor

from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed, refuted
from modinterp.interventions.effects import answers_moved
from modinterp.measurements import CyclicMeasurements
from modinterp.models import ACTIVATIONS
from modinterp.sources.he.claims.features import ALL, RELU_RUNS, WIDE
from modinterp.sources.he.idealised import (
    accuracy,
    cosines,
    loss,
    own_cosines,
    own_logits,
    pair_logits,
    sigma_of,
)
from modinterp.sources.he.logit_shape import centred, logit_shape, prefactor_fits
from modinterp.sources.he.neuron_waves import waves_of
from modinterp.sources.he.runs import named

GHOST, DIP, FIT = "ghost over peak", "dip over peak", "R squared of peak, ghosts and dips"
PREFACTORS = {name: f"r2 with prefactor {name}" for name in ("1", "cos^2", "|cos|", "|sin|")}
BEST, WORST = "r2 with cos^2 less the best other", "r2 with cos^2 less the worst other"
LEAD, LOSS_RATIO = "right logit on the diagonal over off it", "loss on the diagonal over off it"
SINGLE, OF_64, OF_HALF, ONE_GROUP, ALL_BUT_ONE = (
    "mean accuracy of one neuron, times p",
    "accuracy of an eighth of the neurons",
    "accuracy of half of the neurons",
    "largest accuracy of one frequency",
    "least accuracy without one frequency",
)
COSINES, SQUARES, DIAGONAL, REST = (
    "accuracy of cosines",
    "accuracy of square waves read and cosines written",
    "errors on the diagonal, share",
    "accuracy of what cosines leave",
)
USED, ALIGNED = "frequencies that are used", "resultant length of D"
SAMPLED, SUBSETS = 60, 3


def _ghost(m: CyclicMeasurements) -> dict[str, Value]:
    waves = waves_of(m)
    shape = logit_shape(own_logits(waves))
    squared = logit_shape(pair_logits(waves.theta, waves.xi, ACTIVATIONS["square"]))
    return {
        GHOST: shape.ghost,
        DIP: shape.dip,
        FIT: shape.explained,
        "ghost over peak with squares as nonlinearity": squared.ghost,
    }


def _prefactor(m: CyclicMeasurements) -> dict[str, Value]:
    fits = prefactor_fits(own_logits(waves_of(m)))
    others = [value for name, value in fits.items() if name != "cos^2"]
    numbers: dict[str, Value] = {PREFACTORS[name]: value for name, value in fits.items()}
    return numbers | {BEST: fits["cos^2"] - max(others), WORST: fits["cos^2"] - min(others)}


def _right_logits(logits: Tensor) -> Tensor:
    p = len(logits)
    x = torch.arange(p)
    return logits.gather(-1, ((x.unsqueeze(1) + x) % p).unsqueeze(-1)).squeeze(-1)


def _diagonal(m: CyclicMeasurements) -> dict[str, Value]:
    logits = own_logits(waves_of(m))
    on = torch.eye(len(logits), dtype=torch.bool)
    right, losses = _right_logits(centred(logits)), logits.logsumexp(dim=-1) - _right_logits(logits)
    return {
        LEAD: float(right[on].mean() / right[~on].mean()),
        LOSS_RATIO: float(losses[on].mean() / losses[~on].mean()),
    }


def _subset(m: CyclicMeasurements) -> dict[str, Value]:
    waves = waves_of(m)
    sigma, generator, n = sigma_of(waves), torch.Generator().manual_seed(0), len(waves.theta)

    def of(rows: Tensor) -> float:
        return accuracy(pair_logits(waves.theta[rows], waves.xi[rows], sigma))

    def of_some(size: int) -> float:
        return sum(of(torch.randperm(n, generator=generator)[:size]) for _ in range(SUBSETS)) / SUBSETS

    singles = [of(row.unsqueeze(0)) for row in torch.randperm(n, generator=generator)[:SAMPLED]]
    groups = [waves.winner == k for k in waves.winner.unique()]
    return {
        SINGLE: sum(singles) / SAMPLED * waves.p,
        OF_64: of_some(n // 8),
        OF_HALF: of_some(n // 2),
        ONE_GROUP: max(of(group) for group in groups),
        ALL_BUT_ONE: min(of(~group) for group in groups),
    }


def _idealised(m: CyclicMeasurements) -> dict[str, Value]:
    waves = waves_of(m)
    sigma, (read, written) = sigma_of(waves), cosines(waves, waves.phi)
    of_cosines, squares = pair_logits(read, written, sigma), pair_logits(read.sign(), written, sigma)
    wrong = ~answers_moved(squares)
    own_read, own_written = own_cosines(waves)
    return {
        COSINES: accuracy(of_cosines),
        "loss of cosines": loss(of_cosines),
        SQUARES: accuracy(squares),
        DIAGONAL: float(wrong.diagonal().sum() / wrong.sum()) if wrong.any() else 1.0,
        REST: accuracy(pair_logits(waves.theta - own_read, waves.xi - own_written, sigma)),
    }


def _like_others(m: CyclicMeasurements) -> dict[str, Value]:
    waves = waves_of(m)
    logits = own_logits(waves)
    return {
        ALIGNED: waves.resultant,
        USED: int((waves.counts > 0).sum()),
        "least probability of the right answer": float((_right_logits(logits) - logits.logsumexp(dim=-1)).exp().min()),
    }


CLAIMS = (
    Claim(
        id="he.logits.ghost",
        where="figure 8",
        statement="The logits have ghosts (side peaks) at 2x and 2y that are half as high as the main peak.",
        source_says="ghosts are half as high as the main peak",
        measure=each(_ghost),
        expected={GHOST: between(0.4, 0.6, "the source says that ghosts are one half of the peak")},
        reported=(DIP, FIT, "ghost over peak with squares as nonlinearity"),
        needs=ALL,
        scope="any seed",
        figure="ghosts",
        finding=mixed(
            "Only some networks with a quadratic activation and gradient descent have ghosts within the "
            "tolerance, at .37 to .46 of the peak. In networks with ghosts within the tolerance, peak, "
            "ghosts and dips together explain a fifth of the logits' variance. In networks whose neurons "
            "begin with one frequency each, the ghosts are .35 of the peak, and in networks with ReLU .03 "
            "to .14."
        ),
    ),
    Claim(
        id="he.logits.ghost_relu",
        where="ours",
        statement="With ReLU, the heights of the logits' ghosts (side peaks) and dips lie between the heights for "
        "ideal square waves and the heights for ideal cosines.",
        source_says="not stated",
        measure=each(_ghost),
        expected={
            GHOST: between(0, 0.33, "ghosts are 0 for square waves and 1/3 of the peak for cosines"),
            DIP: between(-0.33, -0.07, "dips are -1/3 of the peak for square waves and -1/15 for cosines"),
        },
        reported=(FIT,),
        needs=RELU_RUNS,
        scope="any seed",
        figure="ghosts",
    ),
    Claim(
        id="he.logits.prefactor",
        where="ours, from proposition 1",
        statement="The prefactor cos^2(w(x - y)/2) fits the logits best of four candidate prefactors.",
        source_says="the source does not compare prefactors; the source's proposition has the prefactor cos^2",
        measure=each(_prefactor),
        expected={BEST: at_least(0, "cos^2 should fit best of the four prefactors")},
        reported=tuple(PREFACTORS.values()),
        needs=(*named("std", "sgd", "quad1", "grok"), WIDE),
        scope="any seed",
        finding=refuted(
            (
                "With ReLU the prefactor cos^2 fits worst of the four candidates: its R squared is .12 "
                "lower than that of the best candidate. In networks named quad1, the prefactor |cos| fits "
                "the logits better than the source's prefactor cos^2."
            ),
            "source",
        ),
        control="also true before training",
    ),
    Claim(
        id="he.logits.prefactor_relu",
        where="ours",
        statement="With ReLU, the prefactor cos^2(w(x - y)/2) fits the logits worst of four candidate prefactors.",
        source_says="not stated",
        measure=each(_prefactor),
        expected={WORST: at_most(0, "cos^2 should fit worst of the four prefactors")},
        reported=tuple(PREFACTORS.values()),
        needs=(*named("std", "sgd", "grok"), WIDE),
        scope="any seed",
    ),
    Claim(
        id="he.logits.diagonal",
        where="ours, from proposition 1",
        statement="At x = y the main peak of the logits and both side peaks (ghosts) coincide, so pairs x = y have the largest right logit.",
        source_says="the source does not measure the ratio; the source's proposition gives a ratio of 2.1",
        measure=each(_diagonal),
        expected={LEAD: at_least(1, "the logit of the right answer should be larger at x = y than at x != y")},
        reported=(LOSS_RATIO,),
        needs=(*named("std", "sgd", "quad", "quad1"), WIDE),
        scope="any seed",
        figure="ghosts",
        finding=mixed(
            "With a quadratic activation, the right logit of pairs x = y is 1.4 to 1.9 times the right "
            "logit of other pairs. With ReLU the right logit of pairs x = y is .87 to .88 times the right "
            "logit of other pairs."
        ),
    ),
    Claim(
        id="he.logits.diagonal_relu",
        where="ours",
        statement="With ReLU the pairs x = y are the hardest: their right logit is smaller, and their loss larger, "
        "than for other pairs.",
        source_says="not stated",
        measure=each(_diagonal),
        expected={
            LEAD: at_most(
                1,
                "in the authors' ReLU networks the right logits of pairs x = y are .79 to .92 times those "
                "of other pairs",
            ),
            LOSS_RATIO: at_least(
                1, "in the authors' ReLU networks the losses on pairs x = y are 2.2 to 9.0 times those on other pairs"
            ),
        },
        needs=(*named("std", "sgd"), WIDE),
        scope="any seed",
        figure="ghosts",
        control="also true before training",
    ),
    Claim(
        id="he.vote.subset",
        where="section 3.2",
        statement="Single neurons and single frequencies predict almost no answers; only the sum over many neurons "
        "predicts the answer.",
        source_says="the source says that neurons decide by majority voting",
        measure=each(_subset),
        expected={
            SINGLE: at_most(2.5, "a single neuron's accuracy should be near chance, 1 in p"),
            OF_64: at_most(
                0.85,
                "in the authors' networks the sum over an eighth of the neurons has an accuracy of .67 (p ="
                " 23) and .68 (p = 97)",
            ),
            OF_HALF: at_least(
                0.99,
                "in the authors' networks the sum over half of the neurons has an accuracy of .998 (p = 23) and"
                " 1.0 (p = 97)",
            ),
            ONE_GROUP: at_most(
                0.5, "in the authors' network the neurons of a single frequency have an accuracy of .21 to .34"
            ),
        },
        reported=(ALL_BUT_ONE,),
        needs=(*named("std"), WIDE),
        scope="any seed",
        figure="vote",
    ),
    Claim(
        id="he.vote.idealised",
        where="ours",
        statement=(
            "If each neuron is replaced by one cosine of the neuron's frequency and input phase, all "
            "answers stay right. If each neuron is replaced by a square wave of its frequency and input "
            "phase, answers are wrong only at x = y. The remainder of the weights, after the neurons' "
            "cosines are taken out, gives few right answers."
        ),
        source_says="not stated",
        measure=each(_idealised),
        expected={
            COSINES: at_least(0.999, "in the authors' eight networks the cosines alone have an accuracy of 1.0"),
            DIAGONAL: at_least(0.95, "in the authors' networks std, grok and p97 every error is on a pair x = y"),
            REST: at_most(0.15, "in the authors' networks the remainder of the weights has an accuracy of .002 to .12"),
        },
        behaviour=(COSINES, REST),
        reported=(SQUARES, "loss of cosines"),
        needs=(*named("std", "sgd", "grok"), WIDE),
        scope="any seed",
        finding=mixed(
            "In networks named sgd, the weights that remain after subtracting each neuron's cosine still answer "
            "up to 21% of the pairs. With cosines or square waves in place of the neurons, the statement holds in"
            " all networks."
        ),
        control="also true before training",
    ),
    Claim(
        id="he.embed",
        where="notebook on the trained embedding",
        statement="A trained embedding does not change how neurons together determine the answer.",
        source_says="the source finds the same features as in its main network",
        measure=each(_like_others),
        expected={
            "accuracy": equals(1, "the network should answer all pairs correctly"),
            ALIGNED: at_least(0.98, "the phases of neurons should align as well as without a trained embedding"),
            USED: equals(11, "the network should use all frequencies"),
        },
        needs=named("embed"),
        scope="any seed",
    ),
    Claim(
        id="he.p97",
        where="default of the released code",
        statement="The main results also hold at p = 97 with 1,024 neurons.",
        source_says="the source finds the same features as in its main network",
        measure=each(_like_others),
        expected={
            "accuracy": equals(1, "the network should answer all pairs correctly"),
            ALIGNED: at_least(0.98, "the phases of neurons should align as well as at p = 23"),
            USED: equals(48, "the network should use all frequencies"),
        },
        reported=("least probability of the right answer",),
        needs=(WIDE,),
    ),
)
