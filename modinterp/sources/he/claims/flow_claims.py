"""Claims on the gradient flow of one neuron at one frequency, alone and in trained networks of squares."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modinterp.claims.band import Band, at_least, at_most, between, near
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.measurements import CyclicMeasurements
from modinterp.runs import NotRecorded
from modinterp.sources.he.flow import euler, rates, warmed_up
from modinterp.sources.he.neuron_waves import NeuronWaves, waves_at, waves_of, wrapped
from modinterp.sources.he.runs import P, named

FIRST_D, FIRST_BELOW, FIRST_LEAST, FIRST_LEAST_AT = (
    "D after 1,400",
    "step below pi/2",
    "least alpha",
    "step of least alpha",
)
FIRST_ENDS = "alpha after 1,400", "beta after 1,400"
SECOND = "D after 700", "alpha after 700", "beta after 700"
OWN_RATE, APP_RATE, BLOG_RATE = "rate of D at 0 by the flow", "rate printed in the app", "rate printed in the post"
CONTOUR = {(0.01, 0.0): 0.013967, (0.01, 0.2167): 0.013910, (0.02, 0.0): 0.060207, (0.02, 5.4165): 0.050549}
OFF_PRINTED, ASYMMETRY = "largest relative difference from printed", "largest difference of D and -D"
CHANGE, RATIO = "median change of alpha^2 - 2 beta^2", "median ratio of alpha^2 beta sin D"
GROWTH, OFF_PHASE = "median alpha over that of the flow", "median |change of D| from that of the flow"


def _polar(size: Tensor, angle: Tensor) -> Tensor:
    return torch.polar(size.double(), angle.double())


def _trace(phi: float, psi: float, steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """alpha, beta and D after each step of size 1 from alpha = beta = .02, at p = 23."""
    z, w = (_polar(torch.tensor([0.02]), torch.tensor([angle])) for angle in (phi, psi))
    found = []
    for _ in range(steps):
        z, w = euler(z, w, P, torch.ones(1))
        found.append(torch.cat([z.abs(), w.abs(), wrapped(2 * z.angle() - w.angle())]))
    alpha, beta, D = torch.stack(found).unbind(dim=1)
    return alpha, beta, D


def _largest_rise() -> float:
    """Return the largest rise of abs(D) in a step, over 1,000 random starts of 700 steps."""
    generator = torch.Generator().manual_seed(0)
    z, w = (_polar(torch.full((1000,), 0.02), 2 * torch.pi * torch.rand(1000, generator=generator)) for _ in "zw")
    before, rise = wrapped(2 * z.angle() - w.angle()).abs(), -math.inf
    for _ in range(700):
        z, w = euler(z, w, P, torch.ones(1))
        now = wrapped(2 * z.angle() - w.angle()).abs()
        rise, before = max(rise, float((now - before).max())), now
    return rise


def _own_rate() -> float:
    """p times the derivative of D' with respect to D at D = 0 and alpha = beta = .02, along the flow."""
    step = 1e-6
    z, w = _polar(torch.tensor(0.02), torch.tensor(step / 2)), torch.tensor(0.02, dtype=torch.complex128)
    of_z, of_w = rates(z, w, P)
    return P * float(2 * (of_z / z).imag - (of_w / w).imag) / step


def _attractor() -> dict[str, Value]:
    alpha, beta, D = _trace(1.5, 0.18, 1400)
    other = _trace(-0.72, -2.91, 700)
    a = b = 0.02
    return {
        FIRST_D: float(D[-1]),
        FIRST_BELOW: float((D.abs() < torch.pi / 2).nonzero()[0] + 1),
        FIRST_LEAST: float(alpha.min()),
        FIRST_LEAST_AT: float(alpha.argmin() + 1),
        FIRST_ENDS[0]: float(alpha[-1]),
        FIRST_ENDS[1]: float(beta[-1]),
        **dict(zip(SECOND, (float(other[i][-1]) for i in (2, 0, 1)), strict=True)),
        "largest rise of |D|, 1,000 starts": _largest_rise(),
        OWN_RATE: _own_rate(),
        APP_RATE: 4 * b + a * a / b,
        BLOG_RATE: -(4 * b * b - a * a / b),
    }


def _final_beta(kappa: float, D: Tensor) -> Tensor:
    z, w = _polar(torch.full_like(D, kappa), D / 2), torch.full_like(D, kappa).to(torch.complex128)
    return euler(z, w, P, torch.full((100,), 0.01 * P * P))[1].abs()


