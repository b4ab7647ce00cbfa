"""What the embeddings hold: positions, singular values and vectors, spectra."""

from __future__ import annotations

from statistics import mean, median

import torch

from modinterp.analyses.embeddings import periodicity, random_periodicity
from modinterp.analyses.progress import fourier_gini
from modinterp.claims.band import at_least, at_most
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.claims.evidence import MAINLINE
from modinterp.claims.miiii.evidence import (
    BASIS,
    CODED,
    GENERALISED,
    LEARNED_BECAUSE,
    NANDA,
    ONE_OF_EACH,
    DigitsEvidence,
    digits_evidence,
)
from modinterp.runs import TrainedRun

BOTH = (CODED, NANDA[0])


def _alike(*runs: TrainedRun) -> dict[str, Value]:
    found = [digits_evidence(run) for run in runs]
    return {
        "median of Pearson": median(ev.positions.pearson for ev in found),
        "lowest test accuracy": min(ev.accuracy for ev in found),
        "Pearson": [ev.positions.pearson for ev in found],
        "cosine": [ev.positions.cosine for ev in found],
    }


def _apart(remainders: TrainedRun, *sums: TrainedRun) -> dict[str, Value]:
    ev, others = digits_evidence(remainders), [digits_evidence(run).positions.pearson for run in sums]
    return {
        "Pearson": ev.positions.pearson,
        "Pearson less the median of T_nanda": ev.positions.pearson - median(others),
        "mean test accuracy": ev.accuracy,
        "cosine": ev.positions.cosine,
        "Pearson, T_nanda": others,
    }


def _swap(remainders: TrainedRun, *sums: TrainedRun) -> dict[str, Value]:
    ev, others = digits_evidence(remainders), [digits_evidence(run) for run in sums]
    ordered = [share for share, matters in zip(ev.swapped, ev.order_matters, strict=True) if matters]
    unordered = [share for share, matters in zip(ev.swapped, ev.order_matters, strict=True) if not matters]
    right = ev.right.double().mean(dim=0)[torch.tensor(ev.order_matters)]
    correlations = [other.positions.pearson for other in others]
    return {
        "T_nanda with its positions exchanged, lowest accuracy": min(other.swapped[0] for other in others),
        "T_miiii with them exchanged, mean accuracy of tasks that depend on the order": mean(ordered),
        "the same as trained": float(right.mean()),
        **({"tasks that do not depend on it": mean(unordered)} if unordered else {}),
        "Pearson, T_miiii": ev.positions.pearson,
        "Pearson, T_nanda": correlations,
        "spread of Pearson over the seeds of T_nanda": max(correlations) - min(correlations),
    }


def _half(run: TrainedRun) -> dict[str, Value]:
    return {"values to 50%": digits_evidence(run).singular.needed(0.5), **_ticks(digits_evidence(run), "")}


def _ticks(ev: DigitsEvidence, of: str) -> dict[str, Value]:
    found = ev.singular
    return {
        f"values to 90%{of}": found.needed(0.9),
        f"squares to 50%{of}": found.needed(0.5, squared=True),
        f"squares to 90%{of}": found.needed(0.9, squared=True),
        f"effective rank{of}": ev.effective_rank,
    }


def _diffuse(remainders: TrainedRun, sums: TrainedRun) -> dict[str, Value]:
    ours, theirs = digits_evidence(remainders), digits_evidence(sums)
    half, most = ([ev.singular.needed(share) for ev in (ours, theirs)] for share in (0.5, 0.9))
    squares = [[ev.singular.needed(share, squared=True) for ev in (ours, theirs)] for share in (0.5, 0.9)]
    return {
        "values to 50%, T_miiii over T_nanda": half[0] / half[1],
        "values to 90%, T_miiii less T_nanda": most[0] - most[1],
        "effective rank, T_miiii over T_nanda": ours.effective_rank / theirs.effective_rank,
        "mean test accuracy": ours.accuracy,
        "values to 50%, T_miiii": half[0],
        "values to 90%, T_miiii": most[0],
        "squares to 50%, T_miiii over T_nanda": squares[0][0] / squares[0][1],
        "squares to 90%, T_miiii less T_nanda": squares[1][0] - squares[1][1],
    }


