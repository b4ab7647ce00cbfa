"""Appendix C.2.1, tables 3 and 4 and figures 16 to 19: four more seeds, each with an algorithm of the same kind."""

from __future__ import annotations

import math
from statistics import mean, median

from modinterp.analyses.lines import correlation
from modinterp.analyses.phases import first_epoch
from modinterp.analyses.progress import fourier_gini
from modinterp.analyses.readout import Readoff, ReadoffTable
from modinterp.analyses.similarity import cosines
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.claim import HOLDS, Claim, Measure, Value, each, refuted
from modinterp.claims.evidence import evidence
from modinterp.claims.nanda.phases import SPARSE_AT_THE_END, sparsity
from modinterp.claims.nanda.setup import SEEDS
from modinterp.runs import TrainedRun

MORE_SEEDS = dict(zip(range(1, 5), SEEDS[1:], strict=True))  # the paper's number of a seed to our run


def _paper(*rows: tuple[str, int, float, float, float, float]) -> ReadoffTable:
    return ReadoffTable(
        tuple(
            Readoff(freq, wave, first, second, amplitude, fve, math.nan, True)
            for wave, freq, first, second, amplitude, fve in rows
        )
    )


# direction of W_L, coefficients of the two products, amplitude of their wave of a + b, FVE
TABLE_3 = {
    1: _paper(
        ("cos", 2, 147.4, -145.8, 146.6, 0.992), ("sin", 2, 145.5, 145.6, 145.5, 0.991),
        ("cos", 9, 49.3, -48.0, 48.6, 0.964), ("sin", 9, 48.6, 48.5, 48.5, 0.967),
        ("cos", 19, 58.0, -58.3, 58.2, 0.954), ("sin", 19, 59.3, 59.4, 59.4, 0.939),
        ("cos", 31, 94.4, -96.4, 95.4, 0.984), ("sin", 31, 97.2, 97.1, 97.2, 0.987),
    ),
    2: _paper(
        ("cos", 40, 97.0, -99.4, 98.2, 0.973), ("sin", 40, 81.3, 81.3, 81.3, 0.927),
        ("cos", 44, 309.1, -338.7, 323.9, 0.985), ("sin", 44, 327.3, 327.2, 327.3, 0.989),
        ("cos", 53, 192.1, -192.2, 192.1, 0.973), ("sin", 53, 166.7, 166.8, 166.8, 0.957),
    ),
    3: _paper(
        ("cos", 31, 156.1, -156.5, 156.3, 0.993), ("sin", 31, 150.7, 150.7, 150.7, 0.989),
        ("cos", 45, 72.5, -76.8, 74.6, 0.959), ("sin", 45, 74.7, 74.6, 74.6, 0.966),
        ("cos", 49, 45.9, -45.5, 45.7, 0.970), ("sin", 49, 45.8, 45.8, 45.8, 0.969),
        ("cos", 52, 71.6, -72.1, 71.9, 0.985), ("sin", 52, 68.7, 68.7, 68.7, 0.979),
    ),
    4: _paper(
        ("cos", 17, 66.0, -63.5, 64.8, 0.964), ("sin", 17, 66.4, 66.4, 66.4, 0.949),
        ("cos", 32, 68.7, -68.4, 68.5, 0.962), ("sin", 32, 68.0, 68.0, 68.0, 0.963),
        ("cos", 42, 100.4, -96.0, 98.2, 0.979), ("sin", 42, 100.2, 100.1, 100.1, 0.986),
        ("cos", 51, 118.0, -116.2, 117.1, 0.990), ("sin", 51, 114.3, 114.2, 114.2, 0.985),
    ),
}  # fmt: skip

TEST_LOSSES = ("test loss", "test loss without key frequencies", "test loss without all others")
# of the whole network, without its key frequencies, without all others [nats]
TABLE_4 = {1: (2.07e-7, 6.5, 5.7e-8), 2: (2.1e-7, 11.0, 6.2e-8), 3: (2.05e-7, 6.7, 5.5e-8), 4: (2.33e-7, 6.8, 6.0e-8)}

