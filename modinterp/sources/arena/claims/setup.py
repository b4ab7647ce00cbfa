"""Claims on the set-up: the networks' sizes, and whether the recipe with the authors' seed gives the authors' network."""

from __future__ import annotations

from math import prod

from modinterp.claims.band import equals, near
from modinterp.claims.checking import Claim
from modinterp.claims.claim import each
from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.claims.cumsum import u
from modinterp.sources.arena.claims.subject import SEED, judged, seed
from modinterp.sources.arena.runs import CUMSUM, PALINDROME, RUNS, SORT, SUM, UNIQUE

WEIGHTS = {
    "weights, running sum": CUMSUM[0],
    "weights, sorted list": SORT[0],
    "weights, sum of two numbers": SUM[0],
    "weights, palindromes": PALINDROME[0],
    "weights, unique letters": UNIQUE[0],
}
Q, K, V, LARGEST = "norm of W_Q", "norm of W_K", "norm of W_V", "largest singular value of W_E W_V W_O"


def _reproduced(m: SequenceMeasurements) -> dict[str, float]:
    network, values = judged(m).precise, u(judged(m)).singular_values
    norms = {name: float(w.detach().norm()) for name, w in ((Q, network.W_Q), (K, network.W_K), (V, network.W_V))}
    return norms | {LARGEST: float(values[0]), SEED: seed(m)}


CLAIMS = (
    Claim(
        id="arena.arch",
        where="each month, the network",
        statement="The source's five networks have 2,447, 49,684, 30,300, 8,262 and 16,475 weights.",
        source_says="the source states the number of weights of each network",
        measure=lambda: {name: sum(map(prod, RUNS[run].model.shapes().values())) for name, run in WEIGHTS.items()},
        expected=dict(zip(WEIGHTS, map(equals, (2_447, 49_684, 30_300, 8_262, 16_475)), strict=True)),
        scope="any network",
    ),
    Claim(
        id="arena.reproduction",
        where="November, notebook",
        statement="Training with the authors' recipe and seed reproduces the authors' network.",
        source_says=(
            "W_Q, W_K and W_V of the authors' network have norms .021, .022 and 2.80; the largest singular "
            "value of W_E W_V W_O is 22.01"
        ),
        measure=each(_reproduced),
        expected={
            Q: near(
                0.021,
                0.0005,
                "the norm of W_Q is 0.021 in the authors' network; our network should have the same printed digits",
            ),
            K: near(
                0.022,
                0.0005,
                "the norm of W_K is 0.022 in the authors' network; our network should have the same printed digits",
            ),
            V: near(
                2.80,
                0.005,
                "the norm of W_V is 2.80 in the authors' network; our network should have the same printed digits",
            ),
            LARGEST: near(
                22.01,
                0.01,
                "the largest singular value of W_E W_V W_O is 22.01 in the authors' network; our network "
                "should have the same printed digits",
            ),
        },
        given={SEED: equals(42, "the claim is about networks with the authors' seed")},
        needs=CUMSUM[:1],
    ),
)
