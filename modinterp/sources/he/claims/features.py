"""Claims on the paper's observations 1 to 3: one frequency per neuron, aligned phases, equal use of all frequencies."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed, refuted
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.he.idealised import cosines, loss, pair_logits, sigma_of
from modinterp.sources.he.neuron_waves import angles, phase_test, waves_at, waves_of
from modinterp.sources.he.runs import named

WIDE = "he/p97-42"
RELU_RUNS = (*named("std", "embed", "sgd", "relu1", "grok"), WIDE)
ALL = (*named("std", "embed", "sgd", "quad", "quad1", "relu1", "grok"), WIDE)
SHARE, MEDIAN, MEDIAN_WRITTEN, SAME = (
    "neurons with 90% of theta at one frequency, share",
    "median share of theta at one frequency",
    "median share of xi at that frequency",
    "neurons of one frequency in both layers, share",
)
R2_COSINE, R2_SQUARE, T = "median r2 of the best cosine", "median r2 of the square wave", "paired t, square less cosine"
RESULTANT, MOST_D, MEDIAN_D = "resultant length of D", "95% of |D| below", "median |D|"
WEIGHTED_SINE, FAR = "mean |sin D| weighted by strength", "share of |D| above .5"
UNUSED, P_VALUE, FEWEST, MOST_NEURONS = (
    "frequencies not used",
    "p-value of equal use",
    "fewest neurons at one frequency",
    "most neurons at one frequency",
)
Z = {i: f"Z_{i}" for i in (1, 2, 3, 4)}
AT_FIRST = {i: f"Z_{i} of the initial phases" for i in (2, 4)}
BY_PHASES, BY_CHANCE = "loss of cosines with these phases", "mean loss of cosines with uniform phases"
SPREAD_READ, SPREAD_WRITTEN, EFFECTIVE = (
    "coefficient of variation of alpha",
    "coefficient of variation of beta",
    "effective number of neurons",
)
DRAWS = 20


def _share(m: CyclicMeasurements) -> dict[str, Value]:
    waves = waves_of(m)
    return {
        SHARE: float((waves.share_read >= 0.9).double().mean()),
        MEDIAN: float(waves.share_read.median()),
        MEDIAN_WRITTEN: float(waves.share_written.median()),
        SAME: waves.same_frequency,
    }


def _squared_correlations(x: Tensor, y: Tensor) -> Tensor:
    x, y = (v - v.mean(dim=1, keepdim=True) for v in (x, y))
    return (x * y).sum(dim=1).square() / (x.square().sum(dim=1) * y.square().sum(dim=1))


def _half_medians(theta: Tensor, is_positive: Tensor) -> Tensor:
    """Return the square wave whose two levels are the medians of each neuron's weights in its two half-periods."""
    nan = torch.full_like(theta, torch.nan)
    upper, lower = (torch.where(part, theta, nan).nanquantile(0.5, dim=1) for part in (is_positive, ~is_positive))
    return torch.where(is_positive, upper.unsqueeze(1), lower.unsqueeze(1))


def _shape(m: CyclicMeasurements) -> dict[str, Value]:
    """Measure how well a cosine and a square wave, each plus a constant, fit theta."""
    waves = waves_of(m)
    wave = (angles(waves.p)[waves.winner] + waves.phi.unsqueeze(1)).cos()
    constant = waves.theta.mean(dim=1, keepdim=True)
    off_cosine = (waves.theta - constant - waves.alpha.unsqueeze(1) * wave).abs().mean(dim=1)
    off_square = (waves.theta - _half_medians(waves.theta, wave > 0)).abs().mean(dim=1)
    difference = off_square - off_cosine
    return {
        R2_COSINE: float(_squared_correlations(waves.theta, wave).median()),
        R2_SQUARE: float(_squared_correlations(waves.theta, wave.sign()).median()),
        T: float(difference.mean() / difference.std() * math.sqrt(len(difference))),
    }


def _align(m: CyclicMeasurements) -> dict[str, Value]:
    waves = waves_of(m)
    size, strength = waves.D.abs(), waves.strength
    return {
        RESULTANT: waves.resultant,
        MOST_D: float(size.quantile(0.95)),
        MEDIAN_D: float(size.median()),
        WEIGHTED_SINE: float((strength * waves.D.sin().abs()).sum() / strength.sum()),
        FAR: float((size > 0.5).double().mean()),
    }


def _frequencies(m: CyclicMeasurements) -> dict[str, Value]:
    counts = waves_of(m).counts.double()
    mean = counts.mean()
    chi2, freedom = float(((counts - mean).square() / mean).sum()), len(counts) - 1
    tail = torch.special.gammaincc(torch.tensor(freedom / 2).double(), torch.tensor(chi2 / 2).double())
    return {
        UNUSED: int((counts == 0).sum()),
        P_VALUE: float(tail),
        FEWEST: int(counts.min()),
        MOST_NEURONS: int(counts.max()),
    }