UNCLEAN = (
    "mainline-1 ends less clean than the paper's: along two of its eight directions, of frequencies 3 and 40, one wave is 0.82 "
    "to 0.89 of the neurons, along the six others 0.98 to 0.99, where the paper's seed 1 has at least 0.939; its mean, 0.935, is in the band"
)
SETTLED_HIGHER = (
    "the test loss of mainline-1 settles at 1.9e-6 (2.0e-6 at epoch 30,000), where the paper's four end at 2.1e-7 to "
    "2.3e-7; without its key frequencies it is 7.2, without all others 2.5e-8, as in the paper"
)


def _embeddings(run: TrainedRun) -> dict[str, Value]:
    positions = run.model.pos_embed.W_pos[:2].detach().double()
    return {
        "Gini of W_E": fourier_gini(evidence(run).W_E),
        "cosine of the embeddings of the two positions": float(cosines(positions)[0, 1]),
        "Pearson correlation of the embeddings of the two positions": correlation(*positions),
    }


def _outputs(*runs: TrainedRun) -> dict[str, Value]:
    found = [evidence(run) for run in runs]
    return {
        "key frequencies": [len(ev.freqs) for ev in found],
        "different sets of them": len({ev.freqs for ev in found}),
        "Gini of W_L": [fourier_gini(ev.W_L.T) for ev in found],
        "weakest key frequency over strongest other": [ev.keys.gap for ev in found],
    }


def _table_3(wave: str) -> Measure:
    def measure(run: TrainedRun) -> dict[str, Value]:
        rows = evidence(run).readoff.rows
        return {
            "lowest FVE": min(row.explained for row in rows),
            "mean FVE": mean(row.explained for row in rows),
            f"lowest FVE of a {wave} direction": min(row.explained for row in rows if row.wave == wave),
            "key frequencies": len(evidence(run).freqs),
        }

    return measure


