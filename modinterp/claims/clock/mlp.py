"""Section 8: what the MLP does, and whether it is more than an affine map."""

from __future__ import annotations

from itertools import product

from modinterp.analyses.circles import effective_rank, plane, plane_angles
from modinterp.analyses.fourier import component_norms, frequency_norms
from modinterp.analyses.linearity import MID
from modinterp.analyses.neurons import term_shares
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.claims.clock.clockwork import ATTN_OUT, MAIN, MLP_OUT, SEEDS, clockwork
from modinterp.claims.evidence import NEURONS, evidence
from modinterp.runs import TrainedRun

BEFORE = "blocks.0.hook_resid_pre"
NEGATIVE = -0.1
BATTERY = (*SEEDS, "nanda/mainline-0")
WITHOUT_RELU = tuple(f"clock/no-relu-{seed}" for seed in range(3))
LEARNED = {"accuracy": at_least(0.99, "of a network that has learned the task")}


def _accuracy(run: TrainedRun) -> dict[str, Value]:
    return {"accuracy": evidence(run).accuracy}


def _dihedral(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    written = {k: plane(cw.place(ATTN_OUT)[cw.a], k) for k in cw.freqs}
    angles = [plane_angles(cw.planes[i], written[j]) for i, j in product(cw.freqs, cw.freqs)]
    before = cw.place(BEFORE)
    return {
        "smallest dihedral angle [degrees]": min(angle.dihedral for angle in angles),
        "lowest quality of a written circle": min(cw.own_circle(ATTN_OUT, k).quality for k in cw.freqs),
        "smallest principal angle [degrees]": min(angle.first for angle in angles),
        "variance of the residual stream at = before attention": float(
            (before - before.mean(dim=(0, 1))).square().sum()
        ),
    }


def _lowest_frequency(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    norms = frequency_norms(component_norms(ev.W_L.T))
    return {
        "frequency 1 is a key frequency": 1 in ev.freqs,
        "gap": ev.keys.gap,
        "norm of frequency 1 over the largest": float(norms[0] / norms.max()),
    }


def _rank(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    of_output = effective_rank(cw.place(MLP_OUT))
    return {
        "effective rank of the output over 4 K + 5": of_output / (4 * len(cw.freqs) + 5),
        **_accuracy(run),
        "effective rank of the MLP's output": of_output,
        "effective rank of the residual stream before it": effective_rank(cw.place(MID)),
    }


def _biases(run: TrainedRun) -> dict[str, Value]:
    b_in, pre = run.model.blocks[0].mlp.b_in.detach(), evidence(run).pre
    return {
        "biases below -0.1": int((b_in < NEGATIVE).sum()),
        **_accuracy(run),
        "biases below a tenth of the largest pre-activation": int((b_in < NEGATIVE * pre.abs().max()).sum()),
        "lowest bias": float(b_in.min()),
        "pre-activations below 0": float((pre < 0).double().mean()),
    }


def _no_circle(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    W_in = run.model.blocks[0].mlp.W_in.detach().double()
    variations = []
    for k in cw.freqs:
        radii = (W_in.T @ plane(cw.place(ATTN_OUT)[cw.a], k)).norm(dim=1)
        variations.append(float(radii.std() / radii.mean()))
    return {"smallest variation of the radius": min(variations), **_accuracy(run)}


def _affine(run: TrainedRun) -> dict[str, Value]:
    found = clockwork(run).linearity
    shares = dict(zip(("before the MLP", "pre-activations", "neurons", "logits"), found.products.values(), strict=True))
    return {
        "accuracy with an affine map in place of the neurons": found.affine_accuracy,
        "loss with it": found.affine_loss,
        "R squared of that map": found.affine_explained,
        "R squared of a neuron as a line in its pre-activation": found.line_explained,
        "accuracy without the ReLU": found.identity_accuracy,
        "loss without the ReLU": found.identity_loss,
        "pre-activations below 0": found.negative,
        **{f"share of products, {place}": share for place, share in shares.items()},
        "lowest R squared of cos, sin(w(a + b)) from before the MLP": min(found.decodable.values()),
        "highest R squared of cos, sin(w(a + b)) from before the MLP": max(found.decodable.values()),
    }


def _without_relu(*runs: TrainedRun) -> dict[str, Value]:
    with_relu, *without = runs
    products = [term_shares(run.activations()[MID]).products for run in without]
    tests = [float(run.history["test_accuracy"].max()) for run in without]
    return {
        "share of the seeds that reach a test accuracy of 0.99": sum(t >= 0.99 for t in tests) / max(len(tests), 1),
        "share of products before the MLP, over that with ReLU": max(products) / term_shares(with_relu.activations()[MID]).products,
        "test accuracy": tests,
        "grokking epoch": [evidence(run).grokking.grokked for run in without],
        "share of products before the MLP": products,
        "key frequencies": [len(evidence(run).freqs) for run in without],
    }  # fmt: skip


def _in_neurons(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    return {"lowest quality": min(cw.own_circle(NEURONS, k).quality for k in cw.freqs)}


CLAIMS = (
    Claim(
        "clock.s8.dihedral",
        "section 8",
        "The circles that attention writes do not lie in the planes of the embedding's circles. They could not interfere "
        "in any case: at = the residual stream holds the embedding of =, which is no number.",
        "no two planes are similar",
        each(_dihedral),
        {
            "smallest dihedral angle [degrees]": at_least(30, "a third of the way to perpendicular"),
            "lowest quality of a written circle": at_least(0.8, "what is compared must be circles"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="planes",
    ),
    Claim(
        "clock.s8.no_1hz",
        "section 8",
        "W_L does not use frequency 1, as a set of detectors for single numbers would.",
        "4, 32, 43",
        each(_lowest_frequency),
        {
            "frequency 1 is a key frequency": equals(0, "not among those of the source"),
            "gap": at_least(2, "key frequencies that stand out beyond doubt"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="read_circles",
    ),
    Claim(
        "clock.s8.no_superposition",
        "section 8",
        "The MLP needs no superposition: its output has few dimensions.",
        "at most 113 features in 128 dimensions",
        each(_rank),
        {"effective rank of the output over 4 K + 5": at_most(1, "four directions a circle, and some noise"), **LEARNED},
        needs=SEEDS,
        scope="any seed",
        figure="singular",
    ),
    Claim(
        "clock.s8.bup_sorted",
        "section 8, sorted biases",
        "Far fewer than 113 biases of the neurons are clearly negative. It does not make the ReLU idle: a third to a half "
        "of the pre-activations are below 0.",
        "far fewer than 113",
        each(_biases),
        {"biases below -0.1": at_most(112, "fewer than one a number"), **LEARNED},
        needs=SEEDS,
        scope="any seed",
        figure="biases",
    ),
    Claim(
        "clock.s8.wup_no_circle",
        "section 8",
        "The columns of W_in form no circle in the planes of the written circles.",
        "no clean circle",
        each(_no_circle),
        {"smallest variation of the radius": at_least(0.4, "a circle has 0"), **LEARNED},
        needs=SEEDS,
        scope="any seed",
        figure="biases",
    ),
    Claim(
        "clock.s8.mlp_affine",
        "section 8",
        "The MLP is no more than an affine map, and the ReLU unnecessary.",
        "argued from the biases",
        each(_affine),
        {"accuracy with an affine map in place of the neurons": at_least(0.99, "an affine map would do as well")},
        needs=BATTERY,
        scope="any seed",
        finding=refuted(
            "The best affine map explains 86% to 89% of the neurons, and with it in their place 27% to 45% of the answers are "
            "right; without the ReLU 20% to 25% are. 35% to 42% of the pre-activations are below 0. Products of waves go from "
            "2% to 4% of the variance before the ReLU to 20% to 22% after it and 98% in the logits. Attention does contribute: "
            "up to 69% of cos(w(a + b)) can be read off affinely before the MLP, at the frequencies that heads attend at."
        ),
        figure="linearity",
    ),
    Claim(
        "clock.s8.reluless_groks",
        "section 8",
        "A network without ReLU groks too, its attention making the products.",
        "groks",
        _without_relu,
        {
            "share of the seeds that reach a test accuracy of 0.99": at_least(1 / 3, "one network in the source"),
            "share of products before the MLP, over that with ReLU": at_least(5, "nothing else can make them"),
        },
        needs=(MAIN, *WITHOUT_RELU),
        figure="without_relu",
    ),
    Claim(
        "clock.s8.mlp_circles",
        "section 8",
        "There are circles among the neurons' activations too.",
        "circles shown",
        each(_in_neurons),
        {"lowest quality": at_least(0.6, "circles, if less clean")},
        needs=SEEDS,
        scope="any seed",
        figure="neurons_3d",
    ),
)  # fmt: skip
