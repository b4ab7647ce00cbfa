"""Claims on networks whose weights are ideal cosines, without any trained network."""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from modinterp.analyses.fourier.transforms import sums
from modinterp.claims.band import Band, at_least, at_most, between, equals, near
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.interventions.effects import answers_moved
from modinterp.models import ACTIVATIONS
from modinterp.sources.he.idealised import accuracy, evenly_spread, pair_logits
from modinterp.sources.he.logit_shape import logit_shape, prefactor_fits
from modinterp.sources.he.neuron_waves import TURN, angles
from modinterp.sources.he.runs import P

SQUARE, RELU = ACTIVATIONS["square"], ACTIVATIONS["relu"]
FAILING, EXACT = "numbers of phases that fail", "largest difference from the indicators for the others"
GHOST, DIP = "ghost over peak", "dip over peak"
BY_COSINE, BY_SQUARE = "r2 with |cos u/2|", "r2 with cos^2 u/2"
OFF, ON = "accuracy off the diagonal", "pairs on the diagonal that are right"
SUBSETS, ARCS = (1, 2, 4, 8, 11), (0.4, 0.8, 1.2, 1.6, 2.0)
LOSSES = (1.643, 0.6024, 0.02878, 2.99e-8)
ARC_LOSSES = (4.815, 2.00e-3, 1.19e-9, 3.54e-7)


def _indicators(p: int, per_frequency: int) -> Tensor:
    """N (p/4 1[j = x + y] + p/8 (1[j = 2x] + 1[j = 2y]) - 1/2), `[x, y, j]`."""
    one_hot, x = torch.nn.functional.one_hot, torch.arange(p)
    doubled = one_hot(2 * x % p, p).double()
    peaks = p / 4 * one_hot(sums(p), p).double() + p / 8 * (doubled.unsqueeze(1) + doubled)
    return per_frequency * (peaks - 0.5)


def _ideal(p: int, per_frequency: int) -> Tensor:
    return pair_logits(*evenly_spread(p, per_frequency), SQUARE)


def _least_probability(logits: Tensor) -> float:
    return float(logits.softmax(dim=-1).gather(-1, sums(len(logits)).unsqueeze(-1)).min())


def _indicator() -> dict[str, Value]:
    logits, n = _ideal(P, 46), 46
    bounds = {a: 1 - (P - 1) * torch.tensor(-a * n * P / 8).double().exp().item() for a in (0.01, 0.05, 0.1, 0.5)}
    printed = torch.tensor([-4, 3, -4, 10, -4, 3, -4]).double()
    return {
        "largest difference from the indicators": max(
            float((_ideal(p, 8) - _indicators(p, 8)).abs().max()) for p in (7, P, 31)
        ),
        "largest difference from the seven printed logits": float((_ideal(7, 8)[4, 6] - printed).abs().max()),
        "most by which a probability lies below the bound": max(
            bound - _least_probability(a * logits) for a, bound in bounds.items()
        ),
    }


def _phases() -> dict[str, Value]:
    found = {n: _ideal(P, n) for n in range(1, 10)}
    off = {n: float((logits - _indicators(P, n)).abs().max()) for n, logits in found.items()}
    failing = [n for n, logits in found.items() if accuracy(logits) < 1]
    return {
        FAILING: float("".join(map(str, failing))),
        EXACT: max(value for n, value in off.items() if n not in failing),
        "accuracy with 4 phases, ties counted as wrong": _strictly_right(found[4]),
    }


def _strictly_right(logits: Tensor) -> float:
    """Return the share of the pairs whose right logit leads all others by more than rounding: ties are wrong."""
    lead = logits.gather(-1, sums(P).unsqueeze(-1)) - logits
    return float(((lead > 1e-9).sum(dim=-1) == P - 1).double().mean())


def _relu() -> dict[str, Value]:
    logits = {p: pair_logits(*evenly_spread(p, 64), RELU) for p in (P, 97)}
    shapes, fits = [logit_shape(x) for x in logits.values()], prefactor_fits(logits[P])
    return {
        GHOST: [shape.ghost for shape in shapes],
        DIP: [shape.dip for shape in shapes],
        BY_COSINE: fits["|cos|"],
        BY_SQUARE: fits["cos^2"],
    }