def _phases(m: CyclicMeasurements) -> dict[str, Value]:
    waves, first = waves_of(m), waves_at(m, 0)
    sigma, generator = sigma_of(waves), torch.Generator().manual_seed(0)
    chance = []
    for _ in range(DRAWS):
        phi = 2 * torch.pi * torch.rand(len(waves.phi), generator=generator).double()
        chance.append(loss(pair_logits(*cosines(waves, phi), sigma)))
    numbers: dict[str, Value] = {Z[i]: phase_test(waves.winner, waves.phi, i) for i in Z}
    numbers |= {AT_FIRST[i]: phase_test(first.winner, first.phi, i) for i in AT_FIRST}
    own = loss(pair_logits(*cosines(waves, waves.phi), sigma))
    return numbers | {BY_PHASES: own, BY_CHANCE: sum(chance) / DRAWS}


def _variation(x: Tensor) -> float:
    return float(x.std(correction=0) / x.mean())


def _magnitudes(m: CyclicMeasurements) -> dict[str, Value]:
    waves = waves_of(m)
    return {
        SPREAD_READ: _variation(waves.alpha),
        SPREAD_WRITTEN: _variation(waves.beta),
        EFFECTIVE: float(waves.strength.sum().square() / waves.strength.square().sum()),
    }