def _waves(run: TrainedRun) -> dict[str, Value]:
    ev = digits_evidence(run)
    top = ev.singular.vectors[:, : 2 * ev.key_count]
    shares = periodicity(top).shares
    return {
        "median share of the best wave, top vectors": float(shares.median()),
        "median share of the best three waves, top vectors": float(periodicity(top, waves=3).shares.median()),
        "top vectors": len(shares),
        "vectors up to half the values": len(ev.vectors.shares),
        "median share of the best wave, those": float(ev.vectors.shares.median()),
        "median share, two vectors for each frequency of the embedding": float(
            periodicity(ev.singular.vectors[:, : 2 * len(ev.significant)]).shares.median()
        ),
        "significant frequencies of the embedding": len(ev.significant),
    }


def _many_waves(remainders: TrainedRun, sums: TrainedRun) -> dict[str, Value]:
    ours, theirs = digits_evidence(remainders), digits_evidence(sums)
    shares, by_chance = ours.vectors.shares, random_periodicity(*ours.W_E.shape)
    freqs = [len(set(ev.vectors.freqs.tolist())) for ev in (ours, theirs)]
    return {
        "mean share of the best wave over that of random vectors": float(shares.mean()) / by_chance,
        "frequencies, T_miiii less T_nanda": freqs[0] - freqs[1],
        "mean test accuracy": ours.accuracy,
        "mean share of the best wave": float(shares.mean()),
        "frequencies, T_miiii": freqs[0],
        "vectors, T_miiii": len(shares),
        "vectors, T_nanda": len(theirs.vectors.shares),
    }


def _counts(ev: DigitsEvidence, of: str = "") -> dict[str, Value]:
    return {
        f"above the mean by one deviation{of}": len(ev.active()),
        f"above the mean by two deviations{of}": len(ev.active(2)),
        f"above a quarter of the largest{of}": len(ev.significant),
        f"Gini coefficient{of}": ev.gini,
    }


def _sparse(run: TrainedRun) -> dict[str, Value]:
    ev = digits_evidence(run)
    chosen = ev.norms[[k - 1 for k in ev.active()]]
    return {
        "active frequencies": len(ev.active()),
        "their share of the squared norm": float(chosen.square().sum() / ev.norms.square().sum()),
        **_counts(ev),
    }


def _broad(remainders: TrainedRun, sums: TrainedRun) -> dict[str, Value]:
    ours, theirs = digits_evidence(remainders), digits_evidence(sums)
    return {
        "frequencies above a quarter of the largest, T_miiii over T_nanda": len(ours.significant)
        / len(theirs.significant),
        "Gini coefficient, T_miiii less T_nanda": ours.gini - theirs.gini,
        "mean test accuracy": ours.accuracy,
        **_counts(ours, ", T_miiii"),
        **_counts(theirs, ", T_nanda"),
    }


def _aperiodic(shuffled: TrainedRun, remainders: TrainedRun) -> dict[str, Value]:
    ours, theirs = digits_evidence(shuffled), digits_evidence(remainders)
    generator = torch.Generator().manual_seed(0)
    by_chance = fourier_gini(torch.randn(*ours.W_E.shape, generator=generator))
    return {
        "Gini coefficient, T_basis": ours.gini,
        "Gini coefficient, T_miiii less T_basis": theirs.gini - ours.gini,
        "Gini coefficient, T_miiii": theirs.gini,
        "mean test accuracy": theirs.accuracy,
        "Gini coefficient of a random matrix": by_chance,
        "train accuracy, T_basis": float(ours.last("train_accuracy").mean()),
    }