def _table_4(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    found = dict(zip(TEST_LOSSES, ev.test_losses, strict=True))
    products = ev.test_losses_counted_as("products")
    return {
        **found,
        "without all others over the whole": found[TEST_LOSSES[2]] / found[TEST_LOSSES[0]],
        **{f"{n}, counted as products": loss for n, loss in zip(TEST_LOSSES[1:], products[1:], strict=True)},
    }


def _loss_curves(*runs: TrainedRun) -> dict[str, Value]:
    found = [evidence(run) for run in runs]
    t1, t2 = [ev.phases.memorised for ev in found], [ev.phases.formed for ev in found]
    middle = median(t1)

    def ahead_of(name: str) -> list[float]:
        tables = [(ev.progress, ev.progress["epoch"] > ev.phases.memorised) for ev in found]
        restricted = [first_epoch(p["epoch"], later & (p["restricted_loss_all"] < 1)) for p, later in tables]
        other = [first_epoch(p["epoch"], (later | (name == "train_loss")) & (p[name] < 1)) for p, later in tables]
        return [a - b for a, b in zip(other, restricted, strict=True)]

    return {
        "largest deviation of t1 from its median, over it": max(abs(t - middle) for t in t1) / middle,
        "largest over smallest t2": max(t2) / min(t2),
        "epochs by which restricted is below 1 before test": ahead_of("test_loss"),
        "epochs by which restricted is below 1 before train": ahead_of("train_loss"),
        "t1": t1,
        "t2": t2,
        "t3": [ev.phases.cleaned for ev in found],
        "epoch of train accuracy 0.99": [ev.grokking.memorised for ev in found],
    }


def _table_3_claim(seed: int, row: Readoff) -> Claim:
    products = ("cos cos", "sin sin") if row.wave == "cos" else ("sin cos", "cos sin")
    return Claim(
        f"nanda.table3.seed{seed}.{row.wave}{row.freq}",
        "appendix C.2.1, table 3",
        f"Along the W_L direction of {row.wave}(w_{row.freq} c) the neurons of seed {seed} carry one wave of a + b. Measured "
        f"on every direction of the key frequencies of our seed {seed}, which are its own.",
        f"{row.first} {products[0]} {row.second:+} {products[1]}, about {row.amplitude} {row.wave}(w_{row.freq}(a + b)), FVE {row.explained}",
        _table_3(row.wave),
        {
            "lowest FVE": at_least(0.85, f"{row.explained} here, 0.927 is the table's lowest; other networks vary"),
            "mean FVE": at_least(0.92, "0.972 is the mean of table 3; other networks vary"),
        },
        needs=(MORE_SEEDS[seed],),
        figure="readoff_seeds",
        finding=refuted(UNCLEAN) if seed == 1 else HOLDS,
    )


def _table_4_claim(seed: int) -> Claim:
    whole, without_keys, without_others = TABLE_4[seed]
    return Claim(
        f"nanda.table4.seed{seed}",
        "appendix C.2.1, table 4",
        f"Seed {seed} solves the task; without its key frequencies it is worse than guessing; without all others it is better.",
        f"{whole:g}, {without_keys:g}, {without_others:g}",
        _table_4,
        {
            TEST_LOSSES[0]: at_most(1e-6, "2.33e-7 at most in table 4, times 4"),
            TEST_LOSSES[1]: at_least(4.73, "chance, ln 113"),
            "without all others over the whole": at_most(1, "the direction is the claim"),
        },
        needs=(MORE_SEEDS[seed],),
        figure="keys_and_others",
        finding=refuted(SETTLED_HIGHER) if seed == 1 else HOLDS,
    )


CLAIMS = (
    Claim(
        "nanda.fig16",
        "appendix C.2.1, figure 16",
        "The embeddings of four more seeds are sparse in the Fourier basis.",
        "none printed",
        each(_embeddings),
        {"Gini of W_E": at_least(0.6, "0.76 in table 5, less what other seeds may have")},
        needs=SEEDS[1:],
        scope="any seed",
        figure="spectra_W_E",
    ),
    Claim(
        "nanda.fig17",
        "appendix C.2.1, figure 17",
        "The maps from neurons to logits of four more seeds are sparse in the Fourier basis, each with a few key frequencies of its own.",
        "3 or 4 key frequencies",
        _outputs,
        {
            "key frequencies": between(2, 8, "3 or 4 in the paper, 5 in its main network"),
            "different sets of them": at_least(2, "they differ by seed"),
            "Gini of W_L": at_least(0.6, "sparse: as much as is asked of W_E in figure 16"),
        },
        needs=SEEDS[1:],
        figure="spectra_W_L",
    ),
    *(_table_3_claim(seed, row) for seed, table in TABLE_3.items() for row in table.rows),
    *(_table_4_claim(seed) for seed in TABLE_4),
    Claim(
        "nanda.fig18",
        "appendix C.2.1, figure 18",
        "Losses of four more seeds look alike: memorisation ends at about the same epoch, grokking does not, and restricted "
        "loss falls before test loss.",
        "memorisation ends at about 1,400 in all five seeds",
        _loss_curves,
        {
            "largest deviation of t1 from its median, over it": at_most(0.4, "about the same epoch in the paper"),
            "largest over smallest t2": at_least(1.1, "the paper's seeds grok at different epochs"),
            "epochs by which restricted is below 1 before test": at_least(
                100, "before: by a row of the measures or more"
            ),
        },
        needs=SEEDS[1:],
        figure="losses_seeds",
        finding=refuted(
            "seeds 1 to 3 end memorisation at epochs 1,100 to 1,400, but seed 4 at 400, two thirds before the median of 1,200: "
            "its circuit begins to form earlier, and it groks first; the restricted loss falls 2,200 to 3,100 epochs before the test loss in all"
        ),
    ),
    Claim(
        "nanda.fig19",
        "appendix C.2.1, figure 19",
        "The Gini coefficients of four more seeds rise slowly, and quickly in cleanup.",
        "none printed",
        each(sparsity),
        SPARSE_AT_THE_END,
        needs=SEEDS[1:],
        scope="any seed",
        figure="ginis_seeds",
    ),
)