_OURS = "we fixed this limit before we measured"
_NONE_UNUSED = equals(0, "the network should use all frequencies")
CLAIMS = (
    Claim(
        id="he.obs1.share",
        where="observation 1, figure 3",
        statement="In 90% of the neurons, one frequency holds 90% of the energy of the neuron's weights.",
        source_says="each neuron has a single frequency",
        measure=each(_share),
        expected={SHARE: at_least(0.9, 'the source says that one frequency holds "virtually all energy"')},
        needs=ALL,
        scope="any seed",
        figure="phases",
        finding=mixed(
            "If neurons begin with single frequencies, one frequency holds 90% of the energy in at least 90% of the neurons. If neurons do not begin with single frequencies, one frequency holds 90% of the energy in only 4% to 70% of the neurons."
        ),
    ),
    Claim(
        id="he.obs1.share_weak",
        where="observation 1, figure 3",
        statement="With ReLU, one frequency holds most of the energy of a neuron's weights, and this frequency is the same in both layers.",
        source_says="each neuron has a single frequency",
        measure=each(_share),
        expected={
            MEDIAN: at_least(0.80, f"this share is .850 to .943 in the authors' networks with ReLU; {_OURS}"),
            SAME: at_least(0.95, f"this share is .988 or more in the authors' networks; {_OURS}"),
        },
        reported=(MEDIAN_WRITTEN,),
        needs=RELU_RUNS,
        scope="any seed",
        figure="phases",
    ),
    Claim(
        id="he.obs1.shape",
        where="figure 4",
        statement="A cosine fits the weights of each neuron nearly perfectly.",
        source_says="the fit is nearly perfect",
        measure=each(_shape),
        expected={R2_COSINE: at_least(0.95, 'the source calls the cosine\'s fit "nearly perfect"')},
        reported=(R2_SQUARE,),
        needs=(*named("std", "quad1", "grok"), WIDE),
        scope="any seed",
        figure="waves",
        finding=mixed(
            "In networks with a quadratic activation whose neurons start with one frequency each, the best cosine explains .998 or more of the weights' variance. With ReLU the best cosine explains .86 to .90 of the weights' variance, and a square wave fits nearly as well."
        ),
    ),
    Claim(
        id="he.obs1.shape_square",
        where="ours",
        statement="With ReLU the weights of a neuron are nearer to a square wave than to a cosine.",
        source_says="not stated",
        measure=each(_shape),
        expected={T: at_most(0, "square waves fit better in networks std, grok, p97 (t = -14 to -47)")},
        reported=(R2_SQUARE,),
        needs=(*named("std", "grok"), WIDE),
        scope="any seed",
        figure="waves",
        control="also true of random labels",
    ),
    Claim(
        id="he.obs1.shape_cosine",
        where="ours",
        statement="In networks with a quadratic activation whose neurons start with one frequency each, each neuron's weights stay near a cosine.",
        source_says="not stated",
        measure=each(_shape),
        expected={T: at_least(0, "in the authors' network cosines fit better (t = +29)")},
        needs=named("quad1"),
        scope="any seed",
        control="also true before training",
    ),
    Claim(
        id="he.obs2.align",
        where="observation 2, figure 5",
        statement="In every neuron, the phase of the output weights is twice the phase of the input weights.",
        source_says="the output phase psi is twice the input phase phi",
        measure=each(_align),
        expected={
            RESULTANT: at_least(0.98, "the resultant length is .990 to .998 in the authors' networks"),
            MOST_D: at_most(0.35, "phase errors are .115 to .268 in the authors' networks"),
        },
        reported=(MEDIAN_D,),
        finding=mixed(
            "In networks embed-6 and embed-10, a twentieth of the neurons have phase errors above 0.37 and above 0.36, where the tolerance is 0.35. The resultant length of the phase errors is 0.983 or more in every network."
        ),
        needs=(*named("std", "embed", "sgd", "grok"), WIDE),
        scope="any seed",
        figure="phases",
    ),
    Claim(
        id="he.obs2.align_quad1",
        where="observation 2, figure 5",
        statement="In networks with a quadratic activation whose neurons start with one frequency each, the phases of all strong neurons are aligned.",
        source_says="the output phase psi is twice the input phase phi",
        measure=each(_align),
        expected={WEIGHTED_SINE: at_most(0.05, "the authors' network has a mean |sin D| of .029")},
        reported=(RESULTANT, FAR),
        needs=named("quad1"),
        scope="any seed",
    ),
    Claim(
        id="he.obs3.frequencies",
        where="observation 3.1",
        statement="The network uses all frequencies about equally often.",
        source_says="the network uses frequencies equally",
        measure=each(_frequencies),
        expected={
            UNUSED: _NONE_UNUSED,
            P_VALUE: at_least(0.001, "this p-value is .24 to .96 for the authors"),
        },
        reported=(FEWEST, MOST_NEURONS),
        needs=(*named("std", "sgd", "quad", "grok"), WIDE),
        scope="any seed",
        control="also true before training",
    ),
    Claim(
        id="he.obs3.frequencies_embed",
        where="observation 3.1",
        statement="With a trained embedding, the network uses all frequencies about equally often.",
        source_says="the network uses frequencies equally",
        measure=each(_frequencies),
        expected={
            UNUSED: _NONE_UNUSED,
            P_VALUE: at_least(0.001, "this p-value is 8e-7 in the authors' network"),
        },
        reported=(FEWEST, MOST_NEURONS),
        needs=named("embed"),
        scope="any seed",
        finding=mixed(
            "Every frequency is used: the rarest frequency by 18 to 36 neurons, the most common by 56 to 89. In 15 of 20 seeds the frequencies' numbers of neurons differ by more than chance, as in the source's own network (p = 8e-7)."
        ),
        control="told apart",
    ),
    Claim(
        id="he.obs3.phases",
        where="observation 3.2, figure 6",
        statement="The neurons' phases at each frequency are spread more symmetrically than by chance.",
        source_says="phases are symmetric, which lowers the noise in the logits",
        measure=each(_phases),
        expected={
            Z[2]: at_most(0.5, "the asymmetry may be at most half of its value for independent phases"),
            Z[4]: at_most(0.5, "the asymmetry may be at most half of its value for independent phases"),
        },
        reported=(Z[1], Z[3], AT_FIRST[2], AT_FIRST[4], BY_PHASES, BY_CHANCE),
        needs=named("std", "sgd", "quad", "grok"),
        scope="any seed",
        figure="phases",
        finding=mixed(
            "In networks named grok, neurons' phases are far more symmetric than by chance: their asymmetry Z_2 is .06 to .20 of its value for independent phases. In about half of the networks named std, phases are more symmetric than by chance. With gradient descent, the phases of different neurons stay independent, both with ReLU and with a quadratic activation."
        ),
    ),
    Claim(
        id="he.obs3.magnitudes",
        where="observation 3.3, figure 7",
        statement="With AdamW no neuron dominates: the neurons' magnitudes are similar.",
        source_says="neurons have about equal magnitudes",
        measure=each(_magnitudes),
        expected={
            SPREAD_READ: at_most(0.2, "alpha's coefficient of variation is .056 to .125 in the authors' networks"),
            SPREAD_WRITTEN: at_most(0.2, "beta's coefficient of variation is .049 to .114 in the authors' networks"),
        },
        reported=(EFFECTIVE,),
        needs=(*named("std", "grok"), WIDE),
        scope="any seed",
    ),
    Claim(
        id="he.obs3.magnitudes_sgd",
        where="observation 3.3, figure 7",
        statement="With gradient descent no neuron dominates: the neurons' magnitudes are similar.",
        source_says="neurons have about equal magnitudes",
        measure=each(_magnitudes),
        expected={
            SPREAD_READ: at_most(
                0.2, "alpha's coefficient of variation is .73 to 2.56 for the authors; the tolerance is that for AdamW"
            ),
            SPREAD_WRITTEN: at_most(
                0.2, "beta's coefficient of variation is .73 to 2.49 for the authors; the tolerance is that for AdamW"
            ),
        },
        reported=(EFFECTIVE,),
        needs=named("sgd", "quad"),
        scope="any seed",
        finding=refuted(
            "With gradient descent, neuron magnitudes have coefficients of variation of .71 to .79 with ReLU, and 2.3 to 3.2 with a quadratic activation. With gradient descent and a quadratic activation, 5 to 14 of the 512 neurons dominate.",
            "source",
        ),
    ),
)
