"""Claims of the blog post's section 5: the frequencies of the embedding, and how they become fewer during training."""

from __future__ import annotations

import math
from itertools import pairwise

import torch

from modinterp.analyses.fourier.frequencies import frequency_shares, key_frequencies, significant_frequencies
from modinterp.analyses.fourier.sparsity import fourier_gini
from modinterp.analyses.fourier.transforms import component_norms, fourier_basis, frequency_norms
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import Finding, one_seed
from modinterp.measurements import CyclicMeasurements
from modinterp.runs import NotRecorded
from modinterp.sources.clock.runs import SEEDS, STOPPED_DECAY
from modinterp.sources.nanda.runs import SEEDS as MAINLINE

WITHOUT_DECAY = "final test accuracy without decay, highest"
EPOCHS = (5_000, 10_000, 20_000)


def _printed_basis() -> dict[str, Value]:
    W_E = torch.randn(113, 128, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = torch.arange(113, dtype=torch.float64)
    rows = [torch.ones(113, dtype=torch.float64)]
    for k in range(1, 57):
        rows += [torch.cos(2 * torch.pi * k * x / 113), torch.sin(2 * torch.pi * k * x / 113)]
    printed = torch.stack([row / row.norm() for row in rows])
    return {
        "largest difference of the bases": float((printed - fourier_basis(113)).abs().max()),
        "largest difference of the norms": float(((W_E.T @ printed.T).norm(dim=0) - component_norms(W_E)).abs().max()),
    }


def _embedding_at(m: CyclicMeasurements, epoch: int) -> torch.Tensor:
    """Embedding of the residues at an epoch; of a run before its first step, its initial embedding at any epoch.

    Raises:
        NotRecorded: there is no snapshot of that epoch.
    """
    if epoch not in m.snapshots and set(m.snapshots) != {0}:
        raise NotRecorded(f"{m.name} has no snapshot of epoch {epoch:,}")
    return m.at(min(epoch, max(m.snapshots))).W_E[: m.p].detach()


def _frequencies_at_10k(m: CyclicMeasurements) -> dict[str, Value]:
    W_E = _embedding_at(m, 10_000)
    return {
        "frequencies above a quarter of the largest": len(significant_frequencies(W_E)),
        "energy share of the key frequencies": frequency_shares(W_E, m.freqs),
    }


def _frequencies_over_training(m: CyclicMeasurements) -> dict[str, Value]:
    counts = [len(significant_frequencies(_embedding_at(m, epoch))) for epoch in EPOCHS]
    return {
        "fewer at 10,000 than at 5,000": counts[0] - counts[1],
        "fewer at 20,000 than at 10,000": counts[1] - counts[2],
        "fewer at 20,000 than at 5,000": counts[0] - counts[2],
    }


def _gone_without_decay(*runs: CyclicMeasurements) -> dict[str, Value]:
    """Return how many active frequencies go after 5,000 epochs, of all seeds together, with weight decay and without."""
    gone, accuracies = {True: 0, False: 0}, [float(m["final_test_accuracy"]) for m in runs if m.recipe.decay_until]
    for m in runs:
        counts = [len(significant_frequencies(_embedding_at(m, epoch))) for epoch in (EPOCHS[0], EPOCHS[-1])]
        gone[m.recipe.decay_until > 0] += counts[0] - counts[1]
    return {
        "frequencies that go after 5,000 epochs with weight decay": gone[False],
        "frequencies that go without decay, over those that go with it": (
            gone[True] / gone[False] if gone[False] else math.nan
        ),
        WITHOUT_DECAY: max(accuracies, default=math.nan),
    }


def _gini_over_training(m: CyclicMeasurements) -> dict[str, Value]:
    ginis = [fourier_gini(_embedding_at(m, epoch)) for epoch in EPOCHS]
    return {
        "rise of the Gini coefficient from 5,000 to 10,000": ginis[1] - ginis[0],
        "rise of the Gini coefficient from 10,000 to 20,000": ginis[2] - ginis[1],
    }


def _inactive_norms(*runs: CyclicMeasurements) -> dict[str, Value]:
    """Return the median norm of the embedding's inactive frequencies over its largest, in all runs but the last over
    the last.
    """
    ours = [_inactive(_embedding_at(m, 10_000)) for m in runs[:-1]]
    return {
        "inactive norms over those of the other source's network, smallest": (
            min(ours) / _inactive(runs[-1].W_E[: runs[-1].p].detach())
        )
    }


def _inactive(W_E: torch.Tensor) -> float:
    norms = frequency_norms(component_norms(W_E))
    return float(norms[norms <= norms.max() / 4].median() / norms.max())


def _numbers_of_circles(*runs: CyclicMeasurements) -> dict[str, Value]:
    counts, rises = [], []
    for m in runs:
        counts.append(len(m.freqs))
        after = [epoch for epoch in sorted(m.snapshots) if epoch >= m.grokking.grokked]
        numbers = [len(key_frequencies(m.at(epoch).W_L).freqs) for epoch in after]
        rises += [later - earlier for earlier, later in pairwise(numbers)]
    return {
        "different numbers of frequencies over the networks": len(set(counts)),
        "largest rise from one snapshot after grokking to the next": max(rises, default=math.nan),
    }


_FEWER = at_least(
    0, "the embedding has more active frequencies at 10,000 epochs than at 20,000, and more at 5,000 than at 10,000"
)

CLAIMS = (
    Claim(
        id="clock.s5.dft_code",
        where="section 5",
        statement=(
            "Our Fourier basis (constant, cos 1, sin 1, ...) and our norms of the embedding in this basis equal"
            " the source's."
        ),
        source_says="the source states this as a definition",
        measure=_printed_basis,
        expected={"largest difference of the bases": at_most(1e-12), "largest difference of the norms": at_most(1e-12)},
        needs=(),
        scope="any network",
    ),
    Claim(
        id="clock.s5.we_norms_10k",
        where="section 5, at 10,000 epochs",
        statement="At 10,000 epochs several frequencies of the embedding stand out.",
        source_says="the source sees 4 clean pairs of peaks and some smaller peaks between them",
        measure=each(_frequencies_at_10k),
        expected={
            "frequencies above a quarter of the largest": at_least(
                2, "in the source's embedding 4 frequencies stand out"
            ),
            "energy share of the key frequencies": at_least(
                0.5,
                "in a random embedding all 56 frequencies have similar norms; frequencies that stand out hold "
                "most of the energy",
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="embedding",
        changed=(
            Change(
                date="2026-11-21",
                what="the tolerances: the share of the embedding's energy at the key frequencies now has a tolerance too",
                before=(
                    "the claim needed at least two frequencies with large norms: our networks have 8, 5 and"
                    " 4 such frequencies, but a random embedding has 56"
                ),
                now=(
                    "the key frequencies must also hold most of the embedding's energy: their share is "
                    "0.843, 0.884 and 0.941, and 0.019 before training"
                ),
                why="a random embedding also met the old tolerance",
            ),
        ),
    ),
    Claim(
        id="clock.s5.inactive_norms",
        where="section 5, at 10,000 epochs",
        statement=(
            "At 10,000 epochs the embedding's inactive frequencies have larger norms, relative to its "
            "largest frequency, than in the trained network of Nanda et al."
        ),
        source_says="inactive frequencies have very small norms in the paper of Nanda et al.",
        measure=_inactive_norms,
        expected={
            "inactive norms over those of the other source's network, smallest": at_least(
                1, "inactive frequencies must have larger norms than in the network of Nanda et al."
            )
        },
        finding=one_seed(
            "In one network the norms of inactive frequencies are 0.62 times as large as in the network of "
            "Nanda et al., and not larger."
        ),
        needs=(*SEEDS[1:], MAINLINE[0]),
        control="without control",
        figure="embedding",
    ),
    Claim(
        id="clock.s5.we_norms_5k",
        where="section 5, at 5,000 epochs",
        statement="The longer the training, the fewer frequencies are active in the embedding.",
        source_says="more active frequencies at 5,000 epochs than at 10,000, and still fewer at 20,000",
        measure=each(_frequencies_over_training),
        expected={
            "fewer at 10,000 than at 5,000": _FEWER,
            "fewer at 20,000 than at 10,000": _FEWER,
            "fewer at 20,000 than at 5,000": at_least(
                1, "fewer frequencies are active at the end than at 5,000 epochs"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="embedding",
    ),
    Claim(
        id="clock.s5.decay_pares",
        where="section 5",
        statement=("Weight decay removes frequencies: if weight decay ends at epoch 5,000, most frequencies stay."),
        source_says="a hunch: decay slowly removes frequencies that the model does not need",
        measure=_gone_without_decay,
        expected={
            "frequencies that go without decay, over those that go with it": at_most(
                0.25, "without weight decay most frequencies must stay; we chose what counts as most"
            )
        },
        given={
            "frequencies that go after 5,000 epochs with weight decay": at_least(
                3,
                "with weight decay each seed must lose a frequency, otherwise no frequency was removed by weight decay",
            )
        },
        needs=(*SEEDS, *STOPPED_DECAY),
        required=("clock/no-pos-*", "clock/decay-until-5000-*"),
        reported=(WITHOUT_DECAY,),
        finding=Finding(
            "holds",
            "A network that has not generalised by epoch 5,000 keeps all its frequencies, and never generalises.",
        ),
        scope="any seed",
        shuffled=True,
    ),
    Claim(
        id="clock.s5.we_norms_20k",
        where="section 5, at 20,000 epochs",
        statement=(
            "The spikes in the embedding's spectrum are fewer and cleaner at 20,000 epochs than at earlier epochs."
        ),
        source_says="3 key frequencies: 4, 32, 43",
        measure=each(_gini_over_training),
        expected={
            "rise of the Gini coefficient from 5,000 to 10,000": at_least(
                1e-6, "the source says that the spectrum is cleaner at each later epoch"
            ),
            "rise of the Gini coefficient from 10,000 to 20,000": at_least(
                1e-6, "the source says that the spectrum is cleaner at each later epoch"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="embedding",
        changed=(
            Change(
                date="2026-11-23",
                what="the lower end of the tolerances for the rise of the Gini coefficient",
                before=(
                    "the Gini coefficient had to rise by at least 0. The Gini coefficient rises by 0.0083 "
                    "and more in our networks, but a network that never changes also met the tolerance of 0"
                ),
                now="1e-6",
                why="the source says that the spectrum becomes cleaner, so the Gini coefficient must rise",
            ),
        ),
    ),
    Claim(
        id="clock.s5.five_arbitrary",
        where="section 5",
        statement=("The number of circles in a network is a matter of chance, and weight decay only removes circles."),
        source_says="5 circles in the paper of Nanda et al., 3 in the source",
        measure=_numbers_of_circles,
        expected={
            "different numbers of frequencies over the networks": at_least(
                2, "the source's network has 3 circles, and the network of Nanda et al. has 5"
            ),
            "largest rise from one snapshot after grokking to the next": at_most(
                0, "weight decay removes frequencies and adds none"
            ),
        },
        needs=(*SEEDS, *MAINLINE),
        scope="any seed",
        figure="embedding",
        control="without control",
    ),
)
