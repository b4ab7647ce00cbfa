"""What is logged of a network while it trains."""

from __future__ import annotations

import torch

from modinterp.activations.spectra import most_bytes
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.claim import Claim, Value
from modinterp.claims.miiii.evidence import CODED, DigitsEvidence, digits_evidence
from modinterp.runs import TrainedRun

EARLY = 1024  # epochs; none is active by then in the source


def _log(run: TrainedRun) -> dict[str, Value]:
    log = run.spectra
    if log is None:
        return {"entries": 0, "neurons": 0, "size of a spectrum beside p (p // 2 + 1)": 0, "bytes beside the bound": 0}
    p, nan = run.task.heads[-1] if run.task.grid is None else run.task.grid[0], float("nan")
    steps, fields, *spectrum = log.full().shape
    tensors, _ = log.packed()
    neurons = sum("hook_post" in name for name in log.names)
    return {
        "entries": steps,
        "neurons": neurons,
        "size of a spectrum beside p (p // 2 + 1)": spectrum[0] * spectrum[1] / (p * (p // 2 + 1)),
        "bytes beside the bound": sum(x.numel() * x.element_size() for x in tensors.values())
        / most_bytes(steps, fields),
        "fields of attention": fields - neurons,
        "largest number of epochs between two entries": int(log.epochs.diff().max()) if steps > 1 else nan,
        "median share of the energy that is kept, at the start": float(log.share_kept()[0].nanmedian())
        if steps
        else nan,
        "the same at the end": float(log.share_kept()[-1].nanmedian()) if steps else nan,
    }


def _counts(ev: DigitsEvidence, deviations: float, of: str = "") -> dict[str, int]:
    epochs, counts = ev.log.epochs, torch.tensor(ev.active_over_training(deviations))
    return {
        f"most by epoch {EARLY:,}{of}": int(counts[epochs <= EARLY].max()),
        f"most at once{of}": int(counts.max()),
        f"epoch of that{of}": int(epochs[counts.argmax()]),
        f"at the end{of}": int(counts[-1]),
    }


def _active(run: TrainedRun) -> dict[str, Value]:
    ev = digits_evidence(run)
    counts = _counts(ev, 2)
    return {
        "most at once, less those at the end": counts["most at once"] - counts["at the end"],
        **counts,
        **_counts(ev, 1, ", above the mean by one deviation"),
    }


CLAIMS = (
    Claim(
        "miiii.neuron_logging",
        "training",
        "Activations of neurons are logged while the network trains. "
        "Here it is the strongest waves of their 2D spectra, and of the attention's, every so many epochs.",
        "logged at every step",
        _log,
        {
            "entries": at_least(2, "the first is of the network before it is trained"),
            "neurons": at_least(1, "the first few neurons"),
            "size of a spectrum beside p (p // 2 + 1)": equals(1, "a real transform of the grid of all p x p inputs"),
            "bytes beside the bound": at_most(1, "the stated bound on what so many entries take"),
        },
        needs=(CODED,),
    ),
    Claim(
        "miiii.x.active_freqs",
        "table 3",
        "Active frequencies of the neurons are none at first, most of all while the tasks are learned, and fewer at the end.",
        "0, 0, 10, 18 and 10 at epochs 256, 1,024, 4,096, 16,384 and 65,536",
        _active,
        {
            "most at once, less those at the end": at_least(1, "18 and 10 in the source; fewer at all"),
            f"most by epoch {EARLY:,}": at_most(2, "none in the source, two of grace"),
        },
        needs=(CODED,),
        figure="active",
    ),
)  # fmt: skip