def _square_waves() -> dict[str, Value]:
    read, written = evenly_spread(P, 64, start=TURN * 0.31 / 64)
    logits = pair_logits(read.sign(), written, RELU)
    shape, right = logit_shape(logits), answers_moved(logits)
    return {
        GHOST: shape.ghost,
        DIP: shape.dip,
        "r2 with |sin u|": prefactor_fits(logits)["|sin|"],
        OFF: float(right[~torch.eye(P, dtype=torch.bool)].double().mean()),
        ON: float(right.diagonal().sum()),
    }


def _of_frequencies(arc: float) -> Tensor:
    """Return the logits of the neurons of each frequency, `[freq, x, y, j]`: 12 for the first seven, 11 for the others."""
    found = []
    for k, angle in enumerate(angles(P)):
        n = 12 if k < 7 else 11
        phi = (arc / n * torch.arange(n).double()).unsqueeze(1)
        found.append(pair_logits((angle + phi).cos(), (angle + 2 * phi).cos(), SQUARE))
    return torch.stack(found)


def _small_loss(logits: Tensor) -> float:
    """Return the mean cross-entropy, exact where it is far below the rounding of 1. [nats]"""
    lead = logits - logits.gather(-1, sums(P).unsqueeze(-1))
    others = lead.exp().scatter(-1, sums(P).unsqueeze(-1), 0.0)
    return float(others.sum(dim=-1).log1p().mean())


def _rounded_loss(logits: Tensor) -> float:
    """Return the mean of log-sum-exp less the right logit, whose rounding counts where the loss is below 1e-14. [nats]"""
    right = logits.gather(-1, sums(P).unsqueeze(-1)).squeeze(-1)
    return float((logits.logsumexp(dim=-1) - right).mean())


def _subsets() -> dict[str, Value]:
    whole = _of_frequencies(TURN)
    losses = []
    for n in SUBSETS:
        each = [_small_loss(whole[list(chosen)].sum(dim=0)) for chosen in combinations(range(len(whole)), n)]
        losses.append(sum(each) / len(each))
    by_arc = [_small_loss(_of_frequencies(arc * torch.pi).sum(dim=0)) for arc in ARCS]
    rises = [ARCS[i] for i in range(1, len(ARCS)) if by_arc[i] > by_arc[i - 1]]
    numbers = {_of_size(n): value for n, value in zip(SUBSETS, losses, strict=True)}
    numbers |= {_of_arc(arc): value for arc, value in zip(ARCS[:-1], by_arc, strict=False)}
    exact = {
        "loss of all frequencies, free of rounding": _small_loss(whole.sum(dim=0)),
        "arcs at which the loss rises": float(len(rises)),
    }
    return numbers | {_of_size(11): _rounded_loss(whole.sum(dim=0))} | exact


def _of_size(n: int) -> str:
    return f"mean loss of {n} frequenc{'y' if n == 1 else 'ies'}"


def _of_arc(arc: float) -> str:
    return f"loss with phases on an arc of {arc:g} pi"


def _printed(value: float) -> Band:
    return near(value, 0.01 * value, "our number must equal the number in the source's notebook within 1%")