CLAIMS = (
    Claim("miiii.fig7.pearson.nanda", "figure 7", "The embeddings of the two positions are mostly alike in modular addition.",
          "0.95; it goes with the seed", _alike,
          {"median of Pearson": at_least(0.5, "0.95 in the source; less than one half is hardly alike")},
          given={"lowest test accuracy": at_least(0.99, LEARNED_BECAUSE)}, needs=(*NANDA, *MAINLINE), scope="any seed",
          figure="positions",
          finding=refuted("it goes with the recipe more than with the seed: in the five networks of this recipe the positions are opposed (Pearson "
                          "-0.80 to -0.59), in Nanda's five they are alike (0.96 to 1.00) but for one (0.24); the median of all ten is -0.17")),
    Claim("miiii.fig7.pearson.miiii", "figure 7", "In T_miiii the embeddings of the two positions are not alike.", "-0.64", _apart,
          {"Pearson": at_most(0.5, "-0.64 in the source; more than one half would be alike"),
           "Pearson less the median of T_nanda": at_most(0, "-1.59 in the source")},
          given=GENERALISED, needs=(CODED, *NANDA, *MAINLINE), required=ONE_OF_EACH, figure="positions"),
    Claim("miiii.fig7.interpretation", "figure 7",
          "Positions are alike where the task commutes and differ where it does not: exchanging them leaves T_nanda as it is "
          "and destroys T_miiii.",
          "read off the two correlations", _swap,
          {"T_nanda with its positions exchanged, lowest accuracy": at_least(0.99, "nothing may change"),
           "T_miiii with them exchanged, mean accuracy of tasks that depend on the order": at_most(0.5, "destroyed")},
          given={"the same as trained": at_least(0.9, LEARNED_BECAUSE)}, needs=(CODED, *NANDA), required=ONE_OF_EACH, figure="positions"),
    Claim("miiii.fig8.nanda", "figure 8", "A few singular values of the embedding hold half their sum in modular addition.",
          "ticks near 5 and 49", each(_half),
          {"values to 50%": at_most(15, "near 5 in the authors' figure; 33 before training")},
          needs=NANDA, scope="any seed", figure="singular_values"),
    Claim("miiii.fig8.miiii", "figure 8", "The singular values of T_miiii are more diffuse.", "ticks near 35 and 73", _diffuse,
          {"values to 50%, T_miiii over T_nanda": at_least(2, "35 over 5 in the authors' figure"),
           "values to 90%, T_miiii less T_nanda": at_least(1, "73 and 49 in the authors' figure"),
           "effective rank, T_miiii over T_nanda": at_least(1.0000001, "larger at all")},
          given=GENERALISED, needs=BOTH, figure="singular_values"),
    Claim("miiii.fig9", "figure 9", "The top left singular vectors of modular addition are waves.", "by eye", each(_waves),
          {"median share of the best wave, top vectors": at_least(0.7, "a wave to the eye; 0.08 for random vectors")},
          needs=NANDA, scope="any seed", figure="vectors_nanda",
          finding=refuted("in three seeds of five they are (median shares 0.739, 0.888 and 0.909); in the others the median vector has 0.532 and 0.698 "
                          "in one wave. What is mixed are waves of nearly equal strength: three of them hold 0.96 to 0.99 of the median vector "
                          "in all five seeds")),
    Claim("miiii.fig10", "figure 10", "The top left singular vectors of T_miiii are periodic too, with more frequencies.", "by eye", _many_waves,
          {"mean share of the best wave over that of random vectors": at_least(2, "clearly more than by chance"),
           "frequencies, T_miiii less T_nanda": at_least(1, "more at all")},
          given=GENERALISED, needs=BOTH, figure="vectors_miiii"),
    Claim("miiii.fig11", "figure 11", "The embedding of modular addition has a few active frequencies.", "about 5", each(_sparse),
          {"active frequencies": at_most(10, "about 5 in the source"),
           "their share of the squared norm": at_least(0.5, "ten of 56 lie above that threshold by chance too, with 0.2 of it")},
          needs=NANDA, scope="any seed", figure="spectrum_nanda"),
    Claim("miiii.fig12", "figure 12", "The spectrum of T_miiii is much broader.", "by eye", _broad,
          {"frequencies above a quarter of the largest, T_miiii over T_nanda": at_least(2, "much broader, by eye"),
           "Gini coefficient, T_miiii less T_nanda": at_most(0, "broader at all")},
          given=GENERALISED, needs=BOTH, figure="spectrum_miiii"),
    Claim("miiii.fig13", "figure 13",
          "Trained on shuffled labels the embedding has no frequencies: they come from the data.", "by eye", _aperiodic,
          {"Gini coefficient, T_basis": at_most(0.15, "0.02 for a random matrix"),
           "Gini coefficient, T_miiii less T_basis": at_least(0.05, "there must be a periodicity to ask where it comes from")},
          given=GENERALISED, needs=(BASIS, CODED), figure="spectrum_basis"),
)  # fmt: skip
