"""Claims of the blog post's section 8: what the MLP computes, and whether it does more than an affine map."""

from __future__ import annotations

from itertools import combinations, product

from modinterp.analyses.circles.circle import effective_rank, plane_angles
from modinterp.analyses.circles.linearity import MID
from modinterp.analyses.fourier.neurons import term_shares
from modinterp.analyses.fourier.transforms import component_norms, frequency_norms, sum_waves
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import mixed, refuted
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.circles import ATTN_OUT, MLP_OUT
from modinterp.measurements.network import NEURONS
from modinterp.sources.clock.claims.conditions import ACCURATE, LEARNED
from modinterp.sources.clock.runs import SEEDS, WITHOUT_RELU
from modinterp.sources.nanda.runs import SEEDS as MAINLINE

NEGATIVE_PRE = "pre-activations below 0"
PRODUCTS_BEFORE_MLP = "share of products, before the MLP"

_CLEARLY_NEGATIVE = -0.1
BATTERY = (*SEEDS, MAINLINE[0])


def _dihedral_angles(m: CyclicMeasurements) -> dict[str, Value]:
    angles = [plane_angles(m.circles.planes[i], m.circles.own_plane(ATTN_OUT, j)) for i, j in product(m.freqs, m.freqs)]
    before = m.activation("blocks.0.hook_resid_pre")
    return {
        "smallest dihedral angle [degrees]": min(angle.dihedral for angle in angles),
        "lowest quality of a written circle": min(m.circles.own_circle(ATTN_OUT, k).quality for k in m.freqs),
        "variance of the residual stream at = before attention": float(
            (before - before.mean(dim=(0, 1))).square().sum()
        ),
    }


def _frequency_1(m: CyclicMeasurements) -> dict[str, Value]:
    norms = frequency_norms(component_norms(m.W_L.T))
    return {
        "frequency 1 is a key frequency": 1 in m.freqs,
        "norm of frequency 1 over the largest": float(norms[0] / norms.max()),
    }


def _features(m: CyclicMeasurements) -> dict[str, Value]:
    """How few features the MLP writes, the cos and the sin of w(a + b) for each circle, and how they lie together."""
    written = m.activation(MLP_OUT).double()
    written, of_output = written - written.mean(dim=(0, 1)), effective_rank(written)
    waves = {k: sum_waves(m.p, k).flatten(1).to(written.device) for k in m.freqs}
    features = {k: (wave @ written.flatten(0, 1)).T for k, wave in waves.items()}
    energy = sum(float(feature.square().sum()) for feature in features.values())
    angles = (plane_angles(features[i], features[j]).first for i, j in combinations(m.freqs, 2))
    return {
        "effective rank of the output over 4 K + 5": of_output / (4 * len(m.freqs) + 5),
        "share of the output's variance in two features a circle": energy / float(written.square().sum()),
        "smallest angle between features of two circles [degrees]": min(angles, default=90.0),
    }


def _biases(m: CyclicMeasurements) -> dict[str, Value]:
    b_in, pre = m.b_in, m.pre
    return {
        "biases below -0.1": int((b_in < _CLEARLY_NEGATIVE).sum()),
        "share of biases above 0": float((b_in > 0).double().mean()),
        NEGATIVE_PRE: float((pre < 0).double().mean()),
    }


def _orthant(m: CyclicMeasurements) -> dict[str, Value]:
    """Measure how far the neurons stay above 0, where the ReLU leaves them as they are, with and without their biases."""
    b_in, pre = m.b_in.double(), m.pre
    return {
        NEGATIVE_PRE: float((pre < 0).double().mean()),
        "pre-activations below 0 without the biases": float((pre - b_in < 0).double().mean()),
        "neurons that never go below 0": float((pre >= 0).flatten(0, 1).all(dim=0).double().mean()),
        "mean bias over the mean size of a pre-activation": float(b_in.mean() / pre.abs().mean()),
    }


def _radii_of_W_in(m: CyclicMeasurements) -> dict[str, Value]:
    W_in, variations = m.W_in.double(), []
    for k in m.freqs:
        radii = (W_in.T @ m.circles.own_plane(ATTN_OUT, k)).norm(dim=1)
        variations.append(float(radii.std() / radii.mean()))
    return {"smallest variation of the radius": min(variations)}


