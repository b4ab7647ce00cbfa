"""Sections 2 to 5: the task, the network, its training, and the frequencies of its embedding."""

from __future__ import annotations

import math
from itertools import pairwise

import torch

from modinterp.analyses.fourier import component_norms, fourier_basis
from modinterp.analyses.frequencies import frequency_shares, key_frequencies, significant_frequencies
from modinterp.analyses.progress import fourier_gini
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.claims.clock.clockwork import SEEDS
from modinterp.claims.evidence import MAINLINE, evidence
from modinterp.runs import NotRecorded, TrainedRun

LOOKED_AT = (5_000, 10_000, 20_000)


def _task(run: TrainedRun) -> dict[str, Value]:
    inputs, p = run.task.inputs(), run.task.heads[0]
    return {
        "pairs": len(inputs),
        "smallest operand": int(inputs[:, :2].min()),
        "largest operand": int(inputs[:, :2].max()),
        "token of =": int(inputs[:, 2].unique()),
        "answers that are not (a + b) mod p": int((run.task.labels()[:, 0] != inputs[:, :2].sum(dim=1) % p).sum()),
        "pairs trained on": len(run.split.train),
    }


def _architecture(run: TrainedRun) -> dict[str, Value]:
    logits, config = evidence(run).logits, run.model.cfg
    return {
        "layers": config.n_layers,
        "positional embeddings": bool(config.positional),
        "biases in the MLP": "blocks.0.mlp.b_in" in dict(run.model.named_parameters()),
        "largest difference between logits of (a, b) and of (b, a)": float(
            (logits - logits.transpose(0, 1)).abs().max()
        ),
    }


def _with_and_without_positions(*runs: TrainedRun) -> dict[str, Value]:
    found = [evidence(run) for run in runs]
    return {
        "grokking epoch": [ev.grokking.grokked for ev in found],
        "delayed": [ev.grokking.delayed for ev in found],
        "FVE of the logits": [ev.logit_fit.explained for ev in found],
    }


def _curves(run: TrainedRun) -> dict[str, Value]:
    grokked, table = evidence(run).grokking.grokked, evidence(run).progress
    squares = table["sum_of_squares_W_E"]
    apart = table["epoch"][(squares / squares.iloc[-1] - 1).abs() > 0.02]
    settled = float(apart.iloc[-1]) if len(apart) else math.nan
    return {
        "grokking epoch": grokked,
        "epochs from grokking until W_E settles": settled - grokked,
        "epoch at which the sum of squares of W_E comes within 2% of its end": settled,
        "final test loss": float(table["test_loss"].iloc[-1]),
    }