CLAIMS = (
    Claim(
        id="he.maths.indicator",
        where="proposition 1",
        statement=(
            "Logits of aligned quadratic neurons of all frequencies, with evenly spread phases, peak at x + y, are "
            "half as high at 2x and 2y, and are flat elsewhere."
        ),
        source_says="logits are aN/2 (-1 + p/2 at x + y + p/4 at 2x and 2y); the right answer has a probability of "
        "at least 1 - (p - 1) exp(-aNp/8)",
        measure=_indicator,
        expected={
            "largest difference from the indicators": at_most(
                1e-9, "both sides of the formula must be equal up to rounding"
            ),
            "largest difference from the seven printed logits": at_most(
                1e-9, "the source's notebook has the logits -4 3 -4 10 -4 3 -4 for p = 7, 8 phases, x = 4, y = 6"
            ),
            "most by which a probability lies below the bound": at_most(
                0, "the source proves a lower bound on the right answer's probability; we check a = .01, .05, .1 and .5"
            ),
        },
        scope="any network",
        figure="ideal_logits",
    ),
    Claim(
        id="he.maths.phases",
        where="section 3.2",
        statement=(
            "The noise terms of the logits cancel if the sums of exp(2i phi) and exp(4i phi) over the "
            "neurons' phases are zero. Evenly spread phases cancel the noise terms if there are three "
            "phases, or five and more."
        ),
        source_says="the source requires that the sums of exp(2i phi) and exp(4i phi) are zero",
        measure=_phases,
        expected={
            FAILING: equals(
                124, "with 1, 2 or 4 phases (written as the number 124) the doubled or quadrupled phases all coincide"
            ),
            EXACT: at_most(1e-9, "both sides of the formula must be equal up to rounding"),
            "accuracy with 4 phases, ties counted as wrong": at_most(
                0.6,
                "the accuracy should be far from 1; rounding decides between equal logits, and gave "
                "accuracies of 0.4972 to 0.520",
            ),
        },
        scope="any network",
    ),
    Claim(
        id="he.maths.relu",
        where="our derivation; the source's app derives 1/2 for ReLU",
        statement=(
            "With ReLU in place of the square, the logits have the prefactor |cos(w(x - y)/2)|. With ReLU the ghosts "
            "(side peaks) at 2x and 2y are a third of the main peak, and the dips are a fifteenth."
        ),
        source_says="the source's app derives ghosts of one half",
        measure=_relu,
        expected={
            GHOST: between(0.325, 0.340, "for large p the ghosts are 1/3 of the peak"),
            DIP: between(-0.072, -0.062, "for large p the dips are -1/15 of the peak"),
            BY_COSINE: at_least(0.9999, "the logits should follow the prefactor |cos(w(x - y)/2)|"),
        },
        reported=(BY_SQUARE,),
        scope="any network",
        figure="ideal_logits",
    ),
    Claim(
        id="he.maths.square",
        where="ours",
        statement=(
            "The logits of neurons that read square waves and write cosines have the prefactor |sin w(x - "
            "y)|. The logits of neurons that read square waves have no ghosts (side peaks). With square "
            "waves, the logits' dips are a third of the main peak, and at x = y the logits have no signal."
        ),
        source_says="not stated",
        measure=_square_waves,
        expected={
            GHOST: between(-0.02, 0.02, "for large p there are no ghosts"),
            DIP: between(-0.345, -0.30, "for large p the dips are -1/3 of the peak"),
            OFF: equals(1, "all pairs x != y should be right"),
            ON: at_most(2, "by chance 1 of 23 pairs on the diagonal is right"),
        },
        reported=("r2 with |sin u|",),
        scope="any network",
        figure="ideal_logits",
    ),
    Claim(
        id="he.maths.subsets",
        where="notebook on subsets of frequencies",
        statement=(
            "The loss falls as the number of frequencies grows. The loss also falls as the arc over which "
            "phases are spread grows, but not at every step."
        ),
        source_says=(
            "the loss falls from 1.643 with one frequency to 7.41e-15 with all, and from 4.815 with phases on "
            "an arc of .4 pi to 7.41e-15 on an arc of 2 pi"
        ),
        measure=_subsets,
        expected={
            **{_of_size(n): _printed(value) for n, value in zip(SUBSETS[:-1], LOSSES, strict=True)},
            **{_of_arc(arc): _printed(value) for arc, value in zip(ARCS[:-1], ARC_LOSSES, strict=True)},
            _of_size(11): near(
                7.41e-15,
                7.41e-16,
                "the number in the source's notebook has a rounding error; the exact value is 5.93e-15",
            ),
            "arcs at which the loss rises": equals(
                1, "in the source's own table the loss rises from the arc of 1.2 pi to the arc of 1.6 pi"
            ),
        },
        reported=("loss of all frequencies, free of rounding",),
        scope="any network",
    ),
)