def _contour() -> dict[str, Value]:
    off = [float(_final_beta(kappa, torch.tensor([D]).double())) / beta - 1 for (kappa, D), beta in CONTOUR.items()]
    D = torch.linspace(0, torch.pi, 50).double()
    return {
        OFF_PRINTED: max(map(abs, off)),
        ASYMMETRY: float((_final_beta(0.02, D) - _final_beta(0.02, -D)).abs().max()),
        "final beta at D = pi": float(_final_beta(0.02, torch.tensor([torch.pi]).double())),
    }


def _quantities(z: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """alpha^2 - 2 beta^2, and alpha^2 beta sin D."""
    return z.abs().square() - 2 * w.abs().square(), (z.square() * w.conj()).imag


def _flow_drift() -> float:
    """Return the largest relative change of the two quantities over a time of 200, in small steps of second order."""
    generator = torch.Generator().manual_seed(1)
    z, w = (_polar(torch.full((100,), 0.02), 2 * torch.pi * torch.rand(100, generator=generator)) for _ in "zw")
    z = 1.5 * z
    before, h = _quantities(z, w), 0.2
    for _ in range(1000):
        half = rates(z, w, P)
        of_z, of_w = rates(z + h / 2 * half[0], w + h / 2 * half[1], P)
        z, w = z + h * of_z, w + h * of_w
    scales = z.abs().square(), (z.abs().square() * w.abs())
    changes = [(now - then).abs() / s for now, then, s in zip(_quantities(z, w), before, scales, strict=True)]
    return float(torch.cat(changes).max())


def _at_first(waves: NeuronWaves, winner: Tensor) -> tuple[Tensor, Tensor]:
    """Return input and output amplitudes of each neuron at one given frequency per neuron."""
    return tuple(x.gather(1, winner.unsqueeze(1)).squeeze(1) for x in (waves.read, waves.written))  # type: ignore


def _invariants(m: CyclicMeasurements) -> dict[str, Value]:
    first, last = waves_at(m, 0), waves_of(m)
    states = [_at_first(waves, first.winner) for waves in (first, last)]
    (size_then, moment_then), (size_now, moment_now) = (_quantities(*state) for state in states)
    alpha = states[1][0].abs()
    return {
        "drift along the flow": _flow_drift(),
        CHANGE: float(((size_now - size_then).abs() / alpha.square()).median()),
        RATIO: float((moment_now / moment_then).median()),
    }


def last_epoch(m: CyclicMeasurements, least: float) -> int:
    """Return the last logged epoch [thousands] up to which the training loss is at least a share of ln p.

    Raises:
        NotRecorded: the run has no history, such as a user's file.
    """
    if not len(m.history):
        raise NotRecorded(f"how {m.name} was trained is not known")
    above = m.history["train_loss"] >= least * math.log(m.p)
    epochs = [int(e) for e in m.history["epoch"][above.cummin()] if e % 1000 == 0]
    return max(epochs, default=0)


def _match(m: CyclicMeasurements) -> dict[str, Value]:
    first, epoch = waves_at(m, 0), last_epoch(m, 0.99)
    if m.spec is None or not epoch:
        raise NotRecorded(f"{m.name} has no epoch that the flow could be compared at")
    z, w = euler(*_at_first(first, first.winner), m.p, warmed_up(m.spec.recipe.lr, m.spec.recipe.warmup, epoch))
    of_z, of_w = _at_first(waves_at(m, epoch), first.winner)
    D, flown = (wrapped(2 * a.angle() - b.angle()) for a, b in ((of_z, of_w), (z, w)))
    return {
        "last epoch with a loss above .99 ln p": epoch,
        GROWTH: float((of_z.abs() / z.abs()).median()),
        OFF_PHASE: float(wrapped(D - flown).abs().median()),
    }


def _balance(m: CyclicMeasurements) -> dict[str, Value]:
    first, last = waves_at(m, 0), waves_of(m)
    then, now = (w.theta.square().sum(dim=1) - w.power * w.xi.square().sum(dim=1) for w in (first, last))
    return {
        "largest change of |theta|^2 - c |xi|^2": float(((now - then).abs() / last.theta.square().sum(dim=1)).max())
    }


def _near(value: float) -> Band:
    return near(value, 0.01 * abs(value), "our simulation must equal the source's within a hundredth")


CLAIMS = (
    Claim(
        id="he.ode.attractor",
        where="theorem on phase alignment",
        statement=(
            "From every start except D = pi, the phases of a neuron align: the misalignment |D| never "
            "rises. With the signs that the source prints in its phase equations, a neuron's phases would "
            "move apart."
        ),
        source_says="the misalignment D falls from 2.82 to .0297 in 1,400 steps, and from 1.47 to .0080 in 700 steps",
        measure=_attractor,
        expected={
            FIRST_D: _near(0.0297),
            FIRST_BELOW: _near(504),
            FIRST_LEAST: _near(0.01233),
            FIRST_LEAST_AT: _near(503),
            FIRST_ENDS[0]: _near(0.0480),
            FIRST_ENDS[1]: _near(0.0367),
            SECOND[0]: _near(0.0080),
            SECOND[1]: _near(0.1110),
            SECOND[2]: _near(0.0797),
            "largest rise of |D|, 1,000 starts": at_most(
                1e-12, "the source says that the misalignment |D| never rises"
            ),
            OWN_RATE: between(
                -0.101, -0.099, "the derived rate -(4 beta + alpha^2 / beta) is -.10, so D = 0 is stable"
            ),
            APP_RATE: at_least(0, "with the signs printed in the app, D = 0 is unstable"),
            BLOG_RATE: between(0.018, 0.019, "with the signs printed in the post, D = 0 is unstable"),
        },
        scope="any network",
        figure="attractor",
    ),
    Claim(
        id="he.lottery.contour",
        where="figure 11",
        statement=(
            "A neuron's final output weights grow with the neuron's initial size, fall with its initial misalignment "
            "|D|, and are equal for D and -D."
        ),
        source_says="final output weights are .013967 and .013910 for size .01, and .060207 and .050549 for size .02",
        measure=_contour,
        expected={
            OFF_PRINTED: at_most(1e-4, "our final output weights must equal the five digits that the source prints"),
            ASYMMETRY: at_most(1e-9, "the misalignments D and -D give equal output weights, up to rounding"),
        },
        reported=("final beta at D = pi",),
        scope="any network",
    ),
    Claim(
        id="he.ode.invariants",
        where="ours",
        statement=(
            "The quantities alpha^2 - 2 beta^2 and alpha^2 beta sin D are constant in time, both in the "
            "gradient flow and in a trained network. For a neuron, alpha is the size of its input weights, "
            "beta that of its output weights, and D the misalignment of its phases."
        ),
        source_says="not stated",
        measure=each(_invariants),
        expected={
            "drift along the flow": at_most(
                1e-5, "the flow conserves both quantities; deviations come from the step size"
            ),
            CHANGE: at_most(0.005, "in the authors' network alpha^2 - 2 beta^2 changes by 9e-4"),
            RATIO: between(0.98, 1.02, "in the authors' network alpha^2 beta sin D changes by a factor of .9988"),
        },
        needs=named("quad1"),
        scope="any seed",
        control="also true before training",
    ),
    Claim(
        id="he.ode.match",
        where="sections 4.2 and 4.3, figure 9",
        statement="If a neuron's initial weights are small and have a single frequency, the neuron follows its own "
        "gradient flow of four variables.",
        source_says=(
            "the curves of neuron and flow match; in the authors' network the median ratio of alpha is .9983 at"
            " epoch 6,000"
        ),
        measure=each(_match),
        expected={
            GROWTH: between(
                0.995,
                1.005,
                "alpha of a neuron and of the flow should agree within .005 while the loss is above .99 ln p",
            ),
            OFF_PHASE: at_most(0.005, "in the authors' network the change of D differs from that of the flow by 7e-4"),
        },
        reported=("last epoch with a loss above .99 ln p",),
        needs=named("quad1"),
        scope="any seed",
        shuffled=True,  # against the flow from the weights that another seed begins with
        figure="alignment_first",
    ),
    Claim(
        id="he.ode.balance",
        where="ours",
        statement=(
            "Gradient descent conserves |theta|^2 - c |xi|^2 of every neuron, whatever the loss; c is 2 for"
            " a quadratic activation and 1 for ReLU. The vector theta holds a neuron's input weights, and "
            "xi holds its output weights."
        ),
        source_says="not stated",
        measure=each(_balance),
        expected={
            "largest change of |theta|^2 - c |xi|^2": at_most(
                0.002,
                "the flow conserves |theta|^2 - c |xi|^2; in the authors' networks it by 1.6e-4 to 3.4e-4",
            )
        },
        needs=named("quad", "quad1", "sgd", "relu1"),
        scope="any seed",
        control="also true before training",
    ),
)