def _dft_code() -> dict[str, Value]:
    W_E = torch.randn(113, 128, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = torch.arange(113, dtype=torch.float64)
    rows = [torch.ones(113, dtype=torch.float64)]
    for k in range(1, 57):
        rows += [torch.cos(2 * torch.pi * k * x / 113), torch.sin(2 * torch.pi * k * x / 113)]
    theirs = torch.stack([row / row.norm() for row in rows])
    return {
        "largest difference of the bases": float((theirs - fourier_basis(113)).abs().max()),
        "largest difference of the norms": float(((W_E.T @ theirs.T).norm(dim=0) - component_norms(W_E)).abs().max()),
    }


def _at(run: TrainedRun, epoch: int) -> torch.Tensor:
    """W_E of the residues at an epoch.

    Raises:
        NotRecorded: there is no snapshot of it.
    """
    if epoch not in run.snapshots:
        raise NotRecorded(f"{run.name} has no snapshot of epoch {epoch:,}")
    return run.at(epoch).W_E[: run.task.heads[0]].detach()


def _norms_10k(run: TrainedRun) -> dict[str, Value]:
    W_E = _at(run, 10_000)
    return {
        "frequencies above a quarter of the largest": len(significant_frequencies(W_E)),
        "energy share of the key frequencies": frequency_shares(W_E, evidence(run).freqs),
    }


def _fading(run: TrainedRun) -> dict[str, Value]:
    found = [_at(run, epoch) for epoch in LOOKED_AT]
    counts = [len(significant_frequencies(W_E)) for W_E in found]
    return {
        "fewer at 10,000 than at 5,000": counts[0] - counts[1],
        "fewer at 20,000 than at 10,000": counts[1] - counts[2],
        "fewer at 20,000 than at 5,000": counts[0] - counts[2],
        **{f"at {epoch:,}": count for epoch, count in zip(LOOKED_AT, counts, strict=True)},
    }


def _cleaner(run: TrainedRun) -> dict[str, Value]:
    ginis = [fourier_gini(_at(run, epoch)) for epoch in LOOKED_AT]
    return {
        "rise of the Gini coefficient from 5,000 to 10,000": ginis[1] - ginis[0],
        "rise of the Gini coefficient from 10,000 to 20,000": ginis[2] - ginis[1],
        "key frequencies": len(evidence(run).freqs),
        "frequencies of W_E that are no key frequency": len(
            set(significant_frequencies(evidence(run).W_E)) - set(evidence(run).freqs)
        ),
        "of them, doubles of a key frequency": len(_doubles(run)),
        "Gini coefficient at 20,000": ginis[2],
    }


def _doubles(run: TrainedRun) -> set[int]:
    """Significant frequencies of W_E that are no key frequency, but twice one, counted mod p."""
    ev = evidence(run)
    twice = {min(2 * k % ev.p, -2 * k % ev.p) for k in ev.freqs}
    return (set(significant_frequencies(ev.W_E)) - set(ev.freqs)) & twice


def _any_number(*runs: TrainedRun) -> dict[str, Value]:
    counts, rises = [], []
    for run in runs:
        counts.append(len(evidence(run).freqs))
        after = [epoch for epoch in sorted(run.snapshots) if epoch >= evidence(run).grokking.grokked]
        found = [len(key_frequencies(run.at(epoch).W_L).freqs) for epoch in after]
        rises += [later - earlier for earlier, later in pairwise(found)]
    return {
        "different numbers": len(set(counts)),
        "largest rise from one snapshot after grokking to the next": max(rises, default=math.nan),
        "key frequencies": counts,
    }


_FEWER = at_least(0, "at 10,000 epochs there are more than at 20,000, at 5,000 more than at 10,000")

CLAIMS = (
    Claim(
        "clock.s2.task",
        "section 2",
        "The network reads {a}+{b}= and answers (a + b) mod 113; 30% of the pairs are trained on. "
        "Our networks have no output for the token =, which is never an answer.",
        "a, b said to run from 1 to P; token 113 is =; 114 logits",
        _task,
        {
            "pairs": equals(113 * 113),
            "smallest operand": equals(0),
            "largest operand": equals(112),
            "token of =": equals(113),
            "answers that are not (a + b) mod p": equals(0),
            "pairs trained on": equals(3830),
        },
        needs=SEEDS[:1],
        scope="any network",
    ),
    Claim(
        "clock.s3.arch",
        "section 3",
        "One layer, no LayerNorm, no positional embeddings, an MLP with biases; so (a, b) and (b, a) have equal logits.",
        "stated",
        _architecture,
        {
            "layers": equals(1),
            "positional embeddings": equals(0),
            "biases in the MLP": equals(1),
            "largest difference between logits of (a, b) and of (b, a)": at_most(1e-4),
        },
        needs=SEEDS[:1],
        scope="any network",
    ),
    Claim(
        "clock.s3.irrelevant",
        "section 3",
        "Positional embeddings do not matter: with and without them the network groks and ends with the same algorithm. "
        "The paper that is cited for it has no such ablation.",
        "said to be confirmed in the paper of Nanda et al.",
        _with_and_without_positions,
        {
            "delayed": equals(1, "both grok"),
            "FVE of the logits": at_least(0.9, "95.3% in the paper, with positional embeddings"),
        },
        needs=(*SEEDS, "nanda/mainline-0"),
        scope="any seed",
        finding=refuted(
            "All four grok; but the cosines of the key frequencies explain 88.0% of the logits of one network without "
            "positions, where 90% is expected. The others: 94% to 98%. Nothing ties that one to the missing positions."
        ),
        figure="curves",
    ),
    Claim(
        "clock.s4.curves",
        "section 4",
        "The network groks within some thousand epochs, and W_E goes on shrinking for thousands more.",
        "test accuracy 100% by about 4,000; W_E until about 6,000",
        each(_curves),
        {
            "grokking epoch": between(2_000, 20_000, "about 4,000 in the source; seeds of the paper's recipe differ by 3 times"),
            "epochs from grokking until W_E settles": at_least(1, "about 2,000 in the source"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="curves",
    ),
    Claim(
        "clock.s5.dft_code",
        "section 5",
        "The source's Fourier basis (constant, cos 1, sin 1, ...) and its norms over the embedding are ours.",
        "definition",
        _dft_code,
        {"largest difference of the bases": at_most(1e-12), "largest difference of the norms": at_most(1e-12)},
        needs=(),
        scope="any network",
    ),
    Claim(
        "clock.s5.we_norms_10k",
        "section 5, at 10,000 epochs",
        "At 10,000 epochs several frequencies of the embedding stand out.",
        "4 clean pairs and some between",
        each(_norms_10k),
        {
            "frequencies above a quarter of the largest": at_least(2, "4 in the source"),
            "energy share of the key frequencies": at_least(0.5, "in a random embedding all 56 are of that size; to stand out is to hold most"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="embedding",
    ),
    Claim(
        "clock.s5.we_norms_5k",
        "section 5, at 5,000 epochs",
        "The longer the training, the fewer frequencies are active in the embedding.",
        "more at 5,000 than at 10,000, more there than at 20,000",
        each(_fading),
        {
            "fewer at 10,000 than at 5,000": _FEWER,
            "fewer at 20,000 than at 10,000": _FEWER,
            "fewer at 20,000 than at 5,000": at_least(1, "fewer at the end than at 5,000 epochs"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="embedding",
    ),
    Claim(
        "clock.s5.we_norms_20k",
        "section 5, at 20,000 epochs",
        "At 20,000 epochs the spikes of the embedding are fewer and cleaner.",
        "3 key frequencies: 4, 32, 43",
        each(_cleaner),
        {
            "rise of the Gini coefficient from 5,000 to 10,000": at_least(0, "cleaner with every look"),
            "rise of the Gini coefficient from 10,000 to 20,000": at_least(0, "cleaner with every look"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="embedding",
    ),
    Claim(
        "clock.s5.five_arbitrary",
        "section 5",
        "How many circles there are is a matter of chance, and weight decay only ever removes some.",
        "5 in the paper, 3 in the source",
        _any_number,
        {
            "different numbers": at_least(2, "3 and 5"),
            "largest rise from one snapshot after grokking to the next": at_most(0, "decay prunes, it does not add"),
        },
        needs=(*SEEDS, *MAINLINE),
        scope="any seed",
        figure="embedding",
    ),
)  # fmt: skip
