"""Claims on neurons and attention that are logged while a network trains."""

from __future__ import annotations

import torch

from modinterp.activations.spectra import most_bytes
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.measurements import PairMeasurements
from modinterp.sources.miiii.runs import CODED

ENTRIES = "logged epochs"
NEURONS = "neurons"
SPECTRUM_SIZE = "size of a spectrum beside p (p // 2 + 1)"
BYTES_OVER_BOUND = "bytes beside the bound"

MOST = "most at once"
EARLY = 1024  # epochs; no frequency is active by then in the source
MOST_EARLY = f"most by epoch {EARLY:,}"


def _log(m: PairMeasurements) -> dict[str, Value]:
    """Measure how much was logged, and how much of it is stored; nothing where the training was not watched."""
    log = m.run.spectra
    if log is None:
        return {ENTRIES: 0, NEURONS: 0, SPECTRUM_SIZE: 0, BYTES_OVER_BOUND: 0}
    p = m.p
    steps, fields, *spectrum = log.full().shape
    tensors, _ = log.packed()
    neurons = sum("hook_post" in name for name in log.names)
    return {
        ENTRIES: steps,
        NEURONS: neurons,
        SPECTRUM_SIZE: spectrum[0] * spectrum[1] / (p * (p // 2 + 1)),
        BYTES_OVER_BOUND: sum(x.numel() * x.element_size() for x in tensors.values()) / most_bytes(steps, fields),
    }


def _active(m: PairMeasurements) -> dict[str, Value]:
    """Return how many frequencies of the logged neurons are active over training, by two thresholds."""
    counts = m.questions.active_over_training(2)
    early = m.questions.logged_spectra.epochs <= EARLY
    return {
        "most at once, less those at the end": max(counts) - counts[-1],
        MOST_EARLY: int(torch.tensor(counts)[early].max()),
        MOST: max(counts),
        MOST + ", above the mean by one deviation": max(m.questions.active_over_training(1)),
    }


CLAIMS = (
    Claim(
        id="miiii.neuron_logging",
        where="training",
        statement=(
            "Activations of neurons are logged while the network trains. Our log of the neurons holds the "
            "strongest waves in the 2D spectra of neurons and attention, at regular epochs."
        ),
        source_says="activations are logged at every step",
        measure=_log,
        expected={
            ENTRIES: at_least(2, "the log must begin with the untrained network"),
            NEURONS: at_least(1, "the log must contain several neurons; the source logs the first few"),
            SPECTRUM_SIZE: equals(1, "a real Fourier transform over all p x p inputs has p (p // 2 + 1) values"),
            BYTES_OVER_BOUND: at_most(1, "the size of the log must not exceed the stated limit"),
        },
        needs=(CODED,),
    ),
    Claim(
        id="miiii.x.active_freqs",
        where="table 3",
        statement=(
            "Neurons have no active frequencies at the start of training, the largest number of active "
            "frequencies during learning, and fewer active frequencies at the end."
        ),
        source_says="0, 0, 10, 18 and 10 active frequencies at epochs 256, 1,024, 4,096, 16,384 and 65,536",
        measure=_active,
        expected={
            "most at once, less those at the end": at_least(
                1,
                "in the source the number of active frequencies falls from 18 to 10; in our network it must fall, too",
            ),
            MOST_EARLY: at_most(2, "in the source neurons have no active frequencies early in training; we allow two"),
        },
        needs=(CODED,),
        figure="active",
    ),
)