def _affine_battery(m: CyclicMeasurements) -> dict[str, Value]:
    battery = m.circles.mlp_linearity
    before, _, _, of_logits = battery.products.values()
    return {
        "accuracy with an affine map in place of the neurons": battery.affine_accuracy,
        "R squared of that map": battery.affine_explained,
        "accuracy without the ReLU": battery.identity_accuracy,
        NEGATIVE_PRE: battery.negative,
        PRODUCTS_BEFORE_MLP: before,
        "share of products, logits": of_logits,
        "highest R squared of cos, sin(w(a + b)) from before the MLP": max(battery.decodability.values()),
    }


CLAIMS = (
    Claim(
        id="clock.s8.dihedral",
        where="section 8",
        statement="The circles that attention writes do not lie in the planes of the embedding's circles. Circles cannot interfere anyway: before attention, the residual stream at the token = holds only the embedding of =, not that of a number.",
        source_says="no plane of attention is similar to a plane of the embedding",
        measure=each(_dihedral_angles),
        expected={
            "smallest dihedral angle [degrees]": at_least(
                30, "30 degrees is a third of the angle between parallel and perpendicular planes"
            ),
            "lowest quality of a written circle": at_least(
                0.8, "the compared curves of the attention output must be circles"
            ),
        },
        reported=("variance of the residual stream at = before attention",),
        needs=SEEDS,
        scope="any seed",
        figure="planes",
    ),
    Claim(
        id="clock.s8.no_1hz",
        where="section 8",
        statement="W_L does not use frequency 1, which detectors for single numbers would use.",
        source_says="key frequencies 4, 32 and 43",
        measure=each(_frequency_1),
        expected={
            "frequency 1 is a key frequency": equals(0, "frequency 1 is not among the source's key frequencies"),
            "gap": at_least(2, "the norms of W_L at key frequencies must be clearly larger than at other frequencies"),
        },
        reported=("norm of frequency 1 over the largest",),
        needs=SEEDS,
        scope="any seed",
        finding=mixed(),
        figure="read_circles",
    ),
    Claim(
        id="clock.s8.no_superposition",
        where="section 8",
        statement="The MLP needs no superposition. The MLP writes a cosine and a sine for each circle. The vectors that the MLP writes are fewer than the residual stream's 128 dimensions, and nearly perpendicular to each other.",
        source_says="the source counts at most 113 features in 128 dimensions",
        measure=each(_features),
        expected={
            "effective rank of the output over 4 K + 5": at_most(
                1, "the MLP writes four directions for each circle, plus some noise"
            ),
            "share of the output's variance in two features a circle": at_least(
                0.9, "all other directions of the MLP's output must hold little variance"
            ),
            "smallest angle between features of two circles [degrees]": at_least(
                60, "features in superposition share directions; features at angles of 90 degrees share none"
            ),
            **ACCURATE,
        },
        needs=SEEDS,
        scope="any seed",
        figure="singular",
        changed=(
            Change(
                date="2026-11-23",
                what="the tolerances: the variance and the angles of the MLP's features now have tolerances too",
                before="only the effective rank of the MLP's output was tested: the rank is 0.22 to 0.25 of 4 K + 5, where K is the number of circles",
                now="two features for each circle must also hold most of the output's variance (0.97 to 0.99), at large angles (83, 81 and 64 degrees)",
                why=(
                    "a low rank shows that the output has few dimensions, but not that features do not share dimensions"
                ),
            ),
        ),
    ),
    Claim(
        id="clock.s8.bup_sorted",
        where="section 8, sorted biases",
        statement="Far fewer than 113 neuron biases are clearly negative. The ReLU still changes the activations, since a third to a half of the pre-activations are below 0.",
        source_says="far fewer than 113 biases are negative",
        measure=each(_biases),
        expected={
            "biases below -0.1": at_most(112, "clearly negative biases must be fewer than the 113 numbers"),
            "share of biases above 0": at_least(
                0.5, "most biases must be positive, since the source argues with positive biases"
            ),
            **ACCURATE,
        },
        needs=SEEDS,
        scope="any seed",
        figure="biases",
        changed=(
            Change(
                date="2026-11-23",
                what="the tolerances: the share of positive biases now has a tolerance too",
                before="only the number of negative biases was tested; before training all biases are 0, and none is negative",
                now="most biases must also be positive: the share of positive biases is 0.775, 0.984 and 0.887, and 0 before training",
                why="the claim should distinguish a trained network from an untrained one",
            ),
        ),
        control="also true of random labels",
    ),
    Claim(
        id="clock.s8.bup_orthant",
        where="section 8",
        statement="Positive biases of the neurons shift the circles into the positive orthant, where the ReLU changes "
        "nothing.",
        source_says="the source argues from a plot of the sorted biases",
        measure=each(_orthant),
        expected={NEGATIVE_PRE: at_most(0.05, "in the positive orthant no pre-activation would be negative")},
        reported=(
            "pre-activations below 0 without the biases",
            "neurons that never go below 0",
            "mean bias over the mean size of a pre-activation",
        ),
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "The neuron biases are positive, but small compared with the pre-activations. Removing the "
            "biases hardly changes the number of pre-activations below 0."
        ),
        figure="biases",
    ),
    Claim(
        id="clock.s8.wup_no_circle",
        where="section 8",
        statement="The columns of W_in form no circle in the planes of the circles that attention writes.",
        source_says="the source sees no clean circle in the columns of W_in",
        measure=each(_radii_of_W_in),
        expected={
            "smallest variation of the radius": at_least(
                0.4, "on a circle the radius is constant, so its coefficient of variation is 0"
            ),
            **ACCURATE,
        },
        needs=SEEDS,
        scope="any seed",
        figure="biases",
        control="also true before training",
    ),
    Claim(
        id="clock.s8.mlp_affine",
        where="section 8",
        statement="The MLP is only an affine map, and the ReLU is unnecessary.",
        source_says="the source argues from the signs of the biases",
        measure=each(_affine_battery),
        expected={
            "accuracy with an affine map in place of the neurons": at_least(
                LEARNED.low, "with an affine map in place of the neurons, the answers would still be right"
            )
        },
        reported=(
            "R squared of that map",
            "accuracy without the ReLU",
            NEGATIVE_PRE,
            PRODUCTS_BEFORE_MLP,
            "products_before",
            "products_after",
            "share of products, logits",
            "highest R squared of cos, sin(w(a + b)) from before the MLP",
        ),
        needs=BATTERY,
        scope="any seed",
        finding=refuted(
            "The best affine map explains most of the neurons' variance. With the best affine map in place of the neurons, or without the ReLU, most answers are wrong. Products of waves hold little of the neurons' variance before the ReLU, a fifth after the ReLU, and nearly all of the logits' variance. Attention makes some products of waves. At frequencies at which heads attend, an affine map of the MLP's input already gives a part of cos(w(a + b))."
        ),
        figure="linearity",
    ),
    Claim(
        id="clock.s8.reluless_groks",
        where="section 8",
        statement="A network without ReLU groks too, and its attention makes the products of waves.",
        source_says="a network without ReLU groks",
        measure=each(
            lambda m: {
                "highest test accuracy": float(m.history["test_accuracy"].max()),
                "grokking epochs without ReLU": m.grokking.grokked,
                "share of products before the MLP": term_shares(m.activation(MID)).products,
            }
        ),
        expected={
            "highest test accuracy": at_least(LEARNED.low, "the network without ReLU must grok"),
            "share of products before the MLP": at_least(
                0.2,
                "the share must be five times the 4% of networks with ReLU, since without ReLU only "
                "attention can make products",
            ),
        },
        behaviour=("highest test accuracy",),
        reported=("grokking epochs without ReLU",),
        needs=WITHOUT_RELU,
        scope="any seed",
        finding=mixed(
            "One seed without ReLU does not grok in 40,000 epochs. In the seed that does not grok, attention makes only 8% of the products of waves."
        ),
        changed=(
            Change(
                date="2026-11-28",
                what="the share of the seeds in which the statement must hold",
                before="the statement had to hold in a third of the seeds, since the source shows one network; it held in two of three",
                now="the statement must hold in each seed",
                why="the statement is about one network, and one of our networks does not grok",
            ),
        ),
        figure="without_relu",
    ),
    Claim(
        id="clock.s8.mlp_circles",
        where="section 8",
        statement="The neurons' activations also contain circles, as the embedding does.",
        source_says="the source shows circles in the neurons' activations",
        measure=each(
            lambda m: {"lowest quality of a circle": min(m.circles.own_circle(NEURONS, k).quality for k in m.freqs)}
        ),
        expected={
            "lowest quality of a circle": at_least(
                0.6, "the curves must be circles, though less clean than the circles of the embedding"
            )
        },
        needs=SEEDS,
        scope="any seed",
        figure="neurons_3d",
    ),
)
